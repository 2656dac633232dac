/* From a send's virtual destination to the real one: the hit side. */
#pragma once
#include "address_table.h"
#include "virtual.h"
#include <errno.h>

/* Where a virtual QPN is now, by the table, then by the agent. IDENTITY: there is no agent, virtual addresses are the
 * real ones. */
enum resolution { RESOLVED_KNOWN, RESOLVED_IDENTITY, RESOLVED_UNKNOWN };
enum resolution virtual_resolve(uint16_t lid, uint32_t qpn, struct address_entry *entry);
/* The LID of a virtual destination, or the number that stands for it where the job names hosts by GID only. */
uint16_t virtual_lid_of(const struct ibv_ah_attr *attributes);

/* The one that was made last for such a QPN, or NULL when that is another's. */
static inline const struct route *usual_route(const struct v_ah *ah, uint32_t qpn, uint64_t epoch)
{
    const struct route *route = __atomic_load_n(ah->routes + (uint8_t)qpn, __ATOMIC_ACQUIRE);
    _Static_assert(ROUTES == 256, "the slot is a byte");
    return LIKELY(route->virtual_qpn == qpn && route->epoch == epoch) ? route : NULL;
}

/* The same in a first incarnation. */
static inline const struct route *plain_route(const struct v_ah *ah, uint32_t qpn)
{
    const struct route *route = __atomic_load_n(ah->routes + (uint8_t)qpn, __ATOMIC_ACQUIRE);
    return LIKELY(route->plain_qpn == qpn) ? route : NULL;
}

/* The route of an existing address handle. NULL with errno if there is none and none can be made. */
static inline const struct route *known_route(struct v_ah *ah, uint32_t qpn, uint64_t epoch)
{
    const struct route *route = usual_route(ah, qpn, epoch);
    return LIKELY(route != NULL) ? route : virtual_find_route(ah, qpn, epoch);
}

static inline const struct route *route_of(const struct ibv_send_wr *wr, uint64_t epoch)
{
    struct v_ah *ah = (struct v_ah *)wr->wr.ud.ah;
    if (UNLIKELY(!ah)) {
        errno = EINVAL;
        return NULL;
    }
    return known_route(ah, wr->wr.ud.remote_qpn, epoch);
}
