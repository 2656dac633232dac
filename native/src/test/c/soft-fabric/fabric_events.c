/* Completion channels: who is woken, by what, and who is not. */
#include "fabric.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

static int readable(struct ibv_comp_channel *channel, int milliseconds)
{
    struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
    return poll(&fd, 1, milliseconds);
}

/* 0 when there is an event, else the errno value of a channel that does not block. */
static int take_event(struct end *a)
{
    struct ibv_cq *cq;
    void *cq_context;
    fcntl(a->channel->fd, F_SETFL, O_NONBLOCK);
    if (ibv_get_cq_event(a->channel, &cq, &cq_context))
        return errno;
    CHECK(cq == a->recv_cq);
    CHECK(cq_context == cq->cq_context);
    ibv_ack_cq_events(cq, 1);
    return 0;
}

static struct end listener(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1});
    for (unsigned i = 0; i < 110; i++)
        EQUAL(0, post_recv(&a, i * 512, 256));
    return a;
}

static void any(void)
{
    struct end a = listener();
    struct ibv_wc wc;
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(0, readable(a.channel, 20)); /* nobody asked */
    EQUAL(EAGAIN, take_event(&a));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    for (int round = 0; round < 3; round++) {
        EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
        EQUAL(0, readable(a.channel, 20));
        EQUAL(EAGAIN, take_event(&a));
        EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
        EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
        EQUAL(1, readable(a.channel, 1000));
        EQUAL(0, take_event(&a));
        EQUAL(EAGAIN, take_event(&a)); /* one request, one event */
        EQUAL(2, poll_for(a.recv_cq, 2, (struct ibv_wc[2]){{0}}));
    }
    drop_end(&a);
}

/* The event comes although the completion was polled before anyone looked at the channel. */
static void polled_first(void)
{
    struct end a = listener();
    struct ibv_wc wc;
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(1, readable(a.channel, 1000));
    EQUAL(0, take_event(&a));
    EQUAL(EAGAIN, take_event(&a));
    EQUAL(0, readable(a.channel, 20));
}

static void solicited(void)
{
    struct end a = listener();
    struct ibv_wc wc[4];
    EQUAL(0, post_send(&a, &a, 0x10000, 8, IBV_SEND_SOLICITED)); /* before the request: no event for it */
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    for (int round = 0; round < 3; round++) {
        EQUAL(0, ibv_req_notify_cq(a.recv_cq, 1));
        EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
        EQUAL(0, readable(a.channel, 20));
        EQUAL(EAGAIN, take_event(&a));
        EQUAL(0, post_send(&a, &a, 0x10000, 8, IBV_SEND_SOLICITED));
        EQUAL(1, readable(a.channel, 1000));
        EQUAL(0, take_event(&a));
        EQUAL(EAGAIN, take_event(&a));
        EQUAL(2, poll_for(a.recv_cq, 2, wc));
    }
}

/* A request for solicited completions does not weaken one for any. */
static void any_wins(void)
{
    struct end a = listener();
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 1));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(1, readable(a.channel, 1000));
    EQUAL(0, take_event(&a));
}

/* An error wakes those who wait for solicited completions only (ibv_req_notify_cq(3)). */
static void error_is_solicited(void)
{
    struct end a = listener();
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 1));
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    EQUAL(0, ibv_modify_qp(a.qp, &attr, IBV_QP_STATE));
    EQUAL(1, readable(a.channel, 1000));
    EQUAL(0, take_event(&a));
}

static void armed_before_ready(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1, .stay_in_reset = 1});
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, to_init(a.qp, QKEY));
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(0, to_rtr(a.qp));
    EQUAL(0, to_rts(a.qp));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(1, readable(a.channel, 1000));
    EQUAL(0, take_event(&a));
}

/* A datagram for which nothing is posted makes no completion, and so no event. */
static void dropped_is_silent(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1});
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(EAGAIN, take_event(&a));
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(EAGAIN, take_event(&a));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(1, readable(a.channel, 1000));
    EQUAL(0, take_event(&a));
}

static void *wait_in_library(void *argument)
{
    struct end *a = argument;
    struct ibv_cq *cq;
    void *cq_context;
    for (int got = 0; got < 100;) {
        struct ibv_wc wc[8];
        int n;
        EQUAL(0, ibv_get_cq_event(a->channel, &cq, &cq_context));
        ibv_ack_cq_events(cq, 1);
        EQUAL(0, ibv_req_notify_cq(cq, 0));
        while ((n = ibv_poll_cq(cq, 8, wc)) > 0)
            for (int i = 0; i < n; i++, got++)
                EQUAL(0, post_recv(a, wc[i].wr_id, 256));
    }
    return NULL;
}

static void sleeper(void)
{
    struct end a = listener(), b = make_end((struct end_options){0});
    pthread_t thread;
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, pthread_create(&thread, NULL, wait_in_library, &a));
    for (int i = 0; i < 100; i++) {
        usleep(500);
        EQUAL(0, post_send(&b, &a, 0x10000, 8, 0));
    }
    EQUAL(0, pthread_join(thread, NULL));
    drop_end(&a);
}

static atomic_int woken;

static void *wait_once(void *argument)
{
    struct end *a = argument;
    struct ibv_cq *cq;
    void *cq_context;
    EQUAL(0, ibv_get_cq_event(a->channel, &cq, &cq_context));
    ibv_ack_cq_events(cq, 1);
    atomic_store(&woken, 1);
    return NULL;
}

/* Sleeps through what is not solicited, also where the fabric has no doorbells (UDCKPT_SOFT_NET). */
static void solicited_sleeper(void)
{
    struct end a = listener(), b = make_end((struct end_options){0});
    pthread_t thread;
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 1));
    EQUAL(0, pthread_create(&thread, NULL, wait_once, &a));
    for (int i = 0; i < 5; i++) {
        EQUAL(0, post_send(&b, &a, 0x10000, 8, 0));
        usleep(10000);
        EQUAL(0, atomic_load(&woken));
    }
    EQUAL(0, post_send(&b, &a, 0x10000, 8, IBV_SEND_SOLICITED));
    EQUAL(0, pthread_join(thread, NULL));
    EQUAL(6, poll_for(a.recv_cq, 6, (struct ibv_wc[6]){{0}}));
}

/* The user's own epoll set around the channel, as UCX has it; several queues on one channel. */
static void nested_epoll(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1});
    struct ibv_cq *other = ibv_create_cq(a.context, 4, &a, a.channel, 0);
    struct ibv_cq *cq;
    void *cq_context;
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    EQUAL(0, epoll_ctl(set, EPOLL_CTL_ADD, a.channel->fd, &event));
    struct ibv_qp_init_attr init = {
        .send_cq = other, .recv_cq = other, .qp_type = IBV_QPT_UD, .sq_sig_all = 1, .cap = {8, 8, 1, 1, 0}};
    struct end b = a;
    b.qp = ibv_create_qp(a.pd, &init);
    EQUAL(0, to_init(b.qp, QKEY) || to_rtr(b.qp) || to_rts(b.qp));
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, ibv_req_notify_cq(other, 0));
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(0, epoll_wait(set, &event, 1, 10));
    EQUAL(0, post_send(&b, &a, 0x10000, 8, 0)); /* a send completion for one, a receive for the other */
    int seen = 0;
    for (int i = 0; i < 2; i++) {
        EQUAL(1, epoll_wait(set, &event, 1, 1000));
        EQUAL(0, ibv_get_cq_event(a.channel, &cq, &cq_context));
        ibv_ack_cq_events(cq, 1);
        seen |= cq == other ? 1 : 2;
    }
    EQUAL(3, seen);
    EQUAL(0, epoll_wait(set, &event, 1, 10));
    EQUAL(0, ibv_destroy_qp(b.qp));
    EQUAL(0, ibv_destroy_cq(other));
    drop_end(&a);
}

static struct ibv_cq *acknowledged_late;

static void *acknowledge(void *unused)
{
    usleep(100000);
    ibv_ack_cq_events(acknowledged_late, 1);
    return NULL;
}

/* ibv_destroy_cq(3) waits for the acknowledgement of what was handed out, and takes back the rest. */
static void destroy_waits(void)
{
    struct end a = listener();
    struct ibv_cq *cq;
    void *cq_context;
    pthread_t thread;
    struct timespec before, after;
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(0, ibv_get_cq_event(a.channel, &cq, &cq_context));
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(2, poll_for(a.recv_cq, 2, (struct ibv_wc[2]){{0}}));
    acknowledged_late = a.recv_cq;
    EQUAL(0, ibv_destroy_qp(a.qp));
    EQUAL(0, pthread_create(&thread, NULL, acknowledge, NULL));
    clock_gettime(CLOCK_MONOTONIC, &before);
    EQUAL(0, ibv_destroy_cq(a.recv_cq));
    clock_gettime(CLOCK_MONOTONIC, &after);
    CHECK((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec > 50000000);
    EQUAL(0, pthread_join(thread, NULL));
    EQUAL(0, readable(a.channel, 10));
    EQUAL(0, ibv_destroy_comp_channel(a.channel));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"any", any},
                                            {"polled-first", polled_first},
                                            {"solicited", solicited},
                                            {"any-wins", any_wins},
                                            {"error-is-solicited", error_is_solicited},
                                            {"armed-before-ready", armed_before_ready},
                                            {"dropped-is-silent", dropped_is_silent},
                                            {"sleeper", sleeper},
                                            {"solicited-sleeper", solicited_sleeper},
                                            {"nested-epoll", nested_epoll},
                                            {"destroy-waits", destroy_waits},
                                            {0}});
}
