/* The responder of a reliable connection: takes each packet number once, in order, and answers it
 * (InfiniBand Architecture 1.2.1, section 9.7.4 and 9.7.5). */
#include "soft_cq.h"
#include "soft_memory.h"
#include "soft_rc.h"
#include "soft_receive_path.h"
#include "soft_rq.h"
#include "soft_window.h"
#include <string.h>

static void answer(struct soft_rc *rc, enum soft_rc_opcode opcode, uint64_t psn, uint32_t code)
{
    struct soft_rc_wire header = rc->header;
    struct iovec iov[1];
    header.opcode = opcode;
    header.psn = htonl((uint32_t)psn & 0xffffff);
    header.code = htonl(code);
    soft_rc_transmit(rc, &header, iov, 1);
}

void soft_rc_acknowledge(struct soft_rc *rc)
{
    if (rc->nak_due)
        answer(rc, SOFT_RC_NAK, rc->expected, SOFT_RC_NAK_SEQUENCE);
    else if (rc->ack_due)
        answer(rc, SOFT_RC_ACK, rc->expected - 1, 0);
    rc->ack_due = rc->nak_due = false;
}

/* A request that is wrong ends the connection on both sides. */
static void refuse(struct soft_rc *rc, enum soft_rc_nak code)
{
    rc->ack_due = rc->nak_due = false;
    answer(rc, SOFT_RC_NAK, rc->expected, code);
    rc->has_refused = true;
    rc->refusal = code;
    soft_rc_fail_locked(rc);
}

/* The same, where no work request of this side completes with an error that tells of it. */
static void refuse_quietly(struct soft_rc *rc, enum soft_rc_nak code)
{
    soft_rc_event(rc, code == SOFT_RC_NAK_ACCESS ? IBV_EVENT_QP_ACCESS_ERR : IBV_EVENT_QP_REQ_ERR);
    refuse(rc, code);
}

bool soft_rc_draw_receive(struct soft_rc *rc)
{
    struct soft_rq *rq = rc->rq;
    if (rc->has_receive)
        return true;
    soft_lock(&rq->lock);
    if (!soft_rq_empty(rq)) {
        uint32_t at = rq->head & rq->mask;
        rc->receive = rq->wqe[at];
        memcpy(rc->receive_sge, &rq->sge[at * rq->max_sge], (size_t)rc->receive.num_sge * sizeof *rc->receive_sge);
        soft_rq_take(rq);
        rc->has_receive = true;
        if (rc->srq)
            soft_check_limit(rc->srq);
    }
    soft_unlock(&rq->lock);
    return rc->has_receive;
}

static bool take_receive(struct soft_rc *rc)
{
    if (soft_rc_draw_receive(rc))
        return true;
    soft_rc_acknowledge(rc); /* of what came before it */
    answer(rc, SOFT_RC_NAK, rc->expected, SOFT_RC_RNR | (rc->qp->attr.min_rnr_timer & 31u));
    return false;
}

void soft_rc_complete_receive(struct soft_rc *rc, const struct soft_rc_wire *header, enum ibv_wc_status status,
                              enum ibv_wc_opcode opcode, uint32_t length)
{
    struct ibv_wc wc = {.wr_id = rc->receive.wr_id,
                        .status = status,
                        .opcode = opcode,
                        .byte_len = length,
                        .qp_num = rc->qp->number,
                        .src_qp = rc->peer,
                        .slid = rc->peer_lid,
                        .sl = rc->qp->attr.ah_attr.sl};
    if (header->flags & SOFT_RC_IMMEDIATE) {
        wc.wc_flags = IBV_WC_WITH_IMM;
        wc.imm_data = header->immediate;
    } else if (header->opcode == SOFT_RC_SEND_INVALIDATE && status == IBV_WC_SUCCESS) {
        wc.wc_flags = IBV_WC_WITH_INV;
        wc.invalidated_rkey = header->immediate;
    }
    rc->has_receive = false;
    soft_rc_push(rc, rc->recv_cq, &wc, header->flags & SOFT_RC_SOLICITED);
}

static void taken(struct soft_rc *rc)
{
    rc->expected++;
    rc->ack_due = true;
}

static void take_send(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    if (header->flags & SOFT_RC_FIRST)
        rc->received = 0;
    if (!take_receive(rc))
        return;
    enum ibv_wc_status status =
        soft_rc_scatter(rc, rc->receive_sge, rc->receive.num_sge, rc->received, payload, length);
    if (unlikely(status)) {
        soft_rc_complete_receive(rc, header, status, IBV_WC_RECV, 0);
        refuse(rc, status == IBV_WC_LOC_LEN_ERR ? SOFT_RC_NAK_INVALID : SOFT_RC_NAK_OPERATION);
        return;
    }
    if (header->opcode == SOFT_RC_SEND_INVALIDATE && header->flags & SOFT_RC_LAST &&
        !soft_window_invalidate(rc->qp, header->immediate)) {
        refuse_quietly(rc, SOFT_RC_NAK_ACCESS);
        return;
    }
    rc->received += length;
    taken(rc);
    if (header->flags & SOFT_RC_LAST)
        soft_rc_complete_receive(rc, header, IBV_WC_SUCCESS, IBV_WC_RECV, (uint32_t)rc->received);
}

/* Into memory whose program is not told of it: what tells it is outside, so that ThreadSanitizer cannot see an
 * order. */
#ifdef __SANITIZE_THREAD__
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#else
static inline void AnnotateIgnoreWritesBegin(const char *file, int line)
{
}
static inline void AnnotateIgnoreWritesEnd(const char *file, int line)
{
}
#endif

/* The last bytes come last, and at once where they may be one number: programs wait for them to change while another
 * thread writes here. */
void soft_rc_write_memory(char *to, const char *from, uint32_t length)
{
    uint32_t end = length < 8 || length % 8 ? 1 : 8;
    if (length == 2 || length == 4)
        end = length;
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    memcpy(to, from, length - end);
    atomic_thread_fence(memory_order_release); /* on x86 the compiler alone has to keep to it */
    to += length - end, from += length - end;
    switch (end) {
    case 8:
        memcpy(to, from, 8);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    default:
        *to = *from;
    }
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
}

static void take_write(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    uint32_t total = ntohl(header->length), key = ntohl(header->rkey);
    uint64_t address = be64toh(header->address);
    if (unlikely(!(rc->qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE))) {
        refuse_quietly(rc, SOFT_RC_NAK_INVALID);
        return;
    }
    /* A message that does not fit as a whole is not written at all; the key of an empty write is not checked. */
    bool first = header->flags & SOFT_RC_FIRST;
    char *memory =
        total ? soft_remote_memory(rc->qp, rc->pd, key, address, first ? total : length, IBV_ACCESS_REMOTE_WRITE)
              : NULL;
    if (unlikely((total && !memory) || length > total)) {
        refuse_quietly(rc, SOFT_RC_NAK_ACCESS);
        return;
    }
    if ((header->flags & SOFT_RC_IMMEDIATE) && !take_receive(rc))
        return;
    if (length)
        soft_rc_write_memory(memory, payload, length);
    taken(rc);
    if (header->flags & SOFT_RC_IMMEDIATE)
        soft_rc_complete_receive(rc, header, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM, total);
}

/* Sends the answers of a read; again, and from anywhere in it, when they were lost. */
static void answer_read(struct soft_rc *rc, const struct soft_rc_wire *request, uint64_t psn)
{
    uint32_t length = ntohl(request->length);
    char *memory = length ? soft_remote_memory(rc->qp, rc->pd, ntohl(request->rkey), be64toh(request->address), length,
                                               IBV_ACCESS_REMOTE_READ)
                          : NULL;
    if (unlikely(!(rc->qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ))) {
        refuse_quietly(rc, SOFT_RC_NAK_INVALID);
        return;
    }
    if (unlikely((length && !memory) || length > SOFT_RC_READ_PACKETS * rc->mtu)) {
        refuse_quietly(rc, SOFT_RC_NAK_ACCESS);
        return;
    }
    uint64_t end = psn + (length ? (length + rc->mtu - 1) / rc->mtu : 1);
    if (end > rc->expected)
        rc->expected = end;
    for (; psn < end; psn++) {
        uint32_t part = length < rc->mtu ? length : rc->mtu;
        struct soft_rc_wire header = rc->header;
        struct iovec iov[2] = {[1] = {memory, part}};
        header.opcode = SOFT_RC_READ_RESPONSE;
        header.psn = htonl((uint32_t)psn & 0xffffff);
        if (unlikely(soft_rc_transmit(rc, &header, iov, part ? 2 : 1))) {
            refuse_quietly(rc, SOFT_RC_NAK_OPERATION); /* nothing is mapped there any more */
            return;
        }
        if (part) /* nothing was asked for: there is no memory */
            memory += part;
        length -= part;
    }
}

static void answer_atomic(struct soft_rc *rc, uint64_t psn, uint64_t value)
{
    struct soft_rc_wire header = rc->header;
    struct iovec iov[1];
    header.opcode = SOFT_RC_ATOMIC_RESPONSE;
    header.psn = htonl((uint32_t)psn & 0xffffff);
    header.value = htobe64(value);
    soft_rc_transmit(rc, &header, iov, 1);
}

static void take_atomic(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    struct soft_rc_operands operands;
    uint64_t address = be64toh(header->address);
    if (unlikely(!(rc->qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) || length != sizeof operands ||
                 address % 8)) {
        refuse_quietly(rc, SOFT_RC_NAK_INVALID);
        return;
    }
    uint64_t *memory =
        (uint64_t *)soft_remote_memory(rc->qp, rc->pd, ntohl(header->rkey), address, 8, IBV_ACCESS_REMOTE_ATOMIC);
    if (unlikely(!memory)) {
        refuse_quietly(rc, SOFT_RC_NAK_ACCESS);
        return;
    }
    memcpy(&operands, payload, sizeof operands);
    uint64_t found = be64toh(operands.compare), operand = be64toh(operands.swap_or_add);
    if (header->opcode == SOFT_RC_FETCH_ADD)
        found = __atomic_fetch_add(memory, operand, __ATOMIC_SEQ_CST);
    else
        __atomic_compare_exchange_n(memory, &found, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    unsigned place = rc->atomics.next++ % SOFT_RC_ATOMICS;
    rc->atomics.last[place].psn = rc->expected;
    rc->atomics.last[place].value = found;
    answer_atomic(rc, rc->expected++, found);
}

/* ibv_get_async_event(3): the first packet of a QP that is only ready to receive. */
void soft_rc_establish(struct soft_rc *rc)
{
    if (likely(rc->established))
        return;
    rc->established = true;
    if (soft_rc_state(rc) == IBV_QPS_RTR)
        soft_rc_event(rc, IBV_EVENT_COMM_EST);
}

/* A packet that was taken before: its answer was lost. Reads are done again, atomics are answered from memory. */
static void take_again(struct soft_rc *rc, const struct soft_rc_wire *header, uint64_t psn)
{
    switch (header->opcode) {
    case SOFT_RC_READ:
        answer_read(rc, header, psn);
        break;
    case SOFT_RC_COMPARE_SWAP:
    case SOFT_RC_FETCH_ADD:
        for (unsigned i = 0; i < SOFT_RC_ATOMICS; i++)
            if (rc->atomics.last[i].psn == psn)
                answer_atomic(rc, psn, rc->atomics.last[i].value);
        break;
    default:
        rc->ack_due = true;
    }
}

void soft_rc_requested_of_nobody(struct soft_rc *rc, const struct soft_rc_wire *header)
{
    uint64_t psn = soft_rc_psn(rc->expected, ntohl(header->psn));
    if (rc->has_refused || psn != rc->expected)
        soft_rc_requested(rc, header, NULL, 0);
    else
        refuse_quietly(rc, SOFT_RC_NAK_INVALID);
}

void soft_rc_requested(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    uint64_t psn = soft_rc_psn(rc->expected, ntohl(header->psn));
    if (unlikely(rc->has_refused)) { /* the refusal was lost, and what was taken before it may be sent again first */
        answer(rc, SOFT_RC_NAK, rc->expected, rc->refusal);
        return;
    }
    if (psn != rc->expected) {
        if (psn > rc->expected)
            rc->nak_due = true;
        else
            take_again(rc, header, psn);
        return;
    }
    soft_rc_establish(rc);
    switch (header->opcode) {
    case SOFT_RC_SEND:
    case SOFT_RC_SEND_INVALIDATE:
        take_send(rc, header, payload, length);
        break;
    case SOFT_RC_WRITE:
        take_write(rc, header, payload, length);
        break;
    case SOFT_RC_READ:
        answer_read(rc, header, psn);
        break;
    default:
        take_atomic(rc, header, payload, length);
    }
}
