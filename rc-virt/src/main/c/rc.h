/* Reliable connections of the virtual device: what a queue pair has beyond a datagram one (docs/internals/rc.md). */
#pragma once
#include "rc_keys.h"
#include "virtual.h"

/* A posted send, recorded until it has completed, in the device's own form; only where the device does not borrow. As of a
 * receive (virtual_work.h), what is the same for every request of one element is in `posted` from the beginning. */
struct rc_request {
    struct ibv_send_wr posted; /* sg_list: sges; the first member, so that its address is the slot's */
    struct work work;
    uint32_t atomic_rkey;      /* the job's: `posted` has the one of this life */
    unsigned flags;            /* the job's: the device is asked to signal each */
    unsigned always;           /* of the queue pair: IBV_SEND_SIGNALED when it signals all */
    struct ibv_sge sges[];     /* with the keys of this life; behind them inline data */
};

/* Where the job's remote key is kept: `wr.rdma` ends with four bytes of padding, next to the key of this life. */
enum { RC_RDMA_PADDING = offsetof(struct ibv_send_wr, wr.rdma.rkey) + 4 };
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) == offsetof(struct ibv_send_wr, wr.rdma) + 8, "16 bytes with the padding");
_Static_assert(sizeof(((struct ibv_send_wr *)0)->wr) >= 16, "16 bytes with the padding");

struct v_rc {
    struct ibv_qp_attr attributes; /* as the job set them: peer and address are virtual ones */
    int to_init, to_rtr, to_rts;   /* masks of the transitions, 0 before each */
    uint32_t max_inline;
    const struct rc_peer_keys *keys; /* of the peer's process; NULL: they are the device's own */
    void *memory; /* of the old life's device, while a new one is made; and which device that was */
    const struct verbs_device *remembered;
    int unfinished;                  /* rebuilt: what had not completed is to be posted again */
    struct rc_kept *kept;            /* with a borrowing device, while a life is rebuilt */
};

/* In the order of posting. */
static inline struct rc_request *rc_request_at(const struct work_ring *requests, uint32_t place)
{
    return (struct rc_request *)(requests->works + (place & requests->mask));
}

/* rc_keys.c: whose remote keys its requests name; NULL: they are the device's own. */
void rc_set_keys(struct v_qp *qp, const struct rc_peer_keys *keys);

/* rc_qp.c: what virtual_qp.c does not know about. These return 0 or an errno. */
int rc_make(struct v_qp *qp, const struct ibv_qp_cap *cap);
void rc_free(struct v_qp *qp);
/* `real`: a copy for the device, with its port; the peer is filled in. */
int rc_modify(struct v_qp *qp, const struct ibv_qp_attr *attributes, struct ibv_qp_attr *real, int mask);
void rc_answer_query(const struct v_qp *qp, struct ibv_qp_attr *attributes);
void rc_forget_requests(struct v_qp *qp);
void rc_name_requests(struct v_qp *qp);        /* their records name the queue pair, once it has its number */
void rc_untranslate_requests(struct v_qp *qp); /* the records' local keys are the job's again */

/* rc_peer.c: where the virtual peer is now; fills in dest_qp_num and ah_attr. 0 or an errno. */
int rc_find_peer(struct v_qp *qp, struct ibv_qp_attr *real);

/* rc_send.c. The gate has been passed, and is left here; the first two are short for usual requests (virtual_paths.h). */
int rc_post_plain(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_translated(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_list(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int rc_post_again(struct v_qp *qp); /* in a new life; 0, or -1 with errno */
unsigned rc_outstanding(const struct v_qp *qp);
/* The device's completion queue has room for the completions that the job did not ask for, too. 0 or an errno. */
int rc_reserve_completions(struct v_cq *cq, int change);

/* rc_keep.c: with a borrowing device; 0, or -1 with errno. */
int rc_keep_sends(struct v_qp *qp);
int rc_post_kept(struct v_qp *qp);

int rc_remember(struct v_qp *qp); /* rc_rebuild.c: before the old device is forgotten; 0 or -1 */
/* rc_rebuild.c: up to INIT, so that it can be registered and refilled; 0, or -1 with errno. */
int rc_rebuild_state(struct v_qp *qp);
