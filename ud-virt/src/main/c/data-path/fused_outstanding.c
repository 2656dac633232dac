/* The fused path around a restart: what a queue of the soft fabric still holds, read from its memory. */
#define _GNU_SOURCE /* mmsghdr in soft_types.h */
#include "fused_path.h"
#include "soft-fabric/soft_rc.h"
#include "soft-fabric/soft_srq.h"
#include "soft-fabric/soft_xrc.h"

static uint32_t outstanding_in(const struct soft_rq *rq, struct ibv_recv_wr *wrs, uint32_t max)
{
    uint32_t count = rq->tail - rq->head;
    for (uint32_t i = 0; i < count && i < max; i++) {
        uint32_t at = (rq->head + i) & rq->mask;
        wrs[i] = (struct ibv_recv_wr){
            .wr_id = rq->wqe[at].wr_id, .sg_list = &rq->sge[at * rq->max_sge], .num_sge = rq->wqe[at].num_sge};
    }
    return count;
}

/* The one that a message was filling whose sender is gone. */
static uint32_t interrupted(const struct soft_qp *qp, struct ibv_recv_wr *wrs, uint32_t max)
{
    const struct soft_rc *rc = qp->rc;
    if (!rc || !rc->has_receive)
        return 0;
    if (max)
        *wrs = (struct ibv_recv_wr){
            .wr_id = rc->receive.wr_id, .sg_list = (struct ibv_sge *)rc->receive_sge, .num_sge = rc->receive.num_sge};
    return 1;
}

uint32_t fused_outstanding(const struct ibv_qp *real, struct ibv_recv_wr *wrs, uint32_t max)
{
    const struct soft_qp *qp = (const struct soft_qp *)real;
    bool target = qp->rc && qp->rc->service == SOFT_XRC_TARGET; /* what it fills is a shared queue's */
    uint32_t first = target ? 0 : interrupted(qp, wrs, max), taken = first < max ? first : max;
    return first + outstanding_in(&qp->own_rq, wrs + taken, max - taken);
}

/* One send as it was posted. Its inline data are named by its first element, which the device does not use then. */
static struct ibv_send_wr unfinished(const struct soft_rc *rc, uint32_t index)
{
    const struct soft_rc_wqe *wqe = soft_rc_at(rc, index);
    struct ibv_sge *sges = soft_rc_sges(rc, index);
    struct ibv_send_wr wr = {.wr_id = wqe->wr_id,
                             .opcode = wqe->opcode,
                             .sg_list = sges,
                             .num_sge = wqe->num_sge,
                             .imm_data = wqe->immediate};
    wr.send_flags = (wqe->signaled ? IBV_SEND_SIGNALED : 0) | (wqe->fence ? IBV_SEND_FENCE : 0) |
                    (wqe->solicited ? IBV_SEND_SOLICITED : 0);
    if (wqe->is_inline) {
        wr.send_flags |= IBV_SEND_INLINE;
        wr.num_sge = wqe->length ? 1 : 0;
        *sges = (struct ibv_sge){(uintptr_t)soft_rc_inline(rc, index), wqe->length, 0};
    }
    if (wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wqe->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = wqe->remote_address;
        wr.wr.atomic.rkey = wqe->rkey;
        wr.wr.atomic.compare_add = wqe->compare_add;
        wr.wr.atomic.swap = wqe->swap;
    } else if (wqe->opcode == IBV_WR_BIND_MW) {
        wr.bind_mw.mw = (struct ibv_mw *)(uintptr_t)sges->addr;
        wr.bind_mw.rkey = wqe->rkey;
        wr.bind_mw.bind_info = (struct ibv_mw_bind_info){.mr = (struct ibv_mr *)(uintptr_t)wqe->swap,
                                                         .addr = wqe->remote_address,
                                                         .length = wqe->compare_add,
                                                         .mw_access_flags = sges->lkey};
    } else if (wqe->opcode == IBV_WR_LOCAL_INV) {
        wr.invalidate_rkey = wqe->rkey;
    } else {
        wr.wr.rdma.remote_addr = wqe->remote_address;
        wr.wr.rdma.rkey = wqe->rkey;
    }
    if (rc->service == SOFT_XRC_INITIATOR)
        wr.qp_type.xrc.remote_srqn = soft_xrc_number(rc, index);
    return wr;
}

uint32_t fused_outstanding_sends(const struct ibv_qp *real, struct ibv_send_wr *wrs, uint32_t max)
{
    const struct soft_rc *rc = ((const struct soft_qp *)real)->rc;
    for (uint32_t i = 0; i < rc->tail - rc->head && i < max; i++)
        wrs[i] = unfinished(rc, rc->head + i);
    return rc->tail - rc->head;
}

uint32_t fused_outstanding_shared(const struct ibv_srq *real, struct ibv_recv_wr *wrs, uint32_t max)
{
    const struct soft_srq *srq = (const struct soft_srq *)real;
    uint32_t count = 0;
    for (const struct soft_qp *qp = srq->members; qp; qp = qp->srq_next)
        count += interrupted(qp, wrs + (count < max ? count : max), count < max ? max - count : 0);
    const struct soft_rc *first = srq->domain ? soft_context_of(real->context)->connections : NULL, *rc = first;
    if (first)
        do {
            if (soft_xrc_fills(rc, srq))
                count += interrupted(rc->qp, wrs + (count < max ? count : max), count < max ? max - count : 0);
        } while ((rc = rc->neighbour) != first);
    uint32_t taken = count < max ? count : max;
    return count + outstanding_in(&srq->rq, wrs + taken, max - taken);
}
