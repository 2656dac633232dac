/* Memory windows: a remote key of its own for a part of a region, given and taken back through a send queue (InfiniBand
 * Architecture 1.2.1, sections 10.6.6 and 10.6.7). Type 1 is of its protection domain, type 2 also of the queue pair
 * through which it was bound (2B).
 *
 * A window has a slot among the regions' (soft_memory.h), whose `pd` is the window itself, marked: so neither way of
 * looking up a region takes it for one, and the look at windows comes where a region has not been found. */
#pragma once
#include "soft_types.h"

struct soft_mw {
    struct ibv_mw base; /* base.handle: a key of its slot */
    struct soft_object object;
    struct window_binding binding;
};

struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_dealloc_mw(struct ibv_mw *mw);

/* A request of a send queue that is done here, without the peer: 0, or what post_send refuses it with. */
int soft_window_check(const struct ibv_send_wr *wr);
/* Does it. `key`: the new one of a binding, or the one that is given up. */
enum ibv_wc_status soft_window_bind(struct soft_qp *qp, uint32_t key, const struct ibv_mw_bind_info *info);
bool soft_window_invalidate(struct soft_qp *qp, uint32_t key);
/* Unbinds all windows that were bound through a queue pair that is destroyed. */
void soft_window_unbind_all(struct soft_qp *qp);
/* Whether a region of this key has windows that are bound. */
bool soft_window_is_bound_to(struct soft_context *context, uint32_t mr_key);

/* For the next incarnation: as it was bound, and a window of a later incarnation that is bound so. */
void soft_window_save(const struct ibv_mw *mw, struct window_binding *binding);
struct ibv_mw *soft_alloc_mw_as(struct ibv_pd *pd, enum ibv_mw_type type, const struct window_binding *binding);
