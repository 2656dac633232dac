/* The fused path: on the soft fabric, gate and translation are inlined into the device's own post and poll
 * (fused_path.c), so that nothing is copied or recorded twice. It runs by default on that device; all other devices,
 * and UDCKPT_DATA_PATH=generic, take the generic path (generic_send.c, generic_receive.c, generic_poll.c, rc_send.c).
 * The objects stay the virtual layer's. What a fused device promises:
 *   - it finds a send's destination by known_route() and uses what it kept in route->prepared;
 *   - its datagrams have been sent when post_send returns (none is under way when the gate has closed);
 *   - its completions carry the request's own wr_id, the queue pair's virtual number, the virtual source;
 *   - it tells which receives are outstanding, from its memory alone, also when its descriptors are gone;
 *   - it registers memory under a key of an earlier incarnation, so keys never differ. */
#pragma once
#include "virtual.h"

struct fused_path {
    /* For context->ops: they take the job's objects and pass the gate. */
    int (*poll_cq)(struct ibv_cq *, int count, struct ibv_wc *);
    /* For datagrams only. A context gets post_any with its first reliable connection, so that contexts without
     * connections do not pay for them. */
    int (*post_send)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_any)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_recv)(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
    int (*post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);

    void (*prepare)(struct route *route, const struct ibv_ah *real); /* fills route->prepared */
    uint64_t (*source_key)(uint16_t lid, uint32_t qpn);
    void (*adopt)(struct ibv_qp *real, uint32_t virtual_qpn);
    /* For the generic path: datagrams from outside of the job are dropped here, too. */
    void (*guard)(struct ibv_qp *real);
    struct ibv_mr *(*register_as)(struct ibv_pd *, void *addr, size_t length, uint64_t iova, unsigned access,
                                  uint32_t key);
    /* The same of memory windows: how one is bound, and one that is bound so. */
    void (*save_window)(const struct ibv_mw *real, struct window_binding *binding);
    struct ibv_mw *(*window_as)(struct ibv_pd *, enum ibv_mw_type type, const struct window_binding *binding);
    /* Oldest first; at most max are written, returns how many there are. SGEs point into the device's queue. */
    uint32_t (*outstanding)(const struct ibv_qp *real, struct ibv_recv_wr *wrs, uint32_t max);
    /* For a reliable connection: how completions name its peer, and which sends have not completed (inline data in one
     * piece). */
    void (*name_peer)(struct ibv_qp *real, uint32_t qpn, uint16_t lid);
    uint32_t (*outstanding_sends)(const struct ibv_qp *real, struct ibv_send_wr *wrs, uint32_t max);
    uint32_t (*outstanding_shared)(const struct ibv_srq *real, struct ibv_recv_wr *wrs, uint32_t max);
};

extern const struct fused_path soft_fused_path; /* fused_path.c */
/* NULL: the device has none. */
const struct fused_path *virtual_fused_path_of(const struct verbs_device *device);
/* The one that this job takes, or NULL: it takes the generic path. The same as long as a job exists. */
const struct fused_path *virtual_fused_path(void);

/* fused_outstanding.c: the operations of that table. */
uint32_t fused_outstanding(const struct ibv_qp *real, struct ibv_recv_wr *wrs, uint32_t max);
uint32_t fused_outstanding_sends(const struct ibv_qp *real, struct ibv_send_wr *wrs, uint32_t max);
uint32_t fused_outstanding_shared(const struct ibv_srq *real, struct ibv_recv_wr *wrs, uint32_t max);
