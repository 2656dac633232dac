/* XRC from the process to itself: one connection to two shared queues, each with a completion queue of its own. As of
 * reliable connections, a model says which requests can complete: one whose queue has no receive waits, and with it all
 * behind it, whatever queue they are for. */
#include "verbs_walk.h"
#include <fcntl.h>
#include <time.h>

enum { QUEUES = 2, SLOT = 8192, SLOTS = 16, RECEIVE_SLOTS = 8, TARGET = 8, QUEUED = 24, WAIT_S = 30, LENGTH = 5000 };
enum { RIGHTS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

struct request {
    int queue, wants_receive, signaled;
};

static struct xrc {
    struct ibv_xrcd *domain; /* NULL: there is none now */
    struct ibv_qp *initiator, *target;
    struct ibv_qp_ex *ex;
    struct ibv_cq *sent;
    struct queue {
        struct ibv_cq *cq;
        struct ibv_srq *srq;
        uint32_t number;
        unsigned posted, slot;
    } queues[QUEUES];
    struct request requests[QUEUED];
    unsigned queued, next;
} xrc;

static char *memory, *source;
static struct ibv_mr *mr;

static char *at(int queue, unsigned slot)
{
    return memory + ((size_t)queue * SLOTS + slot) * SLOT;
}

static void make_queue(struct queue *q)
{
    NEED(q->cq = ibv_create_cq(walk.context, 256, NULL, NULL, 0));
    struct ibv_srq_init_attr_ex init = {.attr = {.max_wr = 16, .max_sge = 2},
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = walk.pd,
                                        .xrcd = xrc.domain,
                                        .cq = q->cq,
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
                                                     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ};
    NEED(q->srq = ibv_create_srq_ex(walk.context, &init));
    NEED(!ibv_get_srq_num(q->srq, &q->number));
}

/* So many completions; i < 0: of the initiator. */
static void take(struct ibv_cq *cq, int i, unsigned count)
{
    struct timespec now, limit;
    clock_gettime(CLOCK_MONOTONIC, &limit);
    limit.tv_sec += WAIT_S;
    while (count) {
        struct ibv_wc wc;
        int got = ibv_poll_cq(cq, 1, &wc);
        clock_gettime(CLOCK_MONOTONIC, &now);
        NEED(got >= 0 && now.tv_sec < limit.tv_sec);
        if (!got)
            continue;
        count--;
        printf(" [%d %lu: %d", i, (unsigned long)wc.wr_id, wc.status);
        NEED(wc.qp_num == (i < 0 ? xrc.initiator->qp_num : xrc.target->qp_num));
        if (i >= 0)
            printf(" opcode %d bytes %u imm %u first %d", wc.opcode, wc.byte_len,
                   wc.wc_flags & IBV_WC_WITH_IMM ? be32toh(wc.imm_data) : 0,
                   wc.opcode == IBV_WC_RECV && wc.byte_len ? at(i, (unsigned)wc.wr_id)[0] : 0);
        printf("]");
    }
}

/* What nobody asked to hear of has been done when a later request is. */
static void flush(void)
{
    struct ibv_sge sge = {(uintptr_t)at(0, SLOTS - 1), 8, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = xrc.next++,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_READ,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)at(0, TARGET), mr->rkey}},
                       *bad;
    wr.qp_type.xrc.remote_srqn = xrc.queues[0].number;
    NEED(!ibv_post_send(xrc.initiator, &wr, &bad));
    take(xrc.sent, -1, 1);
}

static void connect_ends(void)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = RIGHTS};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = xrc.target->qp_num,
                              .rq_psn = 3,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = 1,
                              .ah_attr = {.dlid = walk.lid, .port_num = 1}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .sq_psn = 3, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
    int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    NEED(!ibv_modify_qp(xrc.initiator, &init, to_init) && !ibv_modify_qp(xrc.target, &init, to_init));
    NEED(!ibv_modify_qp(xrc.initiator, &rtr, to_rtr));
    rtr.dest_qp_num = xrc.initiator->qp_num;
    NEED(!ibv_modify_qp(xrc.target, &rtr, to_rtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    NEED(!ibv_modify_qp(xrc.initiator, &rts,
                        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                            IBV_QP_MAX_QP_RD_ATOMIC));
    if (pick(2)) {
        NEED(!ibv_modify_qp(xrc.target, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT));
    } else { /* the first request is an event, and no other one. What came before is told before: events of one object
              * have no order among those of another, ibv_get_async_event(3). */
        walk_async();
        flush();
        walk_async();
    }
}

static void make(void)
{
    struct ibv_xrcd_init_attr domain = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    if (!mr) {
        size_t bytes = (size_t)(QUEUES * SLOTS + 1) * SLOT;
        NEED(memory = aligned_alloc(4096, bytes));
        NEED(mr = ibv_reg_mr(walk.pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | RIGHTS));
        source = at(QUEUES, 0);
    }
    xrc = (struct xrc){0};
    memset(memory, 0, (size_t)(QUEUES * SLOTS + 1) * SLOT);
    NEED(xrc.domain = ibv_open_xrcd(walk.context, &domain));
    NEED(xrc.sent = ibv_create_cq(walk.context, 256, NULL, NULL, 0));
    struct ibv_qp_init_attr_ex target = {
        .qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrc.domain};
    struct ibv_qp_init_attr_ex initiator = {.qp_type = IBV_QPT_XRC_SEND,
                                            .send_cq = xrc.sent,
                                            .cap = {64, 0, 2, 0, INLINE},
                                            .pd = walk.pd,
                                            .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                            .send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM};
    NEED(xrc.target = ibv_create_qp_ex(walk.context, &target));
    NEED(xrc.initiator = ibv_create_qp_ex(walk.context, &initiator));
    NEED(xrc.ex = ibv_qp_to_qp_ex(xrc.initiator));
    for (int i = 0; i < QUEUES; i++)
        make_queue(&xrc.queues[i]);
    connect_ends();
    printf(" made");
}

static void end_queue(struct queue *q)
{
    NEED(!ibv_destroy_srq(q->srq) && !ibv_destroy_cq(q->cq));
    *q = (struct queue){0};
}

static void end(void)
{
    flush();
    NEED(ibv_close_xrcd(xrc.domain)); /* it is in use */
    NEED(!ibv_destroy_qp(xrc.initiator) && !ibv_destroy_qp(xrc.target));
    for (int i = 0; i < QUEUES; i++)
        end_queue(&xrc.queues[i]);
    NEED(!ibv_destroy_cq(xrc.sent) && !ibv_close_xrcd(xrc.domain));
    xrc = (struct xrc){0};
    printf(" ended");
}

/* What can complete now does. The last one that nobody asked to hear of may be under way still: the next ones tell. */
static void settle(void)
{
    unsigned done = 0, sent = 0, received[QUEUES] = {0};
    for (; done < xrc.queued; done++) {
        const struct request *request = &xrc.requests[done];
        struct queue *q = &xrc.queues[request->queue];
        if (request->wants_receive && !q->posted)
            break;
        if (request->wants_receive) {
            q->posted--;
            received[request->queue]++;
        }
        sent += request->signaled != 0;
    }
    memmove(xrc.requests, xrc.requests + done, (xrc.queued - done) * sizeof *xrc.requests);
    xrc.queued -= done;
    take(xrc.sent, -1, sent);
    for (int i = 0; i < QUEUES; i++)
        take(xrc.queues[i].cq, i, received[i]);
}

static void receive(void)
{
    int i = (int)pick(QUEUES);
    struct queue *q = &xrc.queues[i];
    for (unsigned count = 1 + pick(3); count && q->posted < RECEIVE_SLOTS; count--) {
        unsigned slot = q->slot++ % RECEIVE_SLOTS;
        struct ibv_sge sge = {(uintptr_t)at(i, slot), SLOT, mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
        NEED(!ibv_post_srq_recv(q->srq, &wr, &bad));
        q->posted++;
    }
    printf(" receives %d", i);
}

static void queued(int i, int wants_receive, int signaled)
{
    xrc.requests[xrc.queued++] = (struct request){i, wants_receive, signaled};
}

/* All that waits is read when it is sent, so the memory that it is read from stays as it is until then. */
static int writes_source(void)
{
    if (xrc.queued)
        return 0;
    memset(source, (int)(1 + xrc.next % 100), SLOT);
    return 1;
}

static void send(void)
{
    int i = (int)pick(QUEUES), extended = (int)pick(2), immediate = extended || pick(2);
    uint32_t length = pick(LENGTH);
    struct ibv_sge sge = {(uintptr_t)source, length, mr->lkey};
    struct ibv_send_wr wr = {.wr_id = xrc.next,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED | (length <= INLINE ? IBV_SEND_INLINE : 0),
                             .imm_data = htobe32(xrc.next)},
                       *bad;
    writes_source();
    if (extended) {
        ibv_wr_start(xrc.ex);
        xrc.ex->wr_id = xrc.next;
        xrc.ex->wr_flags = IBV_SEND_SIGNALED;
        ibv_wr_send_imm(xrc.ex, htobe32(xrc.next));
        ibv_wr_set_xrc_srqn(xrc.ex, xrc.queues[i].number);
        ibv_wr_set_sge(xrc.ex, mr->lkey, (uintptr_t)source, length);
        NEED(!ibv_wr_complete(xrc.ex));
    } else {
        wr.qp_type.xrc.remote_srqn = xrc.queues[i].number;
        NEED(!ibv_post_send(xrc.initiator, &wr, &bad));
    }
    xrc.next++;
    queued(i, 1, 1);
    printf(" sends %u to %d", length, i);
}

static void one_sided(void)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
                                                 IBV_WR_ATOMIC_FETCH_AND_ADD};
    int i = (int)pick(QUEUES);
    enum ibv_wr_opcode opcode = opcodes[pick(4)];
    int atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD, read = atomic || opcode == IBV_WR_RDMA_READ;
    struct ibv_sge sge = {(uintptr_t)(read ? at(i, SLOTS - 1) : source), atomic ? 8 : pick(LENGTH), mr->lkey};
    struct ibv_send_wr wr = {.wr_id = xrc.next,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = pick(2) ? IBV_SEND_SIGNALED : 0,
                             .imm_data = htobe32(xrc.next)},
                       *bad;
    writes_source();
    if (atomic) {
        wr.wr.atomic.remote_addr = (uintptr_t)at(i, TARGET + 1);
        wr.wr.atomic.rkey = mr->rkey;
        wr.wr.atomic.compare_add = 1 + pick(1000);
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)at(i, TARGET);
        wr.wr.rdma.rkey = mr->rkey;
    }
    wr.qp_type.xrc.remote_srqn = xrc.queues[i].number;
    NEED(!ibv_post_send(xrc.initiator, &wr, &bad));
    xrc.next++;
    queued(i, opcode == IBV_WR_RDMA_WRITE_WITH_IMM, (wr.send_flags & IBV_SEND_SIGNALED) != 0);
    printf(" opcode %d to %d", opcode, i);
}

/* By one with another number. */
static void replace_queue(void)
{
    struct queue *q = &xrc.queues[pick(QUEUES)];
    uint32_t before = q->number;
    flush();
    end_queue(q);
    make_queue(q);
    printf(" queue %d replaced %d", (int)(q - xrc.queues), q->number == before);
}

static void say_memory(void)
{
    unsigned sum = 0;
    for (int i = 0; i < QUEUES; i++)
        for (const char *byte = at(i, TARGET); byte < at(i, TARGET + 2); byte++)
            sum = sum * 31 + (unsigned char)*byte;
    printf(" memory %x", sum);
}

void walk_xrc(void)
{
    unsigned kind = pick(20);
    printf("xrc");
    if (!xrc.domain) {
        make();
        return;
    }
    int room = xrc.queued + 2 < QUEUED, idle = !xrc.queued;
    if (kind == 0 && idle)
        end();
    else if (kind == 1 && idle)
        replace_queue();
    else if (kind < 8)
        receive();
    else if (kind < 14 && room)
        send();
    else if (kind < 18 && room)
        one_sided();
    else if (idle) {
        flush();
        say_memory();
    }
    if (xrc.domain)
        settle();
}
