#include "virtual_host.h"
#include "udckpt_layout.h"
#include "agent-client/control.h"
#include "common/environment.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, PROBES = 16, NO_NUMBER = 0, HOP_LIMIT = 64 };

static uint16_t number;

uint16_t virtual_host_number(void)
{
    if (!number) {
        const char *text = environment_get("UDCKPT_HOST_NUMBER");
        long given = text ? strtol(text, NULL, 10) : 1;
        number = given > 0 && given <= UINT16_MAX ? (uint16_t)given : 1;
    }
    return number;
}

/* The agent keeps so many numbers free for each host (HostAddresses.PORTS). */
enum { NUMBERED_DEVICES = 4, NUMBERED_PORTS = 4 };

uint16_t virtual_port_number(unsigned place, unsigned port)
{
    if (place >= NUMBERED_DEVICES || port > NUMBERED_PORTS)
        return NO_NUMBER;
    return (uint16_t)(virtual_host_number() + place * NUMBERED_PORTS + port - 1);
}

void virtual_set_host_number(uint16_t given)
{
    number = given;
}

static int is_ipv4(const union ibv_gid *gid)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}; /* ::ffff:a.b.c.d, RFC 4291 2.5.5.2 */
    return !memcmp(gid->raw, mapped, sizeof mapped);
}

int virtual_choose_gid(const union ibv_gid *gids, const uint32_t *types, int count)
{
    int version2 = -1;
    for (int i = 0; i < count; i++) {
        if (types[i] != IBV_GID_TYPE_ROCE_V2)
            continue;
        if (is_ipv4(&gids[i]))
            return i;
        if (version2 < 0)
            version2 = i;
    }
    return version2 < 0 ? 0 : version2;
}

int virtual_read_gids(struct ibv_context *real, uint8_t port, int table_length, union ibv_gid *gids, uint32_t *types)
{
    int count = table_length < MAX_GIDS ? table_length : MAX_GIDS;
    for (int i = 0; i < count; i++) {
        struct ibv_gid_entry entry = {.gid_type = IBV_GID_TYPE_IB};
        int error = 0;
        if (lower_device->query_gid_entry)
            error = lower_device->query_gid_entry(real, port, i, &entry);
        else if (lower_device->query_gid(real, port, i, &entry.gid))
            error = errno;
        if (error == ENODATA)
            entry = (struct ibv_gid_entry){.gid_type = IBV_GID_TYPE_IB};
        else if (error) {
            errno = error;
            return -1;
        }
        gids[i] = entry.gid;
        types[i] = entry.gid_type;
    }
    return count;
}

/* What has been asked before: read without a lock, since an entry never changes once it is published. A GID that nobody
 * of the job has is not remembered, so that strangers cannot fill it. */
struct known {
    union ibv_gid gid;
    uint16_t number;
};
static struct known *hosts[2][SLOTS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static unsigned slot_of(const union ibv_gid *gid)
{
    uint64_t words[2];
    memcpy(words, gid, sizeof words);
    return (unsigned)(((words[0] ^ words[1]) * 0x9e3779b97f4a7c15ull) >> 52);
}

static uint16_t remembered(int reverse, const union ibv_gid *gid)
{
    unsigned slot = slot_of(gid);
    for (int i = 0; i < PROBES; i++) {
        const struct known *known = __atomic_load_n(&hosts[reverse][(slot + i) % SLOTS], __ATOMIC_ACQUIRE);
        if (!known)
            return NO_NUMBER;
        if (!memcmp(&known->gid, gid, sizeof *gid))
            return known->number;
    }
    return NO_NUMBER;
}

static void remember(int reverse, const union ibv_gid *gid, uint16_t of)
{
    unsigned slot = slot_of(gid);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < PROBES && !remembered(reverse, gid); i++) {
        struct known **place = &hosts[reverse][(slot + i) % SLOTS];
        struct known *known = *place ? NULL : malloc(sizeof *known);
        if (!known)
            continue;
        *known = (struct known){*gid, of};
        __atomic_store_n(place, known, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&mutex);
}

uint16_t virtual_host_of(int reverse, const union ibv_gid *gid)
{
    uint16_t of = remembered(reverse, gid);
    if (of || __atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) != AGENT_PRESENT)
        return of;
    if (request_find_host(reverse, gid, &of) != REQUEST_OK)
        return NO_NUMBER;
    remember(reverse, gid, of);
    return of;
}

void virtual_forget_hosts(void)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < SLOTS; i++) {
            free(hosts[side][i]);
            hosts[side][i] = NULL;
        }
}

void virtual_aim(struct ibv_ah_attr *attributes, const struct v_port *from, uint16_t real_lid, const void *real_gid)
{
    if (!virtual_real.ethernet)
        attributes->dlid = real_lid;
    else if (!virtual_identity.ethernet)
        attributes->dlid = 0; /* a RoCE job's own is its device's business */
    attributes->src_path_bits = 0;
    attributes->port_num = from->now.number;
    if (virtual_real.ethernet) {
        attributes->is_global = 1;
        if (attributes->grh.hop_limit < HOP_LIMIT)
            attributes->grh.hop_limit = HOP_LIMIT;
    }
    if (attributes->is_global) {
        memcpy(&attributes->grh.dgid, real_gid, sizeof attributes->grh.dgid);
        if (virtual_real.ethernet || virtual_identity.ethernet)
            attributes->grh.sgid_index = (uint8_t)from->now.gid_index;
    }
}
