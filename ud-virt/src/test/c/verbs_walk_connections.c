/* Connections, reliable and unreliable, from the process to itself, and memory windows. A model says which requests can
 * complete, so that every step waits for just these: a reliable one that wants a receive waits, and with it all behind
 * it; an unreliable one is lost. */
#include "verbs_walk.h"
#include <errno.h>
#include <time.h>

enum {
    PAIRS = 3,
    SLOT = 8192,
    SLOTS = 41,
    RECEIVE_SLOTS = 8,
    TARGET = 8,
    WINDOW = 12,
    SOURCE = 16, /* one for each request that may wait: until it is done nobody else writes to it */
    FLAG = 40,
    QUEUED = FLAG - SOURCE,
    WAIT_S = 30
};
enum { RIGHTS = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

struct request {
    int wants_receive, signaled;
};

static struct pair {
    struct ibv_qp *a, *b; /* a sends to b; NULL: it does not exist now */
    struct ibv_cq *sent, *received;
    int unreliable;
    struct ibv_mw *window;
    int bound;
    uint32_t key;                /* the window's last */
    unsigned posted, next, slot; /* receives of b; requests so far; the next receive's place */
    struct request queue[QUEUED];
    unsigned queued;
    uint64_t flag;
} pairs[PAIRS];

static char *memory;
static struct ibv_mr *mr;

static char *at(const struct pair *p, unsigned slot)
{
    return memory + ((size_t)(p - pairs) * SLOTS + slot) * SLOT;
}

static struct ibv_sge element(char *from, uint32_t length)
{
    return (struct ibv_sge){(uintptr_t)from, length, mr->lkey};
}

static int modify(struct pair *p, struct ibv_qp *qp, const struct ibv_qp *peer)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = RIGHTS};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = peer->qp_num,
                              .rq_psn = 3,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = 1,
                              .ah_attr = {.dlid = walk.lid, .port_num = 1}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .sq_psn = 3, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
    int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
        to_rts = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (!p->unreliable) {
        to_rtr |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        to_rts |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    int error = ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    error = error ? error : ibv_modify_qp(qp, &rtr, to_rtr);
    return error ? error : ibv_modify_qp(qp, &rts, to_rts);
}

static void make(int i)
{
    struct pair *p = &pairs[i];
    if (!mr) {
        size_t bytes = (size_t)PAIRS * SLOTS * SLOT;
        NEED(memory = aligned_alloc(4096, bytes));
        NEED(mr = ibv_reg_mr(walk.pd, memory, bytes, IBV_ACCESS_LOCAL_WRITE | RIGHTS | IBV_ACCESS_MW_BIND));
    }
    *p = (struct pair){.unreliable = (int)pick(2),
                       .sent = ibv_create_cq(walk.context, 256, NULL, NULL, 0),
                       .received = ibv_create_cq(walk.context, 256, NULL, NULL, 0)};
    NEED(p->sent && p->received);
    memset(at(p, 0), 0, (size_t)SLOTS * SLOT);
    struct ibv_qp_init_attr init = {.send_cq = p->sent,
                                    .recv_cq = p->received,
                                    .cap = {64, 16, 2, 2, INLINE},
                                    .qp_type = p->unreliable ? IBV_QPT_UC : IBV_QPT_RC};
    NEED(p->a = ibv_create_qp(walk.pd, &init));
    init.send_cq = p->received; /* its own requests are bindings */
    NEED(p->b = ibv_create_qp(walk.pd, &init));
    NEED(!modify(p, p->a, p->b) && !modify(p, p->b, p->a));
    printf("pair%d made %s", i, p->unreliable ? "UC" : "RC");
}

static void end(int i)
{
    struct pair *p = &pairs[i];
    if (p->window)
        NEED(!ibv_dealloc_mw(p->window));
    NEED(!ibv_destroy_qp(p->a) && !ibv_destroy_qp(p->b) && !ibv_destroy_cq(p->sent) && !ibv_destroy_cq(p->received));
    *p = (struct pair){0};
    printf(" pair%d ended", i);
}

/* So many completions, in the order in which the queue has them. */
static void take(const struct pair *p, struct ibv_cq *cq, unsigned count)
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
        printf(" [%s %lu: %d", cq == p->sent ? "sent" : "received", (unsigned long)wc.wr_id, wc.status);
        if (!wc.status)
            printf(" opcode %d", wc.opcode);
        if (!wc.status && wc.opcode & IBV_WC_RECV)
            printf(" bytes %u imm %u%s first %d", wc.byte_len, wc.wc_flags & IBV_WC_WITH_IMM ? be32toh(wc.imm_data) : 0,
                   !(wc.wc_flags & IBV_WC_WITH_INV) ? ""
                   : wc.invalidated_rkey == p->key  ? " window"
                                                    : " another key",
                   wc.opcode == IBV_WC_RECV && wc.byte_len ? at(p, (unsigned)wc.wr_id)[0] : 0);
        printf("]");
    }
}

/* What was sent has been taken, or lost, when a later write is seen. */
static void await_arrival(struct pair *p)
{
    struct ibv_sge sge = {(uintptr_t)&p->flag, sizeof p->flag, 0};
    volatile uint64_t *seen = (volatile uint64_t *)at(p, FLAG);
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)seen, mr->rkey}},
                       *bad;
    struct ibv_wc wc;
    p->flag++;
    NEED(!ibv_post_send(p->a, &wr, &bad));
    while (ibv_poll_cq(p->sent, 1, &wc) != 1)
        ;
    while (*seen != p->flag)
        NEED(!ibv_poll_cq(p->received, 0, &wc));
}

/* What can complete now does. */
static void settle(struct pair *p)
{
    unsigned done = 0, sent = 0, received = 0;
    for (; done < p->queued && (p->unreliable || !p->queue[done].wants_receive || p->posted); done++) {
        sent += p->queue[done].signaled != 0;
        if (p->queue[done].wants_receive && p->posted) {
            p->posted--;
            received++;
        }
    }
    memmove(p->queue, p->queue + done, (p->queued - done) * sizeof *p->queue);
    p->queued -= done;
    take(p, p->sent, sent);
    if (done && !p->queued)
        await_arrival(p);
    take(p, p->received, received);
}

static void receive(struct pair *p)
{
    for (unsigned count = 1 + pick(3); count && p->posted < RECEIVE_SLOTS; count--) {
        unsigned slot = p->slot++ % RECEIVE_SLOTS;
        struct ibv_sge sge = element(at(p, slot), SLOT);
        struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;
        NEED(!ibv_post_recv(p->b, &wr, &bad));
        p->posted++;
    }
    printf(" receives");
}

static void post(struct pair *p, struct ibv_send_wr *wr, uint32_t length, int wants_receive)
{
    struct ibv_send_wr *bad;
    char *from = at(p, SOURCE + p->next % (FLAG - SOURCE));
    struct ibv_sge sges[2] = {element(from, length / 2), element(from + length / 2, length - length / 2)};
    int reads = wr->opcode == IBV_WR_RDMA_READ || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    if (!reads)
        memset(from, (int)(1 + p->next % 100), length ? length : 1);
    wr->wr_id = p->next++;
    wr->sg_list = sges;
    wr->num_sge = 2;
    if (length <= INLINE && !reads && pick(2))
        wr->send_flags |= IBV_SEND_INLINE;
    int signaled = pick(3) || reads;
    wr->send_flags |= signaled ? IBV_SEND_SIGNALED : 0;
    int error = ibv_post_send(p->a, wr, &bad);
    printf(" opcode %d of %u: %d", wr->opcode, length, error);
    if (!error)
        p->queue[p->queued++] = (struct request){wants_receive, signaled};
}

static void send(struct pair *p)
{
    struct ibv_send_wr wr = {.opcode = pick(2) ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM, .imm_data = htobe32(p->next)};
    post(p, &wr, pick(4) ? 8 + pick(6000) : pick(40), 1);
}

static void one_sided(struct pair *p)
{
    static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
                                                 IBV_WR_ATOMIC_FETCH_AND_ADD};
    struct ibv_send_wr wr = {.opcode = opcodes[pick(4)], .imm_data = htobe32(p->next)};
    uint32_t length = 8 + pick(6000);
    wr.wr.rdma.remote_addr = (uintptr_t)at(p, TARGET + pick(WINDOW - TARGET));
    wr.wr.rdma.rkey = mr->rkey;
    if (wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        uint64_t address = wr.wr.rdma.remote_addr;
        wr.wr.atomic.remote_addr = address;
        wr.wr.atomic.rkey = mr->rkey;
        wr.wr.atomic.compare_add = 3;
        length = 8;
    }
    post(p, &wr, length, wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM);
}

/* Bound through b, to its window slots; type 2 must have been given up before. */
static void bind_window(struct pair *p)
{
    struct ibv_send_wr wr = {.wr_id = 1000 + p->next++, .send_flags = IBV_SEND_SIGNALED}, *bad;
    struct ibv_mw_bind_info info = {
        .mr = mr, .addr = (uintptr_t)at(p, WINDOW), .length = 2 * SLOT, .mw_access_flags = RIGHTS};
    if (!p->window)
        NEED(p->window = ibv_alloc_mw(walk.pd, pick(2) ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2));
    if (p->window->type == IBV_MW_TYPE_1) {
        struct ibv_mw_bind bind = {.wr_id = wr.wr_id, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
        NEED(!ibv_bind_mw(p->b, p->window, &bind));
        p->bound = 1;
    } else {
        wr.opcode = p->bound ? IBV_WR_LOCAL_INV : IBV_WR_BIND_MW;
        if (p->bound)
            wr.invalidate_rkey = p->key;
        else
            wr.bind_mw.mw = p->window, wr.bind_mw.rkey = ibv_inc_rkey(p->window->rkey), wr.bind_mw.bind_info = info;
        NEED(!ibv_post_send(p->b, &wr, &bad));
        if (!p->bound)
            p->window->rkey = wr.bind_mw.rkey;
        p->bound = !p->bound;
    }
    p->key = p->window->rkey;
    printf(" type %d bound %d", p->window->type, p->bound);
    take(p, p->received, 1);
}

static void by_window(struct pair *p)
{
    struct ibv_send_wr wr = {.opcode = p->unreliable || pick(2) ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ};
    uint32_t length = 8 + pick(6000);
    wr.wr.rdma.remote_addr = (uintptr_t)at(p, WINDOW) + pick(SLOT);
    wr.wr.rdma.rkey = p->key;
    post(p, &wr, length, 0);
}

static void send_and_invalidate(struct pair *p)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = p->key};
    post(p, &wr, pick(3000), 1);
    p->bound = 0;
}

/* A key that means nothing ends a reliable connection, and what an unreliable one sends with it is lost. */
static void wrong_key(int i)
{
    struct pair *p = &pairs[i];
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};
    wr.wr.rdma.remote_addr = (uintptr_t)at(p, WINDOW);
    wr.wr.rdma.rkey = p->key;
    post(p, &wr, 100, 0);
    if (p->unreliable)
        return;
    p->queued = 0;
    take(p, p->sent, 1); /* with an error, whether it was asked for or not */
    take(p, p->received, p->posted);
    end(i);
}

static void say_memory(const struct pair *p)
{
    unsigned sum = 0;
    for (const char *byte = at(p, TARGET); byte < at(p, SOURCE); byte++)
        sum = sum * 31 + (unsigned char)*byte;
    printf(" memory %x", sum);
}

void walk_connections(void)
{
    int i = (int)pick(PAIRS);
    struct pair *p = &pairs[i];
    unsigned kind = pick(20);
    if (!p->a) {
        make(i);
        return;
    }
    printf("pair%d", i);
    int room = p->queued + 2 < QUEUED, idle = !p->queued;
    if (kind == 0 && idle)
        end(i);
    else if (kind < 6)
        receive(p);
    else if (kind < 10 && room)
        send(p);
    else if (kind < 14 && room)
        one_sided(p);
    else if (kind < 17 && idle)
        bind_window(p);
    else if (kind < 18 && room && p->window && p->bound)
        by_window(p);
    else if (kind < 19 && idle && p->window && p->bound && p->window->type == IBV_MW_TYPE_2 && p->posted)
        send_and_invalidate(p);
    else if (kind == 19 && idle && p->window && !p->bound)
        wrong_key(i);
    if (!p->a)
        return;
    settle(p);
    if (!p->queued)
        say_memory(p);
}
