/* Sources that the hit side does not have: the table, then the agent. */
#include "virtual_source.h"
#include "virtual_grh.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "device/lower_device.h"
#include "device/virtual_host.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Sources that nobody knows are remembered only where there is no agent. Where there is one, the next datagram may be
 * from an endpoint that has been made meanwhile. Anybody who reaches the port can make up new ones: the table is
 * looked into for each, but the agent is not asked for more than a few that it does not know. */
enum { FOREIGN_KEPT = 1024, UNKNOWN_AT_ONCE = 64, UNKNOWN_PAUSE_MS = 100 };

#define NO_WIRE UINT64_MAX
#define NO_PLAIN UINT64_MAX
static struct source nobody = {.epoch = UINT64_MAX, .wire = NO_WIRE, .plain = NO_PLAIN};
struct source *virtual_sources[SOURCES] = {[0 ... SOURCES - 1] = &nobody};
static struct source *replaced;
static int foreign;            /* remembered ones, of this incarnation */
static int unknown_asked;      /* for so many that the agent does not know; one less after each pause */
static uint64_t unknown_since; /* ms */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* On RoCE addresses are in the GRH. In a first incarnation nobody looks whether the source has another name. */
static int is_plain(const struct source *source, uint16_t lid, uint32_t qpn)
{
    int same = source->virtual_qpn == qpn && source->virtual_lid == lid;
    return !virtual_real.ethernet && !virtual_identity.ethernet && (virtual_moved || same);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Returns 0 when it has said too often lately that nobody is there. */
static int may_ask(void)
{
    uint64_t now = now_ms(), pauses = (now - unknown_since) / UNKNOWN_PAUSE_MS;
    unknown_asked = pauses < (uint64_t)unknown_asked ? unknown_asked - (int)pauses : 0;
    unknown_since += pauses * UNKNOWN_PAUSE_MS;
    return unknown_asked < UNKNOWN_AT_ONCE;
}

/* Asks the agent; returns 1 when the endpoint is in the table now. */
static int ask(uint16_t lid, uint32_t qpn, struct address_entry *entry)
{
    if (!may_ask())
        return 0;
    COUNT(table_misses, 1);
    if (request_resolve(1, lid, qpn) == REQUEST_OK && address_table_find(1, lid, qpn, entry))
        return 1;
    unknown_asked++;
    return 0;
}

/* A source that is not known is delivered under its own address where there is no agent, or none any more. */
static void build(struct source *source, uint16_t lid, uint32_t qpn, uint64_t epoch)
{
    struct address_entry entry;
    *source = (struct source){.key = (uint64_t)lid << 24 | qpn,
                              .virtual_qpn = qpn,
                              .virtual_lid = lid,
                              .epoch = epoch,
                              .wire = NO_WIRE,
                              .plain = NO_PLAIN};
    if (__atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) == AGENT_NONE)
        return;
    source->known = address_table_find(1, lid, qpn, &entry);
    COUNT(cache_misses, source->known);
    if (!source->known && !address_table_is_complete())
        source->known = ask(lid, qpn, &entry);
    source->stranger = !source->known && __atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) == AGENT_PRESENT;
    if (source->known) {
        if (virtual_fused_path_of(lower_device))
            source->wire = virtual_fused_path_of(lower_device)->source_key(lid, qpn);
        source->virtual_qpn = entry.virtual_qpn;
        source->virtual_lid = entry.virtual_lid;
        if (is_plain(source, lid, qpn))
            source->plain = plain_sum(&(struct ibv_wc){.src_qp = qpn, .slid = lid});
        memcpy(source->gid, address_virtual_gid(entry.virtual_lid), sizeof source->gid);
    }
}

static const struct source *find(uint64_t key, uint64_t epoch)
{
    const struct source *source = __atomic_load_n(&virtual_sources[source_slot(key)], __ATOMIC_ACQUIRE);
    while (source && (source->key != key || source->epoch != epoch))
        source = __atomic_load_n(&source->next, __ATOMIC_ACQUIRE);
    return source;
}

/* One of an earlier epoch, which a receiver may still be reading. */
static void replace(uint64_t key)
{
    for (struct source **link = &virtual_sources[source_slot(key)]; *link; link = &(*link)->next) {
        struct source *old = *link;
        if (old->key != key || old == &nobody)
            continue;
        foreign -= !old->known;
        old->replaced = replaced;
        replaced = old;
        __atomic_store_n(link, old->next, __ATOMIC_RELEASE);
        return;
    }
}

static const struct source *build_new(uint64_t key, uint64_t epoch, int *stranger)
{
    struct source *source = malloc(sizeof *source);
    if (!source)
        return NULL;
    build(source, (uint16_t)(key >> 24), (uint32_t)key & 0xffffff, epoch);
    replace(key);
    *stranger = source->stranger;
    if (*stranger || (!source->known && foreign >= FOREIGN_KEPT)) {
        free(source);
        return NULL;
    }
    foreign += !source->known;
    struct source **place = &virtual_sources[source_slot(key)];
    source->next = *place;
    __atomic_store_n(place, source, __ATOMIC_RELEASE);
    return source;
}

const struct source *virtual_find_source(uint64_t key, uint64_t epoch, int *stranger)
{
    const struct source *source = find(key, epoch);
    *stranger = 0;
    if (source)
        return source;
    pthread_mutex_lock(&mutex);
    source = find(key, epoch); /* another thread may have been faster */
    if (!source)
        source = build_new(key, epoch, stranger);
    pthread_mutex_unlock(&mutex);
    return source;
}

void virtual_rewrite_grh(const struct ibv_sge *sges, uint32_t pieces, const struct source *source,
                         const struct v_port *to, uint32_t bytes)
{
    if (source->known)
        virtual_write_grh(sges, pieces, (const union ibv_gid *)source->gid, &to->gids[to->gid_index],
                          bytes - GRH_BYTES);
}

uint16_t virtual_source_number(const struct ibv_sge *sges, uint32_t pieces)
{
    union ibv_gid gid = virtual_grh_source(sges, pieces);
    return virtual_host_of(1, &gid);
}

void virtual_forget_sources(void)
{
    for (int i = 0; i < SOURCES; i++)
        while (virtual_sources[i] != &nobody) {
            struct source *next = virtual_sources[i]->next;
            free(virtual_sources[i]);
            virtual_sources[i] = next;
        }
    while (replaced) {
        struct source *next = replaced->replaced;
        free(replaced);
        replaced = next;
    }
    foreign = 0;
}
