/* The queue pair of a reliable connection: what the job set is kept as it is, the device is told where the peer is
 * now. */
#include "rc.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int make_requests(struct v_qp *qp, const struct ibv_qp_cap *cap, int all_signaled)
{
    struct v_rc *rc = qp->rc;
    struct work_ring *ring = &qp->requests;
    ring->max_sges = cap->max_send_sge ? cap->max_send_sge : 1; /* inline data are named by one, too */
    rc->max_inline = cap->max_inline_data;
    ring->works = virtual_make_ring(
        cap->max_send_wr, sizeof(struct request_work) + ring->max_sges * sizeof(struct ibv_sge) + rc->max_inline,
        &ring->mask, &ring->stride);
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride) {
        struct request_work *request = request_at(ring, at);
        request->posted.wr_id = (uintptr_t)&request->work;
        request->posted.sg_list = request->sges;
        request->posted.num_sge = 1;
        request->always = all_signaled ? IBV_SEND_SIGNALED : 0;
    }
    return ring->works ? 0 : ENOMEM;
}

static void name_requests(struct v_qp *qp)
{
    for (uint32_t at = 0; at <= qp->requests.mask; at += qp->requests.stride)
        request_at(&qp->requests, at)->work.number = qp->qp.qp_num | NUMBER_OTHER | NUMBER_OF_CONNECTION;
}

/* Written by the first connection only: other threads read it without a lock (ibv_post_send is inline). */
static void post_any_from_now_on(struct ibv_context *context,
                                 int (*post)(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **))
{
    if (__atomic_load_n(&context->ops.post_send, __ATOMIC_RELAXED) != post)
        __atomic_store_n(&context->ops.post_send, post, __ATOMIC_RELEASE);
}

static int make(struct v_qp *qp, const struct ibv_qp_cap *cap)
{
    qp->rc = calloc(1, sizeof *qp->rc);
    if (!qp->rc)
        return ENOMEM;
    if (virtual_fused_path()) {
        post_any_from_now_on(qp->qp.context, virtual_fused_path()->post_any);
        return 0;
    }
    rc_set_keys(qp, NULL);
    int error = make_requests(qp, cap, qp->wanted.sq_sig_all);
    if (!error)
        error = rc_reserve_completions((struct v_cq *)qp->qp.send_cq, (int)cap->max_send_wr);
    return error ? error : keys_file_open();
}

static void release(struct v_qp *qp)
{
    if (!qp->rc)
        return;
    if (qp->requests.works)
        rc_reserve_completions((struct v_cq *)qp->qp.send_cq, -(int)qp->wanted.cap.max_send_wr);
    free(qp->requests.works);
    free(qp->rc->memory);
    free(qp->rc);
    qp->rc = NULL;
}

/* The first 24 attributes of ibv_modify_qp(3) that a connection has. */
static void record(struct v_rc *rc, const struct ibv_qp_attr *from, int mask)
{
    struct ibv_qp_attr *to = &rc->attributes;
#define TAKE(bit, field) \
    if (mask & (bit)) \
    to->field = from->field
    TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    TAKE(IBV_QP_PKEY_INDEX, pkey_index);
    TAKE(IBV_QP_PORT, port_num);
    TAKE(IBV_QP_AV, ah_attr);
    TAKE(IBV_QP_PATH_MTU, path_mtu);
    TAKE(IBV_QP_TIMEOUT, timeout);
    TAKE(IBV_QP_RETRY_CNT, retry_cnt);
    TAKE(IBV_QP_RNR_RETRY, rnr_retry);
    TAKE(IBV_QP_RQ_PSN, rq_psn);
    TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    TAKE(IBV_QP_SQ_PSN, sq_psn);
    TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    TAKE(IBV_QP_DEST_QPN, dest_qp_num);
#undef TAKE
}

/* What a restart does again: the job's masks, without what was a condition of that moment. */
static void record_transition(struct v_qp *qp, enum ibv_qp_state state, int mask)
{
    struct v_rc *rc = qp->rc;
    mask &= ~(IBV_QP_CUR_STATE | IBV_QP_PATH_MIG_STATE);
    switch (state) {
    case IBV_QPS_RESET:
        *rc = (struct v_rc){.max_inline = rc->max_inline};
        rc_set_keys(qp, NULL);
        break;
    case IBV_QPS_INIT:
        rc->to_init |= mask;
        break;
    case IBV_QPS_RTR:
        rc->to_rtr = mask;
        break;
    case IBV_QPS_RTS:
        rc->to_rts = rc->to_rts ? rc->to_rts : mask;
        break; /* a later change of one is in `attributes` */
    default:
        break;
    }
}

static int check(int mask)
{
    if (!(mask & IBV_QP_ALT_PATH))
        return 0;
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        control_log("ibv_modify_qp is not supported for an alternate path: it would be invalid after a restart");
    return EOPNOTSUPP;
}

static int modify(struct v_qp *qp, const struct ibv_qp_attr *attributes, struct ibv_qp_attr *real, int mask)
{
    int error = check(mask);
    if (!error && (mask & (IBV_QP_AV | IBV_QP_DEST_QPN)) == (IBV_QP_AV | IBV_QP_DEST_QPN))
        error = rc_find_peer(qp, real);
    if (!error)
        error = lower_device->modify_qp(qp->real, real, mask);
    if (error)
        return error;
    if (virtual_fused_path() && (mask & IBV_QP_AV))
        virtual_fused_path()->name_peer(qp->real, attributes->dest_qp_num, attributes->ah_attr.dlid);
    record(qp->rc, attributes, mask);
    if (mask & IBV_QP_STATE)
        record_transition(qp, attributes->qp_state, mask);
    return 0;
}

static void answer_query(const struct v_qp *qp, struct ibv_qp_attr *attributes)
{
    attributes->ah_attr = qp->rc->attributes.ah_attr;
    attributes->port_num = qp->rc->attributes.port_num;
    attributes->dest_qp_num = qp->rc->attributes.dest_qp_num;
}

static void forget_requests(struct v_qp *qp)
{
    for (uint32_t at = 0; qp->requests.works && at <= qp->requests.mask; at += qp->requests.stride)
        free_work(&request_at(&qp->requests, at)->work);
}

const struct transport_ops rc_transport = {
    .make = make,
    .free = release,
    .modify = modify,
    .answer_query = answer_query,
    .name_requests = name_requests,
    .forget_requests = forget_requests,
    .post_plain = rc_post_plain,
    .post_translated = rc_post_translated,
    .post_list = rc_post_list,
    .settle = rc_settle,
    .park = rc_park,
    .resume = rc_resume,
    .replay = rc_replay,
    .remember = rc_remember,
    .keep_sends = rc_keep_sends,
    .untranslate_requests = rc_untranslate_requests,
    .rebuild_state = rc_rebuild_state,
};
