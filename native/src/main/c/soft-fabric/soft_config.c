#include "soft_config.h"
#include "common/environment.h"
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct soft_config current;
static int state; /* 0 not read yet, 1 valid, -1 wrong */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int wrong(const char *name, const char *value, const char *expected)
{
    fprintf(stderr, "udckpt: %s=%s is not valid: expected %s\n", name, value, expected);
    return EINVAL;
}

static int read_number(const char *name, unsigned long low, unsigned long high, unsigned long *out)
{
    const char *text = environment_get(name);
    if (!text || !*text)
        return 0;
    char *end, expected[64];
    errno = 0;
    unsigned long value = strtoul(text, &end, 0);
    if (errno || *end || *text == '-' || value < low || value > high) {
        snprintf(expected, sizeof expected, "a number from %lu to %lu", low, high);
        return wrong(name, text, expected);
    }
    *out = value;
    return 0;
}

static int read_percent(const char *name, double *out)
{
    const char *text = environment_get(name);
    if (!text || !*text)
        return 0;
    char *end;
    double value = strtod(text, &end);
    if (*end || !(value >= 0 && value <= 100))
        return wrong(name, text, "percent, from 0 to 100");
    *out = value;
    return 0;
}

static int read_qpns(uint32_t *first, uint32_t *last)
{
    const char *text = environment_get("UDCKPT_SOFT_QPNS");
    if (!text || !*text)
        return 0;
    char *end;
    unsigned long low = strtoul(text, &end, 0), high = 0;
    if (*end == '-')
        high = strtoul(end + 1, &end, 0);
    if (*end || low < 1024 || low > high || high > SOFT_QPN_LAST)
        return wrong("UDCKPT_SOFT_QPNS", text, "FIRST-LAST within 1024-65535");
    *first = (uint32_t)low;
    *last = (uint32_t)high;
    return 0;
}

static int read_network(struct soft_config *config)
{
    const char *text = environment_get("UDCKPT_SOFT_NET");
    unsigned high = 127, low = 77;
    if (text && *text) {
        char after;
        if (sscanf(text, "%u.%u%c", &high, &low, &after) != 2 || high > 223 || high < 1 || low > 255)
            return wrong("UDCKPT_SOFT_NET", text, "the first two bytes of an IPv4 address, such as 10.9");
    }
    config->network = high << 24 | low << 16;
    /* A loopback host owns all of 127/8, so a second address costs nothing; on a real network a host
     * has one address only, and solicited-only sleepers look at each datagram instead. */
    config->doorbell_network = high == 127 && low < 255 ? config->network + (1u << 16) : 0;
    return 0;
}

/* `test`: by a key that is no secret, without an agent. */
static int read_tags(struct soft_config *config)
{
    static const char *const names[] = {"", "always", "never", "test"};
    const char *text = environment_get("UDCKPT_SOFT_TAGS");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text ? text : "", names[i])) {
            config->tags = (enum soft_tags)i;
            return 0;
        }
    return wrong("UDCKPT_SOFT_TAGS", text, "always, never or test");
}

static void take_key(struct soft_config *config, const uint8_t *key)
{
    static const uint8_t known[SOFT_MAC_KEY];
    /* On loopback nobody can send from an address that he is not bound to, which the kernel's filters look at: tags
     * would say no more. */
    bool leaves_host = config->network >> 24 != IN_LOOPBACKNET;
    config->tagged =
        config->tags == SOFT_TAGS_TEST ||
        (key && (config->tags == SOFT_TAGS_ALWAYS || (config->tags == SOFT_TAGS_BETWEEN_HOSTS && leaves_host)));
    if (config->tagged)
        soft_mac_prepare(&config->key, config->tags == SOFT_TAGS_TEST ? known : key);
}

static int check_room(unsigned long lid, unsigned long lids)
{
    char text[16], expected[96];
    if (lid + lids - 1 <= SOFT_LID_MAX)
        return 0;
    snprintf(text, sizeof text, "%lu", lid);
    snprintf(expected, sizeof expected,
             "room for the LIDs of %lu ports (UDCKPT_SOFT_DEVICES x UDCKPT_SOFT_PORTS) up to %u", lids, SOFT_LID_MAX);
    return wrong("UDCKPT_SOFT_LID", text, expected);
}

static int read_environment(struct soft_config *config)
{
    unsigned long lid = 1, seed = 0, devices = 1, ports = 1, first_key = 0;
    *config = (struct soft_config){.qpn_first = SOFT_QPN_FIRST, .qpn_last = SOFT_QPN_LAST};
    if (read_number("UDCKPT_SOFT_LID", 1, SOFT_LID_MAX, &lid) || read_qpns(&config->qpn_first, &config->qpn_last) ||
        read_number("UDCKPT_SOFT_DEVICES", 1, SOFT_DEVICES_MAX, &devices) ||
        read_number("UDCKPT_SOFT_PORTS", 1, SOFT_PORTS_MAX, &ports) || read_network(config) || read_tags(config) ||
        read_percent("UDCKPT_SOFT_LOSS", &config->loss) || read_percent("UDCKPT_SOFT_DUPLICATE", &config->duplicate) ||
        read_percent("UDCKPT_SOFT_REORDER", &config->reorder) || read_number("UDCKPT_SOFT_SEED", 0, ~0ul, &seed) ||
        read_number("UDCKPT_SOFT_KEYS", 1, SOFT_FIRST_KEY_MAX, &first_key))
        return EINVAL;
    config->lid = (uint16_t)lid;
    config->devices = (unsigned)devices;
    config->ports = (unsigned)ports;
    config->seed = seed;
    config->first_key = (uint32_t)first_key;
    take_key(config, NULL);
    return check_room(lid, devices * ports);
}

const struct soft_config *soft_config(void)
{
    pthread_mutex_lock(&lock);
    if (!state)
        __atomic_store_n(&state, read_environment(&current) ? -1 : 1, __ATOMIC_RELEASE);
    int valid = state > 0;
    pthread_mutex_unlock(&lock);
    if (!valid)
        errno = EINVAL;
    return valid ? &current : NULL;
}

/* Without the lock, and without a word of what is wrong: stat(2) may be asked for a device anywhere
 * (interposer_files.c). */
unsigned soft_devices(void)
{
    int known = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    const char *text = environment_get("UDCKPT_SOFT_DEVICES");
    if (known)
        return known > 0 ? __atomic_load_n(&current.devices, __ATOMIC_RELAXED) : 0;
    if (!text || !*text)
        return 1;
    int error = errno;
    char *end;
    unsigned long value = strtoul(text, &end, 0);
    errno = error;
    return *end || *text == '-' || value < 1 || value > SOFT_DEVICES_MAX ? 0 : (unsigned)value;
}

/* Contexts that are open keep what they were opened with; new ones get the new addresses. Network
 * and faults stay those of the environment. Who gives this host fewer LIDs than it has ports gets one port: the virtual
 * layer puts several of the job's ports on it. */
int soft_configure(const struct device_config *config)
{
    if (!config->lid || config->lid + (config->lids ? config->lids - 1 : 0) > (int)SOFT_LID_MAX ||
        config->qpn_first > config->qpn_last || config->qpn_last > SOFT_QPN_LAST)
        return EINVAL;
    if (!soft_config())
        return errno;
    pthread_mutex_lock(&lock);
    current.lid = config->lid;
    if (current.devices * current.ports > (config->lids ? config->lids : 1u))
        current.devices = current.ports = 1;
    current.qpn_first = config->qpn_last ? config->qpn_first : SOFT_QPN_FIRST;
    current.qpn_last = config->qpn_last ? config->qpn_last : SOFT_QPN_LAST;
    pthread_mutex_unlock(&lock);
    return 0;
}

void soft_set_key(const uint8_t key[SOFT_MAC_KEY])
{
    if (!soft_config())
        return; /* there is no device then */
    pthread_mutex_lock(&lock);
    take_key(&current, key);
    pthread_mutex_unlock(&lock);
}

/* A locally administered EUI-64 that ends in the LID. */
__be64 soft_guid(uint16_t lid)
{
    return htobe64(0x0250f7ff00000000ull | lid);
}

union ibv_gid soft_gid(uint16_t lid)
{
    union ibv_gid gid = {.global = {.subnet_prefix = htobe64(0xfe80000000000000ull), .interface_id = soft_guid(lid)}};
    return gid;
}
