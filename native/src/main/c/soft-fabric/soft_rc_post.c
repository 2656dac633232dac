/* Posting to the send queue of a reliable connection. */
#include "soft_cq.h"
#include "soft_rc.h"
#include "soft_window.h"
#include "soft_xrc.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

int soft_rc_refuse_opcode(enum ibv_wr_opcode opcode)
{
    static atomic_uint named; /* one line for each */
    unsigned bit = 1u << ((unsigned)opcode & 31);
    if (!(atomic_fetch_or(&named, bit) & bit))
        fprintf(stderr,
                "udckpt: ibv_post_send is not supported for opcode %d: the soft fabric has no segmentation offload\n",
                opcode);
    return EOPNOTSUPP;
}

enum { LOCAL = -1 };

/* Less usual ones; as check(). */
__attribute__((cold, noinline)) static int check_other(const struct soft_rc *rc, const struct ibv_send_wr *wr,
                                                       uint64_t total)
{
    if (soft_rc_is_local(wr->opcode)) {
        int error = soft_window_check(wr);
        return error ? error : LOCAL;
    }
    if (wr->opcode != IBV_WR_SEND_WITH_INV)
        return soft_rc_refuse_opcode(wr->opcode);
    return (wr->send_flags & IBV_SEND_INLINE) && total > rc->max_inline ? EINVAL : 0;
}

/* 0, an errno, or LOCAL. */
static int check(const struct soft_rc *rc, const struct ibv_send_wr *wr, uint64_t *length)
{
    if (unlikely(wr->num_sge < 0 || (uint32_t)wr->num_sge > rc->max_sge))
        return EINVAL;
    uint64_t total = 0;
    for (int i = 0; i < wr->num_sge; i++)
        total += wr->sg_list[i].length;
    *length = total;
    switch (wr->opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return (wr->send_flags & IBV_SEND_INLINE) && total > rc->max_inline ? EINVAL : 0;
    case IBV_WR_RDMA_READ:
        return wr->send_flags & IBV_SEND_INLINE ? EINVAL : 0;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return wr->send_flags & IBV_SEND_INLINE || total != 8 ? EINVAL : 0;
    default:
        return check_other(rc, wr, total);
    }
}

static inline __attribute__((always_inline)) void copy_data(struct soft_rc *rc, const struct ibv_send_wr *wr,
                                                            const struct soft_rc_wqe *wqe)
{
    if (!wqe->is_inline) {
        if (wr->num_sge)
            memcpy(soft_rc_sges(rc, rc->tail), wr->sg_list, (size_t)wr->num_sge * sizeof *wr->sg_list);
        return;
    }
    char *to = soft_rc_inline(rc, rc->tail);
    for (int i = 0; i < wr->num_sge; i++) {
        memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        to += wr->sg_list[i].length;
    }
}

static inline __attribute__((always_inline)) void append(struct soft_rc *rc, const struct ibv_send_wr *wr,
                                                         uint32_t length)
{
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->tail);
    bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    *wqe = (struct soft_rc_wqe){
        .wr_id = wr->wr_id,
        .opcode = (uint8_t)wr->opcode,
        .num_sge = (uint8_t)wr->num_sge,
        .length = length,
        .immediate = wr->imm_data,
        .is_inline = wr->send_flags & IBV_SEND_INLINE,
        .signaled = rc->qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED),
        .fence = wr->send_flags & IBV_SEND_FENCE,
        .solicited = wr->send_flags & IBV_SEND_SOLICITED,
        .remote_address = atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr,
        .rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey,
    };
    if (atomic) {
        wqe->compare_add = wr->wr.atomic.compare_add;
        wqe->swap = wr->wr.atomic.swap;
    }
    copy_data(rc, wr, wqe);
    uint64_t packets = atomic || !length ? 1 : ((uint64_t)length + rc->mtu - 1) / rc->mtu;
    wqe->first = rc->assigned;
    rc->assigned = wqe->end = wqe->first + packets;
    rc->tail++;
}

/* Appends a request that is carried out here: it takes no packet number. Returns 0 or an errno. */
static int append_local(struct soft_rc *rc, const struct ibv_send_wr *wr)
{
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->tail);
    if (rc->tail - rc->head >= rc->size)
        return ENOMEM;
    *wqe = (struct soft_rc_wqe){
        .wr_id = wr->wr_id,
        .opcode = (uint8_t)wr->opcode,
        .first = rc->assigned,
        .end = rc->assigned,
        .signaled = rc->qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED),
        .fence = wr->send_flags & IBV_SEND_FENCE,
    };
    if (wr->opcode == IBV_WR_LOCAL_INV) {
        wqe->rkey = wr->invalidate_rkey;
    } else {
        wqe->rkey = wr->bind_mw.rkey;
        wqe->remote_address = info->addr;
        wqe->compare_add = info->length;
        wqe->swap = (uintptr_t)info->mr;
        *soft_rc_sges(rc, rc->tail) =
            (struct ibv_sge){.addr = (uintptr_t)wr->bind_mw.mw, .lkey = info->mw_access_flags};
    }
    rc->tail++;
    return 0;
}

/* Appends a request of an XRC initiator. Its queue claims to have no room, so that all its requests come here. Returns
 * 0 or ENOMEM. */
static int append_numbered(struct soft_rc *rc, const struct ibv_send_wr *wr)
{
    uint32_t length = 0;
    int error = soft_xrc_take_number(rc, wr);
    for (int i = 0; i < wr->num_sge; i++)
        length += wr->sg_list[i].length;
    if (!error)
        append(rc, wr, length);
    return error;
}

/* What there is no room for, or has no packet, or is refused. An unreliable connection has no room: all the rest of a
 * list is sent at once. Returns 0 or an errno. */
__attribute__((cold, noinline)) static int append_other(struct soft_rc *rc, struct ibv_send_wr **wr, int status)
{
    if (rc->service == SOFT_UC)
        return soft_uc_post_send(rc, wr);
    if (rc->service == SOFT_XRC_INITIATOR)
        return status == ENOMEM ? append_numbered(rc, *wr) : status == LOCAL ? EINVAL : status;
    return status == LOCAL ? append_local(rc, *wr) : status;
}

static void flush(struct soft_qp *qp, const struct ibv_send_wr *wr)
{
    for (; wr; wr = wr->next)
        soft_cq_push(qp->send_cq,
                     &(struct ibv_wc){.wr_id = wr->wr_id, .status = IBV_WC_WR_FLUSH_ERR, .qp_num = qp->number}, true);
}

int soft_rc_post_send(struct soft_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct soft_rc *rc = qp->rc;
    int status = 0;
    soft_lock(&rc->lock);
    enum ibv_qp_state state = soft_rc_state(rc);
    if (likely(state == IBV_QPS_RTS)) {
        for (; wr; wr = wr->next) {
            uint64_t length;
            status = check(rc, wr, &length);
            if (!status && length > SOFT_RC_MAX_MESSAGE)
                status = EINVAL;
            if (!status && rc->tail - rc->head >= rc->size)
                status = ENOMEM;
            if (unlikely(status)) {
                status = append_other(rc, &wr, status);
                if (status || !wr)
                    break;
                continue;
            }
            append(rc, wr, (uint32_t)length);
        }
        soft_rc_pump(rc);
    } else if (state == IBV_QPS_ERR || state == IBV_QPS_SQE) {
        flush(qp, wr);
    } else {
        status = EINVAL;
    }
    soft_unlock(&rc->lock);
    if (unlikely(status))
        *bad = wr;
    soft_settle(soft_context_of(qp->base.context));
    return status;
}
