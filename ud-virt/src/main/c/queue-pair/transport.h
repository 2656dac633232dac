/* What the transport of connected queue pairs does beyond what all queue pairs need. It is on a floor above (rc-virt),
 * which hands in its table before the first operation; a queue pair of datagrams has none. Errors are errno values, or
 * -1 with errno where that is said. */
#pragma once
#include <infiniband/verbs.h>

struct v_qp;

struct transport_ops {
    /* The queue pair has its device's object, and no number yet; `cap` as the device has granted it. */
    int (*make)(struct v_qp *, const struct ibv_qp_cap *cap);
    void (*free)(struct v_qp *);
    /* `real`: a copy for the device, with its port; the peer is filled in. */
    int (*modify)(struct v_qp *, const struct ibv_qp_attr *attributes, struct ibv_qp_attr *real, int mask);
    void (*answer_query)(const struct v_qp *, struct ibv_qp_attr *attributes);
    void (*name_requests)(struct v_qp *); /* their records name the queue pair, once it has its number */
    void (*forget_requests)(struct v_qp *);

    /* On the generic path; the gate has been passed, and is left there. Any request may go to `list`; the other two are
     * short for usual ones (generic_path.h). */
    int (*post_plain)(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_translated)(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);
    int (*post_list)(struct v_qp *, struct ibv_send_wr *, struct ibv_send_wr **bad);

    /* Around a snapshot, for all queue pairs, with the gate closed. settle: ends what is under way between connected
     * queue pairs, so that sender and receiver agree on what was delivered; requests that were not begun, or for which
     * the peer has no receive, wait (*waiting of them). 0, or ETIMEDOUT after a line that names the queue pair. Peers
     * go on being answered. park: the device does nothing more, for the drain, when all ranks have settled. resume:
     * undoes both. replay: before the gate opens in a restored process, posts again what had not completed. */
    int (*settle)(int timeout_ms, unsigned *waiting);
    void (*park)(void);
    void (*resume)(void);
    void (*replay)(void);

    /* In a restored process, in this order; -1 with errno. remember, keep_sends (on the fused path) and untranslate
     * (on the generic one) before the old device is forgotten; rebuild_state up to INIT, so that the queue pair can be
     * registered and refilled. */
    int (*remember)(struct v_qp *);
    int (*keep_sends)(struct v_qp *);
    void (*untranslate_requests)(struct v_qp *);
    int (*rebuild_state)(struct v_qp *);
};

/* The transport of all queue pairs that are connected (virtual_qp.c). */
const struct transport_ops *virtual_connections(void);
void virtual_connect_by(const struct transport_ops *transport);
