/* Several threads post to, and poll, the same queues: nothing is lost or doubled. */
#include "fabric.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { SENDERS = 3, POLLERS = 2, EACH = 4000, TOTAL = SENDERS * EACH, SLOTS = 2000 };

static struct end a;
static atomic_uchar seen[TOTAL];
static atomic_int received, posted, completed, in_flight;

static void *send_all(void *argument)
{
    unsigned first = (unsigned)(uintptr_t)argument * EACH;
    for (unsigned i = 0; i < EACH; i++) {
        /* neither queue overflows */
        while (atomic_load(&in_flight) > 500 || atomic_load(&posted) - atomic_load(&completed) > 900)
            sched_yield();
        atomic_fetch_add(&in_flight, 1);
        atomic_fetch_add(&posted, 1);
        uint32_t number = first + i;
        struct ibv_sge sge = {(uintptr_t)&number, 4, 0};
        struct ibv_send_wr wr = send_wr(&a, &sge, IBV_SEND_INLINE | IBV_SEND_SIGNALED), *bad;
        EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    }
    return NULL;
}

static void *poll_receives(void *unused)
{
    struct ibv_wc wc[7];
    while (atomic_load(&received) < TOTAL) {
        int n = ibv_poll_cq(a.recv_cq, 7, wc);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++) {
            uint32_t number;
            EQUAL(IBV_WC_SUCCESS, wc[i].status);
            memcpy(&number, a.memory + wc[i].wr_id + GRH, 4);
            CHECK(number < TOTAL);
            EQUAL(0, atomic_fetch_add(&seen[number], 1));
            EQUAL(0, post_recv(&a, wc[i].wr_id, 128));
            atomic_fetch_add(&received, 1);
            atomic_fetch_sub(&in_flight, 1);
        }
        if (!n)
            sched_yield();
    }
    return NULL;
}

static void *poll_sends(void *unused)
{
    struct ibv_wc wc[16];
    while (atomic_load(&completed) < TOTAL) {
        int n = ibv_poll_cq(a.send_cq, 16, wc);
        CHECK(n >= 0);
        atomic_fetch_add(&completed, n);
        if (!n)
            sched_yield();
    }
    return NULL;
}

static void together(void)
{
    pthread_t thread[SENDERS + POLLERS + 1];
    a = make_end((struct end_options){
        .send_cqe = TOTAL, .recv_cqe = TOTAL, .send_wr = 1024, .recv_wr = SLOTS, .inline_data = 4});
    for (unsigned i = 0; i < SLOTS; i++)
        EQUAL(0, post_recv(&a, i * 128, 128));
    int n = 0;
    for (; n < POLLERS; n++)
        EQUAL(0, pthread_create(&thread[n], NULL, poll_receives, NULL));
    EQUAL(0, pthread_create(&thread[n++], NULL, poll_sends, NULL));
    for (unsigned i = 0; i < SENDERS; i++)
        EQUAL(0, pthread_create(&thread[n++], NULL, send_all, (void *)(uintptr_t)i));
    for (int i = 0; i < n; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
    EQUAL(TOTAL, atomic_load(&received));
    EQUAL(TOTAL, atomic_load(&completed));
    for (int i = 0; i < TOTAL; i++)
        EQUAL(1, atomic_load(&seen[i]));
}

static void *churn(void *argument)
{
    struct end *owner = argument;
    for (int i = 0; i < 100; i++) {
        struct ibv_qp_init_attr init = {
            .send_cq = owner->send_cq, .recv_cq = owner->recv_cq, .qp_type = IBV_QPT_UD, .cap = {8, 8, 1, 1, 0}};
        struct ibv_qp *qp = ibv_create_qp(owner->pd, &init);
        CHECK(qp);
        EQUAL(0, to_init(qp, QKEY) || to_rtr(qp) || to_rts(qp));
        EQUAL(0, ibv_destroy_qp(qp));
    }
    return NULL;
}

/* Queue pairs come and go while others use the same completion queues. */
static void coming_and_going(void)
{
    a = make_end((struct end_options){0});
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        EQUAL(0, pthread_create(&thread[i], NULL, churn, &a));
    struct ibv_wc wc;
    for (int i = 0; i < 2000; i++) {
        EQUAL(0, post_recv(&a, 0, 128));
        EQUAL(0, post_send(&a, &a, 4096, 8, 0));
        EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    }
    for (int i = 0; i < 2; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
}

enum { ENDS = 3, THREADS = 4, TURNS = 2000, RECEIVES = 500, ROOM = 300 };

static struct end ends[ENDS];
static atomic_int sent_to[ENDS], taken_at[ENDS];

static int outstanding(void)
{
    int unfinished = atomic_load(&posted) - atomic_load(&completed), waiting = 0;
    for (int i = 0; i < ENDS; i++)
        waiting += atomic_load(&sent_to[i]) - atomic_load(&taken_at[i]);
    return waiting > unfinished ? waiting : unfinished;
}

static void poll_both(struct end *end)
{
    struct ibv_wc wc[5];
    int n = ibv_poll_cq(end->send_cq, 5, wc);
    CHECK(n >= 0);
    atomic_fetch_add(&completed, n);
    n = ibv_poll_cq(end->recv_cq, 5, wc);
    CHECK(n >= 0);
    for (int i = 0; i < n; i++) {
        EQUAL(IBV_WC_SUCCESS, wc[i].status);
        EQUAL(end->qp->qp_num, wc[i].qp_num);
        EQUAL(0, post_recv(end, wc[i].wr_id, 128));
    }
    atomic_fetch_add(&taken_at[end - ends], n);
    if (!n)
        sched_yield();
}

static void *use_all(void *argument)
{
    unsigned turn = (unsigned)(uintptr_t)argument;
    for (int i = 0; i < TURNS; i++, turn += 7) {
        struct end *from = &ends[turn % ENDS], *to = &ends[turn / ENDS % ENDS];
        while (outstanding() > ROOM)
            poll_both(&ends[turn++ % ENDS]);
        atomic_fetch_add(&posted, 1);
        atomic_fetch_add(&sent_to[to - ends], 1);
        EQUAL(0, post_send(from, to, ENDS * RECEIVES * 128, 64, IBV_SEND_SIGNALED));
        poll_both(&ends[turn / 2 % ENDS]);
    }
    while (outstanding() > 0)
        poll_both(&ends[turn++ % ENDS]);
    return NULL;
}

/* Each thread posts to, and polls, each of several queue pairs. */
static void several(void)
{
    pthread_t thread[THREADS];
    for (int e = 0; e < ENDS; e++) {
        ends[e] = make_end((struct end_options){
            .send_cqe = 1024, .recv_cqe = 1024, .send_wr = 1024, .recv_wr = RECEIVES, .share = e ? &ends[0] : NULL});
        for (int i = 0; i < RECEIVES; i++)
            EQUAL(0, post_recv(&ends[e], (size_t)(e * RECEIVES + i) * 128, 128));
    }
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&thread[i], NULL, use_all, (void *)(uintptr_t)i));
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
    EQUAL(THREADS * TURNS, atomic_load(&completed));
    for (int e = 0; e < ENDS; e++)
        EQUAL(atomic_load(&sent_to[e]), atomic_load(&taken_at[e]));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){
                         {"together", together}, {"coming-and-going", coming_and_going}, {"several", several}, {0}});
}
