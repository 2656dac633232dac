/* Several threads post to, and poll, the queues of reliable connections, while a device's own thread works on them,
 * too: nothing is lost or doubled. The driver runs these over a bad network and under sanitizers, too. */
#include "fabric_connect.h"
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SLOT = 4096, RECEIVES = 100, UNFINISHED = 90, SENDERS = 3, POLLERS = 2, EACH = 400, TOTAL = SENDERS * EACH };

/* The end's memory: a counter, then slots that are sent from, then slots that are received into. */
enum { SENT_FROM = SLOT, RECEIVED_INTO = 64 * SLOT, COUNTED_INTO = 63 * SLOT };

static const struct pair_options options = {
    .send_wr = 128, .recv_wr = 128, .mtu = IBV_MTU_1024, .timeout = 18, .max_rd_atomic = 8};

static atomic_uchar seen[TOTAL];
static atomic_int received, posted, completed;

static struct end_pair *pair_of(void)
{
    static struct end_pair p;
    p = make_pair(options);
    for (size_t i = 0; i < RECEIVES; i++)
        EQUAL(0, post_recv(&p.b, RECEIVED_INTO + i * SLOT / 2, SLOT / 2));
    return &p;
}

/* Waits for a place in the send queue, which others want as well. */
static void reserve_place(void)
{
    for (;;) {
        int before = atomic_load(&posted);
        if (before - atomic_load(&completed) < UNFINISHED && atomic_compare_exchange_weak(&posted, &before, before + 1))
            return;
        sched_yield();
    }
}

static struct end_pair *shared;

/* A message with its number, and each fourth time something one-sided behind it. */
static void *send_some(void *argument)
{
    unsigned sender = (unsigned)(uintptr_t)argument;
    for (unsigned i = 0; i < EACH; i++) {
        reserve_place();
        EQUAL(0, post(&shared->a, &shared->b,
                      (struct operation){.opcode = IBV_WR_SEND_WITH_IMM,
                                         .local = SENT_FROM + sender * SLOT,
                                         .length = i * 7 % 2000,
                                         .immediate = sender * EACH + i,
                                         .flags = IBV_SEND_SIGNALED}));
        if (i % 4)
            continue;
        reserve_place();
        EQUAL(0, post(&shared->a, &shared->b,
                      (struct operation){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                         .local = COUNTED_INTO + sender * 8,
                                         .length = 8,
                                         .compare_add = 1,
                                         .flags = IBV_SEND_SIGNALED}));
    }
    return NULL;
}

static void *take_receives(void *unused)
{
    struct ibv_wc wc[7];
    while (atomic_load(&received) < TOTAL) {
        int n = ibv_poll_cq(shared->b.recv_cq, 7, wc);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++) {
            EQUAL(IBV_WC_SUCCESS, wc[i].status);
            uint32_t number = ntohl(wc[i].imm_data);
            CHECK(number < TOTAL);
            EQUAL(number % EACH * 7 % 2000, wc[i].byte_len);
            EQUAL(0, atomic_fetch_add(&seen[number], 1));
            EQUAL(0, post_recv(&shared->b, wc[i].wr_id, SLOT / 2));
            atomic_fetch_add(&received, 1);
        }
        if (!n)
            sched_yield();
    }
    return NULL;
}

static void *take_sends(void *unused)
{
    struct ibv_wc wc[16];
    while (atomic_load(&completed) < TOTAL + TOTAL / 4) {
        int n = ibv_poll_cq(shared->a.send_cq, 16, wc);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++)
            EQUAL(IBV_WC_SUCCESS, wc[i].status);
        atomic_fetch_add(&completed, n);
        if (!n)
            sched_yield();
    }
    return NULL;
}

/* One connection, of which each end is used by several threads. */
static void together(void)
{
    pthread_t thread[SENDERS + POLLERS + 1];
    int n = 0;
    shared = pair_of();
    for (; n < POLLERS; n++)
        EQUAL(0, pthread_create(&thread[n], NULL, take_receives, NULL));
    EQUAL(0, pthread_create(&thread[n++], NULL, take_sends, NULL));
    for (unsigned i = 0; i < SENDERS; i++)
        EQUAL(0, pthread_create(&thread[n++], NULL, send_some, (void *)(uintptr_t)i));
    for (int i = 0; i < n; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
    EQUAL(TOTAL, atomic_load(&received));
    for (int i = 0; i < TOTAL; i++)
        EQUAL(1, atomic_load(&seen[i]));
    uint64_t counted;
    memcpy(&counted, shared->b.memory, sizeof counted);
    EQUAL(TOTAL / 4, counted);
}

enum { PAIRS = 3, THREADS = 4, TURNS = 300, ROOM = 60 };

static struct end_pair pairs[PAIRS];
static atomic_int sent_to[2 * PAIRS], taken_at[2 * PAIRS];

static struct end *end_of(unsigned e)
{
    return e % 2 ? &pairs[e / 2].b : &pairs[e / 2].a;
}

static int outstanding(void)
{
    int unfinished = atomic_load(&posted) - atomic_load(&completed), waiting = 0;
    for (int i = 0; i < 2 * PAIRS; i++)
        waiting += atomic_load(&sent_to[i]) - atomic_load(&taken_at[i]);
    return waiting > unfinished ? waiting : unfinished;
}

static void poll_both(unsigned e)
{
    struct end *end = end_of(e);
    struct ibv_wc wc[5];
    int n = ibv_poll_cq(end->send_cq, 5, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++)
        EQUAL(IBV_WC_SUCCESS, wc[i].status);
    atomic_fetch_add(&completed, n);
    n = ibv_poll_cq(end->recv_cq, 5, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        EQUAL(IBV_WC_SUCCESS, wc[i].status);
        EQUAL(end->qp->qp_num, wc[i].qp_num);
        EQUAL(0, post_recv(end, wc[i].wr_id, SLOT / 2));
    }
    atomic_fetch_add(&taken_at[e], n);
    if (!n)
        sched_yield();
}

static void *use_all(void *argument)
{
    unsigned turn = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < TURNS; i++, turn += 7) {
        unsigned to = turn % (2 * PAIRS);
        while (outstanding() > ROOM)
            poll_both(turn++ % (2 * PAIRS));
        atomic_fetch_add(&posted, 1);
        atomic_fetch_add(&sent_to[to], 1);
        EQUAL(0, post(end_of(to ^ 1), end_of(to),
                      (struct operation){.opcode = IBV_WR_SEND,
                                         .local = SENT_FROM,
                                         .length = turn * 13 % 2000,
                                         .flags = IBV_SEND_SIGNALED}));
        poll_both(turn / 2 % (2 * PAIRS));
    }
    while (outstanding() > 0)
        poll_both(turn++ % (2 * PAIRS));
    return NULL;
}

/* Each thread posts to, and polls, each of several connections. */
static void several(void)
{
    pthread_t thread[THREADS];
    for (int p = 0; p < PAIRS; p++) {
        pairs[p] = make_pair(options);
        for (size_t i = 0; i < RECEIVES; i++) {
            EQUAL(0, post_recv(&pairs[p].a, RECEIVED_INTO + i * SLOT / 2, SLOT / 2));
            EQUAL(0, post_recv(&pairs[p].b, RECEIVED_INTO + i * SLOT / 2, SLOT / 2));
        }
    }
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&thread[i], NULL, use_all, (void *)(uintptr_t)i));
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
    EQUAL(THREADS * TURNS, atomic_load(&completed));
    for (int e = 0; e < 2 * PAIRS; e++)
        EQUAL(atomic_load(&sent_to[e]), atomic_load(&taken_at[e]));
}

/* Queue pairs in place of those of the pair, with the same completion queues. */
static struct end_pair another(const struct end_pair *owner)
{
    struct end_pair p = *owner;
    for (int e = 0; e < 2; e++) {
        struct end *end = e ? &p.b : &p.a;
        struct ibv_qp_init_attr init = {
            .send_cq = end->send_cq, .recv_cq = end->recv_cq, .qp_type = IBV_QPT_RC, .cap = {8, 8, 1, 1, 0}};
        CHECK(end->qp = ibv_create_qp(end->pd, &init));
        EQUAL(0, to_init_rc(end->qp, IBV_ACCESS_REMOTE_WRITE));
    }
    EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), options, 1, 2));
    EQUAL(0, connect_qp(p.b.qp, p.a.qp, own_lid(p.a.context), options, 2, 1));
    return p;
}

/* A connection is made, used by one write that nobody at the other end polls for, and ended. */
static void *churn(void *argument)
{
    for (int i = 0; i < 30; i++) {
        struct end_pair p = another(argument);
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){
                          .opcode = IBV_WR_RDMA_WRITE, .local = SENT_FROM, .remote = SENT_FROM, .length = 1500}));
        if (i % 2) /* half of them end with packets under way */
            usleep(500);
        EQUAL(0, ibv_destroy_qp(p.a.qp));
        EQUAL(0, ibv_destroy_qp(p.b.qp));
    }
    return NULL;
}

/* Connections come and go while others use the same completion queues. */
static void coming_and_going(void)
{
    pthread_t thread[2];
    struct ibv_wc wc;
    shared = pair_of();
    for (int i = 0; i < 2; i++)
        EQUAL(0, pthread_create(&thread[i], NULL, churn, shared));
    for (int i = 0; i < 300; i++) {
        EQUAL(0, post(&shared->a, &shared->b,
                      (struct operation){
                          .opcode = IBV_WR_SEND, .local = SENT_FROM, .length = 100, .flags = IBV_SEND_SIGNALED}));
        EQUAL(1, await_wc(shared->b.recv_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(0, post_recv(&shared->b, wc.wr_id, SLOT / 2));
        EQUAL(1, await_wc(shared->a.send_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
    }
    for (int i = 0; i < 2; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
}

static void *send_to_b(void *argument)
{
    struct end_pair *p = argument;
    EQUAL(0, post(&p->a, &p->b, (struct operation){.opcode = IBV_WR_SEND, .local = SENT_FROM, .length = 100}));
    return NULL;
}

/* Whoever hears from the peer that it has the message may destroy the queue pair, though the thread that posted it has
 * not come back yet. */
static void destroyed_when_answered(void)
{
    const char *virtualize = getenv("UDCKPT_VIRTUALIZE");
    if (virtualize && !strcmp(virtualize, "0"))
        return; /* it is the layer above that waits */
    struct ibv_wc wc;
    pthread_t thread;
    shared = pair_of();
    for (int i = 0; i < 200; i++) {
        struct end_pair p = another(shared);
        EQUAL(0, post_recv(&p.b, RECEIVED_INTO, SLOT / 2));
        EQUAL(0, pthread_create(&thread, NULL, send_to_b, &p));
        while (!ibv_poll_cq(p.b.recv_cq, 1, &wc))
            ;
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(0, ibv_destroy_qp(p.a.qp));
        EQUAL(0, pthread_join(thread, NULL));
        EQUAL(0, ibv_destroy_qp(p.b.qp));
    }
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"together", together},
                                            {"several", several},
                                            {"coming-and-going", coming_and_going},
                                            {"destroyed-when-answered", destroyed_when_answered},
                                            {0}});
}
