#include "soft_multicast.h"
#include "soft_receive_path.h"

int soft_receive(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, NULL, false, false);
}

int soft_receive_grouped(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, NULL, false);
}

int soft_receive_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, NULL, false, true);
}

int soft_receive_grouped_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, NULL, true);
}

int soft_post_recv(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return soft_post_receive(base, wr, bad, false);
}

void soft_discard(struct soft_qp *qp)
{
    struct mmsghdr none[SOFT_BATCH];
    memset(none, 0, sizeof none);
    while (recvmmsg(qp->socket, none, SOFT_BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL) > 0)
        ;
    for (struct soft_group *group = qp->groups; group; group = group->next)
        while (recvmmsg(group->socket, none, SOFT_BATCH, MSG_DONTWAIT | MSG_TRUNC, NULL) > 0)
            ;
}

void soft_discard_unposted(struct soft_qp *qp)
{
    if (!soft_rq_empty(qp->rq))
        return;
    soft_lock(&qp->rq->lock);
    if (soft_rq_empty(qp->rq))
        soft_discard(qp);
    soft_unlock(&qp->rq->lock);
}

void soft_receive_failed(struct soft_qp *qp)
{
    /* Else receive_into_ring() of soft_cq.c does, when that completion is in the ring. */
    if (!qp->recv_cq->receives_into_ring)
        soft_qp_fail(qp);
}

void soft_flush_receives(struct soft_qp *qp, struct ibv_recv_wr *wr)
{
    for (; wr; wr = wr->next)
        soft_cq_push(
            qp->recv_cq,
            &(struct ibv_wc){
                .wr_id = wr->wr_id, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->number},
            true);
    soft_settle(soft_context_of(qp->base.context));
}
