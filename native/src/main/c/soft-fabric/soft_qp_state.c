/* The state machine of a queue pair: InfiniBand Architecture 1.2.1, section 10.3.1 and table 91
 * (which attributes each transition needs and allows). */
#include "soft_channel.h"
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_fault.h"
#include "soft_port.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_receive.h"
#include "soft_rq.h"
#include "soft_socket.h"
#include <errno.h>
#include <stdio.h>

struct transition {
    enum ibv_qp_state from, to;
    int required, optional;
};

static const struct transition datagram[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    {IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {0},
};

/* Transitions of unreliable connections, which have no attributes of acknowledgements. */
static const struct transition unanswered[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
    {0},
};

static const struct transition connection[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {0},
};

/* An XRC initiator is a requester alone, and its target a responder alone. */
static const struct transition initiator[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PATH_MIG_STATE},
    {0},
};

static const struct transition target[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE},
    {0},
};

/* By enum soft_rc_service. */
static const struct transition *const connected[] = {connection, unanswered, initiator, target};

static int check_mask(const struct transition *allowed, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
    mask &= ~IBV_QP_STATE;
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
        return mask & ~IBV_QP_CUR_STATE ? EINVAL : 0;
    for (const struct transition *t = allowed; t->to; t++)
        if (t->from == from && t->to == to)
            return (mask & t->required) == t->required && !(mask & ~(t->required | t->optional)) ? 0 : EINVAL;
    return EINVAL;
}

static int check_connection(const struct ibv_qp_attr *attr, int mask, uint8_t port)
{
    if ((mask & IBV_QP_AV) &&
        (attr->ah_attr.port_num != port || !attr->ah_attr.dlid || attr->ah_attr.dlid > SOFT_LID_MAX))
        return EINVAL;
    if ((mask & IBV_QP_PATH_MTU) && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > IBV_MTU_4096))
        return EINVAL;
    if ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && attr->max_rd_atomic > SOFT_RC_RD_ATOMIC)
        return EINVAL;
    if ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && attr->max_dest_rd_atomic > SOFT_RC_RD_ATOMIC)
        return EINVAL;
    if (((mask & IBV_QP_TIMEOUT) && attr->timeout > 31) || ((mask & IBV_QP_RETRY_CNT) && attr->retry_cnt > 7) ||
        ((mask & IBV_QP_RNR_RETRY) && attr->rnr_retry > 7) ||
        ((mask & IBV_QP_MIN_RNR_TIMER) && attr->min_rnr_timer > 31))
        return EINVAL;
    /* there is one path */
    return (mask & IBV_QP_PATH_MIG_STATE) && attr->path_mig_state != IBV_MIG_MIGRATED ? EINVAL : 0;
}

static int check_values(const struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask, enum ibv_qp_state now)
{
    if ((mask & IBV_QP_CUR_STATE) && attr->cur_qp_state != now)
        return EINVAL;
    if ((mask & IBV_QP_PORT) && !soft_has_port(qp->base.context, attr->port_num))
        return EINVAL;
    if ((mask & IBV_QP_PKEY_INDEX) && attr->pkey_index != 0)
        return EINVAL;
    return check_connection(attr, mask, mask & IBV_QP_PORT ? attr->port_num : qp->attr.port_num);
}

static void take_connection(struct ibv_qp_attr *to, const struct ibv_qp_attr *attr, int mask)
{
#define TAKE(bit, field) \
    if (mask & (bit)) \
    to->field = attr->field
    TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    TAKE(IBV_QP_AV, ah_attr);
    TAKE(IBV_QP_PATH_MTU, path_mtu);
    TAKE(IBV_QP_DEST_QPN, dest_qp_num);
    TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    TAKE(IBV_QP_TIMEOUT, timeout);
    TAKE(IBV_QP_RETRY_CNT, retry_cnt);
    TAKE(IBV_QP_RNR_RETRY, rnr_retry);
#undef TAKE
    if (mask & IBV_QP_RQ_PSN)
        to->rq_psn = attr->rq_psn & 0xffffff;
}

static void take_values(struct soft_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    take_connection(&qp->attr, attr, mask);
    if (mask & IBV_QP_PKEY_INDEX)
        qp->attr.pkey_index = attr->pkey_index;
    if (mask & IBV_QP_PORT)
        qp->attr.port_num = attr->port_num;
    if (mask & IBV_QP_QKEY)
        qp->attr.qkey = attr->qkey;
    if (mask & IBV_QP_SQ_PSN)
        qp->attr.sq_psn = attr->sq_psn & 0xffffff;
}

static void set_state(struct soft_qp *qp, enum ibv_qp_state state)
{
    __atomic_store_n(&qp->base.state, state, __ATOMIC_RELEASE);
    atomic_store(&qp->receives, !qp->rc && (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQE));
}

static void flush(struct soft_qp *qp)
{
    struct soft_rq *rq = &qp->own_rq;
    struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->number};
    for (uint32_t i = rq->head; i != rq->tail; i++) {
        wc.wr_id = rq->wqe[i & rq->mask].wr_id;
        soft_cq_push(qp->recv_cq, &wc, true);
    }
    soft_rq_clear(rq);
}

void soft_qp_fail(struct soft_qp *qp)
{
    if (qp->rc) {
        soft_rc_fail(qp);
        return;
    }
    soft_lock(&qp->rq->lock);
    bool was = soft_state(&qp->base) == IBV_QPS_ERR;
    set_state(qp, IBV_QPS_ERR);
    if (!was && !qp->srq)
        flush(qp);
    soft_unlock(&qp->rq->lock);
    if (was)
        return;
    soft_socket_refuse(qp);
    soft_discard(qp);
    if (qp->srq) /* the SRQ's other QPs go on with its receives: say that this one takes no more */
        soft_event_post(soft_context_of(qp->base.context),
                        (struct ibv_async_event){.element.qp = &qp->base, .event_type = IBV_EVENT_QP_LAST_WQE_REACHED});
}

void soft_qp_send_failed(struct soft_qp *qp)
{
    enum ibv_qp_state sending = IBV_QPS_RTS;
    __atomic_compare_exchange_n(&qp->base.state, &sending, IBV_QPS_SQE, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void reset(struct soft_qp *qp)
{
    soft_socket_refuse(qp);
    if (qp->rc)
        soft_lock(&qp->rc->lock); /* else a packet that the engine is just taking may end the connection afterwards */
    soft_lock(&qp->rq->lock);
    set_state(qp, IBV_QPS_RESET);
    if (!qp->srq)
        soft_rq_clear(&qp->own_rq);
    soft_unlock(&qp->rq->lock);
    if (qp->rc)
        soft_unlock(&qp->rc->lock);
    soft_discard(qp);
    soft_fault_release(qp);
    if (qp->rc)
        soft_rc_reset(qp);
    soft_cq_clean(qp->recv_cq, qp->number);
    soft_cq_clean(qp->send_cq, qp->number);
    qp->attr = (struct ibv_qp_attr){0};
}

static int enter(struct soft_qp *qp, enum ibv_qp_state now, enum ibv_qp_state next, int mask)
{
    bool receiving = next == IBV_QPS_RTR || next == IBV_QPS_RTS;
    /* The filter closed the socket up to now, so that what came before RTR is lost. */
    if (qp->rc && now == IBV_QPS_INIT && receiving) {
        int error = soft_rc_ready_to_receive(qp);
        if (error)
            return error;
    } else if (qp->rc && now == IBV_QPS_RTR && next == IBV_QPS_RTS) {
        soft_rc_ready_to_send(qp);
    } else if (!qp->rc && receiving && (now == IBV_QPS_INIT || (mask & IBV_QP_QKEY))) {
        int error = soft_socket_accept(qp);
        if (error)
            return error;
    }
    if (!qp->rc)
        set_state(qp, next);
    else if (!__atomic_compare_exchange_n(&qp->base.state, &now, next, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return EINVAL; /* a packet has ended the connection since, and that is how it stays */
    if (now == IBV_QPS_INIT && receiving && qp->recv_cq->base.channel)
        soft_channel_rearm(qp->recv_cq);
    return 0;
}

int soft_modify_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask)
{
    struct soft_qp *qp = soft_qp_of(base);
    pthread_mutex_lock(&base->mutex);
    enum ibv_qp_state now = soft_state(base), next = mask & IBV_QP_STATE ? attr->qp_state : now;
    int status = atomic_load(&soft_context_of(base->context)->gone) ? EIO : check_values(qp, attr, mask, now);
    if (!status && next == IBV_QPS_SQD) {
        static atomic_flag said = ATOMIC_FLAG_INIT;
        if (!atomic_flag_test_and_set(&said))
            fprintf(
                stderr,
                "udckpt: ibv_modify_qp is not supported for the send queue drained state (SQD) on the soft fabric\n");
        status = EOPNOTSUPP;
    }
    if (!status)
        status = check_mask(qp->rc ? connected[qp->rc->service] : datagram, now, next, mask);
    if (!status && next == IBV_QPS_RESET) {
        reset(qp);
    } else if (!status && next == IBV_QPS_ERR) {
        if (qp->rc)
            soft_rc_take_last(qp);
        soft_qp_fail(qp);
    } else if (!status && (!(mask & IBV_QP_PORT) || !(status = soft_port_move(qp, attr->port_num)))) {
        if (qp->rc)
            soft_lock(&qp->rc->lock); /* the engine reads them */
        take_values(qp, attr, mask);
        if (qp->rc)
            soft_unlock(&qp->rc->lock);
        status = enter(qp, now, next, mask);
    }
    pthread_mutex_unlock(&base->mutex);
    soft_settle(soft_context_of(base->context));
    return status;
}
