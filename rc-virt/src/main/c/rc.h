/* Reliable connections of the virtual device: what a queue pair has beyond a datagram one (docs/rc-virtualization.md). */
#pragma once
#include "rc_keys.h"
#include "virtual.h"

/* A posted send, recorded until it has completed, in the device's own form; only where the device does not borrow. */
struct rc_request {
    struct ibv_send_wr posted; /* sg_list: sges; the first member, so that its address is the slot's */
    struct work work;
    uint32_t rkey; /* the job's: `posted` has the one of this life */
    struct ibv_sge sges[];     /* with the keys of this life; behind them inline data */
};

struct v_rc {
    struct ibv_qp_attr attributes; /* as the job set them: peer and address are virtual ones */
    int to_init, to_rtr, to_rts;   /* masks of the transitions, 0 before each */
    uint32_t requests_head, requests_mask, stride, max_sges, max_inline; /* places as in struct receive_ring */
    char *requests;                  /* ring of struct rc_request, in the order of posting; none with a borrowing device */
    const struct rc_peer_keys *keys; /* of the peer's process; NULL: they are the device's own */
    void *memory; /* of the old life's device, while a new one is made; and which device that was */
    const struct verbs_device *remembered;
    int unfinished;                  /* rebuilt: what had not completed is to be posted again */
    struct rc_kept *kept;            /* with a borrowing device, while a life is rebuilt */
};

static inline struct rc_request *rc_request_at(const struct v_rc *rc, uint32_t place)
{
    return (struct rc_request *)(rc->requests + (place & rc->requests_mask));
}

static inline char *rc_inline_data(const struct v_rc *rc, struct rc_request *request)
{
    return (char *)(request->sges + rc->max_sges);
}

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

/* rc_send.c. The gate has been passed, and is left here. */
int rc_post_send(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
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
