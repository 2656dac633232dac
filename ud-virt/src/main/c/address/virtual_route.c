/* From (virtual address handle, virtual QPN) to (real address handle, real QPN): the miss side. Routes never
 * change after they are published, so the hit side in virtual_route.h takes no lock; a route that is out of
 * date is unlinked and freed when the next checkpoint has closed the gate. */
#include "virtual_route.h"
#include "address_table.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "device/virtual_host.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ASK_AGAIN_EVERY = 1024, UNKNOWN_LOG_LINES = 20 };
/* The epoch of no table: such a route is never taken without looking here first. */
#define NO_EPOCH UINT64_MAX
/* No device hands this number out below the multicast one; a datagram to it is dropped at its own host. */
#define VOID_QPN 0xfffffeu

#define NO_PLAIN_QPN UINT64_MAX

struct route virtual_no_route = {.epoch = NO_EPOCH, .plain_qpn = NO_PLAIN_QPN};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct route *retired;

/* Without an agent, and in a first incarnation whose agent is lost, virtual addresses are the real ones. */
enum resolution virtual_resolve(uint16_t lid, uint32_t qpn, struct address_entry *entry)
{
    if (__atomic_load_n(&control.agent, __ATOMIC_ACQUIRE) == AGENT_NONE)
        return RESOLVED_IDENTITY;
    if (address_table_find(0, lid, qpn, entry)) {
        COUNT(cache_misses, 1);
        return RESOLVED_KNOWN;
    }
    COUNT(table_misses, 1);
    switch (request_resolve(0, lid, qpn)) {
    case REQUEST_OK:
        return address_table_find(0, lid, qpn, entry) ? RESOLVED_KNOWN : RESOLVED_UNKNOWN;
    case REQUEST_NO_AGENT:
        return control.generation == 0 ? RESOLVED_IDENTITY : RESOLVED_UNKNOWN;
    default:
        return RESOLVED_UNKNOWN;
    }
}

/* A number of the first incarnation is never another endpoint's: a route by such numbers stays right when the epoch has
 * moved. */
static void prepare(struct route *route, const struct v_ah *ah)
{
    route->plain_qpn = !virtual_moved && route->virtual_qpn == route->real_qpn ? route->virtual_qpn : NO_PLAIN_QPN;
    route->change[0] = (uintptr_t)&ah->ah ^ (uintptr_t)route->real;
    route->change[1] = route->virtual_qpn ^ route->real_qpn;
    if (virtual_fused_path() && route->real)
        virtual_fused_path()->prepare(route, route->real);
}

/* virtual_create_ah has looked whether there is one. */
static const struct v_port *sender(const struct v_ah *ah)
{
    return port_of(ah->ah.context, ah->attributes.port_num);
}

static const struct route *void_route(const struct v_ah *ah)
{
    struct v_pd *pd = (struct v_pd *)ah->ah.pd;
    struct route **place = &pd->void_routes[ah->attributes.port_num - 1];
    if (!*place) {
        const struct v_port *port = sender(ah);
        struct ibv_ah_attr self = {0};
        virtual_aim(&self, port, port->now.lid, &port->now.gid);
        struct route *route = calloc(1, sizeof *route);
        if (!route)
            return NULL;
        route->real = virtual_real_ah(pd, &self);
        route->real_qpn = VOID_QPN;
        route->epoch = NO_EPOCH;
        if (!route->real) {
            free(route);
            return NULL;
        }
        prepare(route, ah);
        *place = route;
    }
    return *place;
}

void virtual_forget_void_routes(struct v_pd *pd)
{
    for (int port = 0; port < MAX_PORTS; port++) {
        free(pd->void_routes[port]);
        pd->void_routes[port] = NULL;
    }
}

static void log_unknown(uint16_t lid, uint32_t qpn)
{
    static int lines;
    if (lines++ < UNKNOWN_LOG_LINES)
        control_log("LID 0x%04x QPN 0x%06x is not an endpoint of this job: datagrams to it are dropped%s", lid, qpn,
                    lines == UNKNOWN_LOG_LINES ? " (further ones are not reported)" : "");
}

/* The LID, or the number that stands for it where the job names hosts by GID only. */
uint16_t virtual_lid_of(const struct ibv_ah_attr *attributes)
{
    return virtual_identity.ethernet ? virtual_host_of(0, &attributes->grh.dgid) : attributes->dlid;
}

/* A group is where it was; only the sender's own GID may have another index. */
static int build_group(struct v_ah *ah, struct route *route, uint64_t epoch)
{
    struct ibv_ah_attr group = ah->attributes;
    group.grh.sgid_index = (uint8_t)sender(ah)->now.gid_index;
    group.port_num = sender(ah)->now.number;
    group.src_path_bits = 0;
    route->real_qpn = route->virtual_qpn;
    route->real = virtual_real_ah((struct v_pd *)ah->ah.pd, &group);
    route->epoch = epoch;
    prepare(route, ah);
    return route->real ? 0 : -1;
}

static int build(struct v_ah *ah, struct route *route, uint64_t epoch)
{
    struct address_entry entry;
    struct ibv_ah_attr real = ah->attributes;
    if (real.is_global && virtual_is_multicast(&real.grh.dgid))
        return build_group(ah, route, epoch);
    uint16_t lid = virtual_lid_of(&ah->attributes);
    switch (virtual_resolve(lid, route->virtual_qpn, &entry)) {
    case RESOLVED_UNKNOWN:
        if (!route->asked)
            log_unknown(lid, route->virtual_qpn);
        route->epoch = NO_EPOCH;
        return 0;
    case RESOLVED_KNOWN:
        virtual_aim(&real, sender(ah), entry.real_lid, address_real_gid(entry.real_lid));
        route->real_qpn = entry.real_qpn;
        break;
    case RESOLVED_IDENTITY:
        route->real_qpn = route->virtual_qpn;
        break;
    }
    route->real = virtual_real_ah((struct v_pd *)ah->ah.pd, &real);
    route->epoch = epoch;
    prepare(route, ah);
    return route->real ? 0 : -1;
}

static struct route *find(struct v_ah *ah, uint32_t qpn)
{
    struct route *route = ah->routes[qpn % ROUTES];
    while (route != &virtual_no_route && route->virtual_qpn != qpn)
        route = route->next;
    return route == &virtual_no_route ? NULL : route;
}

/* A sender may be reading it, and its `next`: it stays whole until no thread is inside a verb. */
static void retire(struct v_ah *ah, struct route *old)
{
    struct route **link = &ah->routes[old->virtual_qpn % ROUTES];
    while (*link != old)
        link = &(*link)->next;
    __atomic_store_n(link, old->next, __ATOMIC_RELEASE);
    old->retired = retired;
    retired = old;
}

static const struct route *find_or_build(struct v_ah *ah, uint32_t qpn, uint64_t epoch)
{
    struct route *old = find(ah, qpn);
    if (old && old->epoch == epoch)
        return old;
    if (old && old->epoch == NO_EPOCH && old->asked++ % ASK_AGAIN_EVERY)
        return void_route(ah);
    struct route *route = calloc(1, sizeof *route);
    if (!route)
        return NULL;
    route->virtual_qpn = qpn;
    route->plain_qpn = NO_PLAIN_QPN;
    route->asked = old && old->epoch == NO_EPOCH ? old->asked : 0;
    if (build(ah, route, epoch)) {
        free(route);
        return NULL;
    }
    if (route->epoch == NO_EPOCH)
        route->asked++;
    if (old)
        retire(ah, old);
    route->next = ah->routes[qpn % ROUTES];
    __atomic_store_n(&ah->routes[qpn % ROUTES], route, __ATOMIC_RELEASE);
    return route->epoch == NO_EPOCH ? void_route(ah) : route;
}

/* Queue pairs of one host that share a slot: still no lock. Routes stay whole while a thread is inside a verb. */
static const struct route *further_down(const struct v_ah *ah, uint32_t qpn, uint64_t epoch)
{
    const struct route *route = __atomic_load_n(&ah->routes[qpn % ROUTES], __ATOMIC_ACQUIRE);
    while (route != &virtual_no_route && (route->virtual_qpn != qpn || route->epoch != epoch))
        route = __atomic_load_n(&route->next, __ATOMIC_ACQUIRE);
    return route == &virtual_no_route ? NULL : route;
}

const struct route *virtual_find_route(struct v_ah *ah, uint32_t qpn, uint64_t epoch)
{
    const struct route *known = further_down(ah, qpn, epoch);
    if (known)
        return known;
    pthread_mutex_lock(&mutex);
    const struct route *route = find_or_build(ah, qpn, epoch);
    int error = errno;
    if (route && route->real_qpn == VOID_QPN)
        COUNT(unknown_peers, 1);
    pthread_mutex_unlock(&mutex);
    errno = error ? error : ENOMEM;
    return route;
}

/* The address handle is gone or everything has moved: no sender reads its routes any more. */
void virtual_forget_routes(struct v_ah *ah)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < ROUTES; i++)
        while (ah->routes[i] != &virtual_no_route) {
            struct route *next = ah->routes[i]->next;
            free(ah->routes[i]);
            ah->routes[i] = next;
        }
    pthread_mutex_unlock(&mutex);
}

void virtual_free_retired_routes(void)
{
    while (retired) {
        struct route *next = retired->retired;
        free(retired);
        retired = next;
    }
}
