/* Unreliable connections: the packets of a reliable one without answers, so that nothing is kept and nothing is sent
 * again. A message leaves in post_send itself, as a datagram does, and is complete when the call returns; a packet that
 * is lost ends the message that it is part of, in silence (InfiniBand Architecture 1.2.1, sections 9.8.2 and 9.8.3).
 * All with rc->lock held. */
#include "soft_cq.h"
#include "soft_memory.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_rq.h"
#include "soft_window.h"
#include <errno.h>
#include <sched.h>
#include <string.h>

enum {
    BURST = 64,  /* packets between two looks at what has arrived: two ends that send to each other must not fill each
                    other's sockets */
    LATE = 4096, /* packets by which one may be late or doubled; further back it is a sender that has begun anew */
};

static const uint8_t wire_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = SOFT_RC_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = SOFT_RC_WRITE,
    [IBV_WR_SEND] = SOFT_RC_SEND,
    [IBV_WR_SEND_WITH_IMM] = SOFT_RC_SEND,
    [IBV_WR_SEND_WITH_INV] = SOFT_RC_SEND_INVALIDATE,
};

static const uint8_t completion_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
    [IBV_WR_SEND] = IBV_WC_SEND,
    [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
    [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
    [IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
    [IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
};

/* 0, or what post_send refuses it with. */
static int check(const struct soft_rc *rc, const struct ibv_send_wr *wr, uint32_t *length)
{
    uint64_t total = 0;
    *length = 0;
    if (soft_rc_is_local(wr->opcode))
        return soft_window_check(wr);
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rc->max_sge)
        return EINVAL;
    for (int i = 0; i < wr->num_sge; i++)
        total += wr->sg_list[i].length;
    *length = (uint32_t)total;
    if (total > SOFT_RC_MAX_MESSAGE || ((wr->send_flags & IBV_SEND_INLINE) && total > rc->max_inline))
        return EINVAL;
    switch (wr->opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_SEND_WITH_INV:
        return 0;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return EINVAL; /* InfiniBand Architecture 1.2.1, table 38: not of this transport */
    default:
        return soft_rc_refuse_opcode(wr->opcode);
    }
}

/* Inline data need no registration: ibv_post_send(3). */
static int gather_inline(const struct ibv_send_wr *wr, uint64_t offset, uint32_t length, struct iovec *iov)
{
    int n = 0;
    for (int i = 0; i < wr->num_sge && length; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        if (offset >= sge->length) {
            offset -= sge->length;
            continue;
        }
        uint32_t part = sge->length - (uint32_t)offset < length ? sge->length - (uint32_t)offset : length;
        iov[n++] = (struct iovec){(char *)(uintptr_t)sge->addr + offset, part};
        length -= part;
        offset = 0;
    }
    return n;
}

static struct soft_rc_wire header_of(const struct soft_rc *rc, const struct ibv_send_wr *wr, uint32_t total)
{
    struct soft_rc_wire header = rc->header;
    header.opcode = wire_opcodes[wr->opcode];
    header.rkey = htonl(wr->wr.rdma.rkey);
    header.length = htonl(total);
    header.immediate = wr->imm_data;
    return header;
}

static uint8_t flags_of(const struct ibv_send_wr *wr, bool first, bool last)
{
    uint8_t flags = (uint8_t)((first ? SOFT_RC_FIRST : 0) | (last ? SOFT_RC_LAST : 0));
    if (last && (wr->send_flags & IBV_SEND_SOLICITED))
        flags |= SOFT_RC_SOLICITED;
    if (last && (wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
        flags |= SOFT_RC_IMMEDIATE;
    return flags;
}

static void look_at_arrivals(struct soft_rc *rc)
{
    rc->unlooked = 0;
    soft_rc_take_rounds(rc, BURST / SOFT_RC_RECEIVE_BATCH);
    sched_yield(); /* the receiver may want this processor */
}

static enum ibv_wc_status send_message(struct soft_rc *rc, const struct ibv_send_wr *wr, uint32_t total)
{
    struct soft_rc_wire header = header_of(rc, wr, total);
    uint32_t offset = 0, length;
    do {
        struct iovec iov[1 + SOFT_MAX_SGE];
        length = total - offset < rc->mtu ? total - offset : rc->mtu;
        int count = wr->send_flags & IBV_SEND_INLINE
                        ? gather_inline(wr, offset, length, iov + 1)
                        : soft_rc_gather(rc, wr->sg_list, wr->num_sge, offset, length, iov + 1);
        header.flags = flags_of(wr, !offset, offset + length == total);
        header.psn = htonl((uint32_t)rc->next & 0xffffff);
        header.address = htobe64(wr->wr.rdma.remote_addr + offset);
        if (count < 0 || soft_rc_transmit(rc, &header, iov, 1 + (unsigned)count))
            return IBV_WC_LOC_PROT_ERR;
        rc->una = rc->sent = rc->assigned = ++rc->next;
        offset += length;
        rc->unlooked++;
        if (offset < total && rc->unlooked >= BURST) {
            look_at_arrivals(rc);
            if (soft_rc_state(rc) != IBV_QPS_RTS)
                return IBV_WC_WR_FLUSH_ERR;
        }
    } while (offset < total);
    return IBV_WC_SUCCESS;
}

static void complete(struct soft_rc *rc, const struct ibv_send_wr *wr, enum ibv_wc_status status, uint32_t length)
{
    struct ibv_wc wc = {.wr_id = wr->wr_id,
                        .status = status,
                        .opcode = completion_opcodes[wr->opcode],
                        .qp_num = rc->qp->number,
                        .byte_len = length};
    if (status || rc->qp->signal_all || (wr->send_flags & IBV_SEND_SIGNALED)) /* a failure is reported in any case */
        soft_cq_push(rc->qp->send_cq, &wc, false);
}

static enum ibv_wc_status perform(struct soft_rc *rc, const struct ibv_send_wr *wr, uint32_t length)
{
    if (wr->opcode == IBV_WR_BIND_MW)
        return soft_window_bind(rc->qp, wr->bind_mw.rkey, &wr->bind_mw.bind_info);
    if (wr->opcode == IBV_WR_LOCAL_INV)
        return soft_window_invalidate(rc->qp, wr->invalidate_rkey) ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
    return send_message(rc, wr, length);
}

int soft_uc_post_send(struct soft_rc *rc, struct ibv_send_wr **at)
{
    for (; *at; *at = (*at)->next) {
        uint32_t length;
        if (soft_rc_state(rc) != IBV_QPS_RTS) { /* a request before this one has failed */
            complete(rc, *at, IBV_WC_WR_FLUSH_ERR, 0);
            continue;
        }
        int refused = check(rc, *at, &length);
        if (refused)
            return refused;
        enum ibv_wc_status status = perform(rc, *at, length);
        if (status)
            soft_qp_send_failed(rc->qp);
        complete(rc, *at, status, length);
        if (rc->unlooked >= BURST) /* a program whose polls are full of such completions never looks by itself */
            look_at_arrivals(rc);
    }
    return 0;
}

/* These return whether the message goes on; one that does not keeps its receive, which the next message fills from the
 * beginning. */
static bool take_send(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    if (!soft_rc_draw_receive(rc))
        return false;
    enum ibv_wc_status status =
        soft_rc_scatter(rc, rc->receive_sge, rc->receive.num_sge, rc->received, payload, length);
    if (status == IBV_WC_LOC_LEN_ERR)
        return false;
    if (status) {
        soft_rc_complete_receive(rc, header, status, IBV_WC_RECV, 0);
        soft_rc_fail_locked(rc);
        return false;
    }
    if (header->opcode == SOFT_RC_SEND_INVALIDATE && header->flags & SOFT_RC_LAST &&
        !soft_window_invalidate(rc->qp, header->immediate))
        return false;
    rc->received += length;
    if (header->flags & SOFT_RC_LAST)
        soft_rc_complete_receive(rc, header, IBV_WC_SUCCESS, IBV_WC_RECV, (uint32_t)rc->received);
    return true;
}

static bool take_write(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    uint32_t total = ntohl(header->length), wanted = header->flags & SOFT_RC_FIRST ? total : length;
    if (!(rc->qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) || length > total)
        return false;
    char *memory = total ? soft_remote_memory(rc->qp, rc->pd, ntohl(header->rkey), be64toh(header->address), wanted,
                                              IBV_ACCESS_REMOTE_WRITE)
                         : NULL;
    if (total && !memory)
        return false;
    if (length)
        soft_rc_write_memory(memory, payload, length);
    if (!(header->flags & SOFT_RC_IMMEDIATE))
        return true;
    if (!soft_rc_draw_receive(rc))
        return false;
    soft_rc_complete_receive(rc, header, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM, total);
    return true;
}

void soft_uc_arrived(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    uint64_t psn = soft_rc_psn(rc->expected, ntohl(header->psn));
    bool first = header->flags & SOFT_RC_FIRST;
    if (rc->established && psn < rc->expected && rc->expected - psn <= LATE)
        return;
    soft_rc_establish(rc);
    if (psn != rc->expected || first)
        rc->in_message = first;
    rc->expected = psn + 1;
    if (first)
        rc->received = 0;
    if (!rc->in_message)
        return;
    bool send = header->opcode == SOFT_RC_SEND || header->opcode == SOFT_RC_SEND_INVALIDATE;
    bool goes_on = send ? take_send(rc, header, payload, length)
                        : header->opcode == SOFT_RC_WRITE && take_write(rc, header, payload, length);
    rc->in_message = goes_on && !(header->flags & SOFT_RC_LAST);
}
