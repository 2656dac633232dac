/* The requester of a reliable connection: InfiniBand Architecture 1.2.1, sections 9.7.2 to 9.7.5. What is
 * lost is sent again from the oldest packet on that nobody answered for ("go back"). */
#include "soft_cq.h"
#include "soft_rc.h"
#include "soft_window.h"
#include <errno.h>
#include <string.h>

enum { MS = 1000000, RETRY_FIRST = 8 * MS, RETRY_MOST = 200 * MS, GO_BACK_AGAIN = 1 * MS };
enum { GIVE_UP_SOONEST_MS = 1000, BUSY_PEER = 16, BUSY_PEER_MOST_MS = 30000 };

static const uint8_t wire_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = SOFT_RC_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = SOFT_RC_WRITE,
    [IBV_WR_SEND] = SOFT_RC_SEND,
    [IBV_WR_SEND_WITH_IMM] = SOFT_RC_SEND,
    [IBV_WR_RDMA_READ] = SOFT_RC_READ,
    [IBV_WR_ATOMIC_CMP_AND_SWP] = SOFT_RC_COMPARE_SWAP,
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = SOFT_RC_FETCH_ADD,
    [IBV_WR_SEND_WITH_INV] = SOFT_RC_SEND_INVALIDATE,
};

static const uint8_t completion_opcodes[] = {
    [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
    [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
    [IBV_WR_SEND] = IBV_WC_SEND,
    [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
    [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
    [IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
    [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
    [IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
    [IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
    [IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
};

void soft_rc_complete_head(struct soft_rc *rc, enum ibv_wc_status status)
{
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->head);
    rc->reading -= wqe->started;
    wqe->started = false;
    if (rc->cursor == rc->head)
        rc->cursor++;
    rc->head++;
    if (status == IBV_WC_SUCCESS && !wqe->signaled)
        return; /* a failure is reported in any case */
    struct ibv_wc wc = {.wr_id = wqe->wr_id,
                        .status = status,
                        .opcode = completion_opcodes[wqe->opcode],
                        .qp_num = rc->qp->number,
                        .byte_len = wqe->length};
    soft_rc_push(rc, rc->qp->send_cq, &wc, false);
}

void soft_rc_send_failed(struct soft_rc *rc, enum ibv_wc_status status)
{
    if (rc->head != rc->tail)
        soft_rc_complete_head(rc, status);
    soft_rc_fail_locked(rc);
}

/* What one request packet carries behind the header; -1 when memory is not registered. */
static int pieces(struct soft_rc *rc, uint32_t index, uint64_t offset, uint32_t length, struct iovec *iov,
                  struct soft_rc_operands *operands)
{
    const struct soft_rc_wqe *wqe = soft_rc_at(rc, index);
    if (wqe->opcode == IBV_WR_RDMA_READ)
        return 0;
    if (soft_rc_is_read(wqe)) {
        bool swap = wqe->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
        operands->compare = htobe64(swap ? wqe->compare_add : 0);
        operands->swap_or_add = htobe64(swap ? wqe->swap : wqe->compare_add);
        *iov = (struct iovec){operands, sizeof *operands};
        return 1;
    }
    if (wqe->is_inline) {
        *iov = (struct iovec){soft_rc_inline(rc, index) + offset, length};
        return 1;
    }
    return soft_rc_gather(rc, soft_rc_sges(rc, index), wqe->num_sge, offset, length, iov);
}

static uint8_t flags_of(const struct soft_rc_wqe *wqe, bool first, bool last)
{
    uint8_t flags = (uint8_t)((first ? SOFT_RC_FIRST : 0) | (last ? SOFT_RC_LAST : 0));
    if (last && wqe->solicited)
        flags |= SOFT_RC_SOLICITED;
    if (last && (wqe->opcode == IBV_WR_SEND_WITH_IMM || wqe->opcode == IBV_WR_RDMA_WRITE_WITH_IMM))
        flags |= SOFT_RC_IMMEDIATE;
    return flags;
}

/* Sends the packet at `next`, or asks for the part of a read that begins there. Returns the number of
 * packet numbers it takes; 0 when its memory is not there. */
static uint64_t send_next(struct soft_rc *rc)
{
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->cursor);
    uint64_t offset = (rc->next - wqe->first) * rc->mtu, left = wqe->length - offset, packets = 1, most = rc->mtu;
    if (wqe->opcode == IBV_WR_RDMA_READ) {
        uint64_t room = rc->una + SOFT_RC_WINDOW - rc->next;
        packets = wqe->end - rc->next;
        packets = packets < SOFT_RC_READ_PACKETS ? packets : SOFT_RC_READ_PACKETS;
        packets = packets < room ? packets : room;
        most = packets * rc->mtu;
    }
    uint32_t length = (uint32_t)(left < most ? left : most);
    struct iovec iov[1 + SOFT_MAX_SGE];
    struct soft_rc_operands operands;
    int count = pieces(rc, rc->cursor, offset, length, iov + 1, &operands);
    if (unlikely(count < 0))
        return 0;
    struct soft_rc_wire header = rc->header;
    header.opcode = wire_opcodes[wqe->opcode];
    header.flags = flags_of(wqe, rc->next == wqe->first, rc->next + packets == wqe->end);
    header.psn = htonl((uint32_t)rc->next & 0xffffff);
    header.rkey = htonl(wqe->rkey);
    header.address = htobe64(wqe->remote_address + offset);
    header.length = htonl(wqe->opcode == IBV_WR_RDMA_READ ? length : wqe->length);
    header.immediate = wqe->immediate;
    return soft_rc_transmit(rc, &header, iov, 1 + (unsigned)count) ? 0 : packets;
}

static enum ibv_wc_status do_here(struct soft_rc *rc, uint32_t index)
{
    const struct soft_rc_wqe *wqe = soft_rc_at(rc, index);
    if (wqe->opcode == IBV_WR_LOCAL_INV)
        return soft_window_invalidate(rc->qp, wqe->rkey) ? IBV_WC_SUCCESS : IBV_WC_MW_BIND_ERR;
    return soft_window_bind(rc->qp, wqe->rkey,
                            &(struct ibv_mw_bind_info){.mr = (struct ibv_mr *)(uintptr_t)wqe->swap,
                                                       .addr = wqe->remote_address,
                                                       .length = wqe->compare_add,
                                                       .mw_access_flags = soft_rc_sges(rc, index)->lkey});
}

/* A local request is carried out once all requests before it are acknowledged: so it is the oldest, it is never
 * repeated, and the requests behind it have nothing to wait for. */
__attribute__((noinline)) static bool may_send_other(struct soft_rc *rc)
{
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->cursor);
    for (; soft_rc_is_local(wqe->opcode); wqe = soft_rc_at(rc, rc->cursor)) {
        if (rc->cursor != rc->head || rc->held)
            return false;
        enum ibv_wc_status status = do_here(rc, rc->cursor);
        if (status) {
            soft_rc_send_failed(rc, status);
            return false;
        }
        soft_rc_complete_head(rc, IBV_WC_SUCCESS);
        if (rc->cursor == rc->tail)
            return false;
    }
    if (!soft_rc_is_read(wqe))
        return true;
    if (rc->reading >= rc->qp->attr.max_rd_atomic)
        return false;
    wqe->started = true;
    rc->reading++;
    return true;
}

/* Whether the request at the cursor may begin or go on. */
static bool may_send(struct soft_rc *rc)
{
    struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->cursor);
    if (wqe->started)
        return true;
    if (rc->held && rc->next == wqe->first && rc->next >= rc->sent)
        return false;
    if (unlikely(wqe->fence) && rc->reading)
        return false;
    _Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_SEND_WITH_IMM == 3 && IBV_WR_RDMA_READ == 4,
                   "the usual ones are the first; ABI");
    return likely(wqe->opcode <= IBV_WR_SEND_WITH_IMM) || may_send_other(rc);
}

void soft_rc_pump(struct soft_rc *rc)
{
    unsigned window = rc->probing ? 1 : SOFT_RC_WINDOW;
    bool idle = rc->una == rc->sent;
    while (rc->cursor != rc->tail && rc->next - rc->una < window && !rc->receiver_ready_at && may_send(rc)) {
        uint64_t taken = send_next(rc);
        if (unlikely(!taken)) {
            /* The requests before it must be answered first: it fails when it is the oldest. */
            if (rc->cursor == rc->head)
                soft_rc_send_failed(rc, IBV_WC_LOC_PROT_ERR);
            break;
        }
        rc->next += taken;
        if (rc->next > rc->sent)
            rc->sent = rc->next;
        if (rc->next == soft_rc_at(rc, rc->cursor)->end)
            rc->cursor++;
    }
    if (idle && rc->next != rc->una) {
        rc->progress_at = soft_rc_now();
        rc->retry_after = RETRY_FIRST;
        rc->retry_at = rc->progress_at + rc->retry_after;
    }
}

void soft_rc_go_back(struct soft_rc *rc)
{
    for (uint32_t i = rc->head; i != rc->tail && soft_rc_at(rc, i)->first < rc->next; i++) {
        rc->reading -= soft_rc_at(rc, i)->started;
        soft_rc_at(rc, i)->started = false;
    }
    rc->next = rc->una;
    rc->cursor = rc->head;
}

/* On a sign that the packet at `una` is lost; the signs come in crowds, so each is believed once in a while. */
static void go_back_once(struct soft_rc *rc)
{
    uint64_t now = soft_rc_now();
    if (rc->went_back_from == rc->una && now - rc->went_back_at < GO_BACK_AGAIN)
        return;
    rc->went_back_from = rc->una;
    rc->went_back_at = now;
    soft_rc_go_back(rc);
}

static void progress(struct soft_rc *rc)
{
    rc->probing = false;
    /* it has taken a packet since: of a message that is begun at the receiver the rest has to follow before the
     * queue rests */
    rc->receiver_ready_at = 0;
    rc->progress_at = soft_rc_now();
    rc->retry_after = RETRY_FIRST;
    rc->retry_at = rc->progress_at + rc->retry_after;
    rc->rnr_left = rc->qp->attr.rnr_retry;
}

static void advance(struct soft_rc *rc, uint64_t una)
{
    rc->una = una;
    if (una == soft_rc_at(rc, rc->head)->end)
        soft_rc_complete_head(rc, IBV_WC_SUCCESS);
    if (rc->next < una) { /* an answer to a packet that was about to be sent again */
        rc->next = una;
        rc->cursor = rc->head;
    }
}

/* All before `psn` was taken. Returns false when a read or atomic among it still has no answer. */
static bool acknowledged(struct soft_rc *rc, uint64_t psn)
{
    uint64_t before = rc->una;
    while (rc->una < psn && rc->head != rc->tail) {
        const struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->head);
        if (soft_rc_is_read(wqe))
            break;
        advance(rc, psn < wqe->end ? psn : wqe->end);
    }
    if (rc->una != before)
        progress(rc);
    return rc->una >= psn;
}

static void take_read(struct soft_rc *rc, const char *payload, uint32_t length)
{
    const struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->head);
    uint64_t offset = (rc->una - wqe->first) * rc->mtu, left = wqe->length - offset;
    if (length != (left < rc->mtu ? left : rc->mtu))
        return;
    enum ibv_wc_status status = soft_rc_scatter(rc, soft_rc_sges(rc, rc->head), wqe->num_sge, offset, payload, length);
    if (unlikely(status)) {
        soft_rc_send_failed(rc, status);
        return;
    }
    advance(rc, rc->una + 1);
    progress(rc);
}

static void take_atomic(struct soft_rc *rc, uint64_t value)
{
    const struct soft_rc_wqe *wqe = soft_rc_at(rc, rc->head);
    enum ibv_wc_status status =
        soft_rc_scatter(rc, soft_rc_sges(rc, rc->head), wqe->num_sge, 0, (const char *)&value, sizeof value);
    if (unlikely(status)) {
        soft_rc_send_failed(rc, status);
        return;
    }
    advance(rc, rc->una + 1);
    progress(rc);
}

static void take_response(struct soft_rc *rc, const struct soft_rc_wire *header, uint64_t psn, const char *payload,
                          uint32_t length)
{
    if (psn < rc->una)
        return;
    if (!acknowledged(rc, psn)) {
        go_back_once(rc); /* the answer of an earlier read is lost */
        return;
    }
    if (rc->head == rc->tail || psn != rc->una)
        return;
    uint8_t opcode = soft_rc_at(rc, rc->head)->opcode;
    if (header->opcode == SOFT_RC_READ_RESPONSE && opcode == IBV_WR_RDMA_READ)
        take_read(rc, payload, length);
    else if (header->opcode == SOFT_RC_ATOMIC_RESPONSE && opcode != IBV_WR_RDMA_READ &&
             soft_rc_is_read(soft_rc_at(rc, rc->head)))
        take_atomic(rc, be64toh(header->value));
}

/* InfiniBand Architecture 1.2.1, table 45: timer codes in units of 10 microseconds. */
static uint64_t receiver_timer(unsigned code)
{
    static const uint16_t units[32] = {0,    1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                       48,   64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                       2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return (code ? units[code] : 65536u) * 10000ull;
}

static void receiver_not_ready(struct soft_rc *rc, unsigned timer_code)
{
    if (rc->receiver_ready_at)
        return; /* the rest of what was under way with it */
    if (rc->qp->attr.rnr_retry != 7 && !rc->rnr_left--) {
        soft_rc_send_failed(rc, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    soft_rc_go_back(rc);
    rc->progress_at = soft_rc_now();
    rc->receiver_ready_at = rc->progress_at + receiver_timer(timer_code);
}

static void refused(struct soft_rc *rc, uint64_t psn, uint32_t code)
{
    if (psn < rc->una)
        return;
    if (!acknowledged(rc, psn)) {
        go_back_once(rc);
        return;
    }
    if (rc->head == rc->tail)
        return;
    if (code & SOFT_RC_RNR) {
        receiver_not_ready(rc, code & 31);
        return;
    }
    switch ((enum soft_rc_nak)code) {
    case SOFT_RC_NAK_SEQUENCE:
        go_back_once(rc);
        break;
    case SOFT_RC_NAK_INVALID:
        soft_rc_send_failed(rc, IBV_WC_REM_INV_REQ_ERR);
        break;
    case SOFT_RC_NAK_ACCESS:
        soft_rc_send_failed(rc, IBV_WC_REM_ACCESS_ERR);
        break;
    case SOFT_RC_NAK_OPERATION:
        soft_rc_send_failed(rc, IBV_WC_REM_OP_ERR);
        break;
    case SOFT_RC_RNR:
        break; /* above */
    }
}

void soft_rc_answered(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    uint64_t psn = soft_rc_psn(rc->una, ntohl(header->psn));
    if (psn >= rc->sent + (header->opcode == SOFT_RC_NAK) || soft_rc_state(rc) != IBV_QPS_RTS)
        return; /* of an earlier connection */
    if (header->opcode == SOFT_RC_ACK) {
        if (!acknowledged(rc, psn + 1))
            go_back_once(rc);
    } else if (header->opcode == SOFT_RC_NAK) {
        refused(rc, psn, ntohl(header->code));
    } else {
        take_response(rc, header, psn, payload, length);
    }
}

static uint64_t longer(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ibv_modify_qp(3): 4.096 microseconds times two to the power of `timeout`, 0 being for ever. A device may wait
 * four times as long (InfiniBand Architecture 1.2.1, section 9.7.6.1.3), and answers at once, whatever the processors
 * do. Here they answer: where they are busy with hundreds of connections beside other programs, or a restored process
 * waits for its memory to be read, that takes seconds, in which a program must not lose a connection that stands. */
static bool is_lost(const struct soft_rc *rc, uint64_t now)
{
    const struct ibv_qp_attr *attr = &rc->qp->attr;
    if (!attr->timeout)
        return false;
    uint64_t device = (4096ull << attr->timeout) * 4 * (attr->retry_cnt + 1u), most = BUSY_PEER_MOST_MS * (uint64_t)MS;
    uint64_t busy = device < most / BUSY_PEER ? device * BUSY_PEER : most;
    return now - rc->progress_at > longer(longer(device, busy), GIVE_UP_SOONEST_MS * (uint64_t)MS);
}

/* The engine comes every few milliseconds. Where it comes a second late, this process stood still (a debugger,
 * SIGSTOP), and nobody can say whether the peer has answered: it gets the time to. */
static void forgive_standstill(struct soft_rc *rc, uint64_t now)
{
    uint64_t late = now - rc->retry_at;
    if (late > GIVE_UP_SOONEST_MS * (uint64_t)MS)
        rc->progress_at += late;
}

void soft_rc_tick(struct soft_rc *rc, uint64_t now)
{
    if (soft_rc_state(rc) != IBV_QPS_RTS)
        return;
    if (rc->receiver_ready_at) {
        if (now < rc->receiver_ready_at || rc->held)
            return;
        rc->receiver_ready_at = 0;
        rc->retry_at = now + rc->retry_after;
    } else if (rc->una == rc->next || now < rc->retry_at) {
        return;
    } else {
        forgive_standstill(rc, now);
        if (is_lost(rc, now)) {
            soft_rc_send_failed(rc, IBV_WC_RETRY_EXC_ERR);
            return;
        }
        soft_rc_go_back(rc);
        rc->probing = true;
        rc->retry_after = rc->retry_after < RETRY_MOST / 2 ? 2 * rc->retry_after : RETRY_MOST;
        rc->retry_at = now + rc->retry_after;
    }
    soft_rc_pump(rc);
}
