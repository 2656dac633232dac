/* What adapters do with the order of arrival, and message libraries live on: RDMA writes of a connection become visible
 * in order, the last byte last; a completion at the sender means that the data are in the target's memory; and what
 * arrived before, for whatever connection of the port, is there when a program hears of what came later. */
#include "fabric_connect.h"
#include <pthread.h>

enum { LARGEST = 60000, WINDOW_HALF = 30000, MESSAGE = 1 << 18, PAIRS = 4 };

static const uint32_t sizes[] = {1,  2,   3,   4,   5,    7,    8,    9,    15,   16,   17,    31,     33,
                                 64, 100, 255, 256, 1000, 1023, 1024, 1025, 2000, 4096, 10000, LARGEST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct end_pair pair(void)
{
    return make_pair((struct pair_options){0});
}

/* Further queue pairs between the devices of the same two ends. */
static struct end_pair another(struct end_pair first, int own_queues)
{
    struct end_pair p = first;
    struct pair_options o = {0};
    struct end *ends[] = {&p.a, &p.b};
    for (int i = 0; i < 2; i++) {
        if (own_queues)
            ends[i]->send_cq = ends[i]->recv_cq = ibv_create_cq(ends[i]->context, 256, NULL, NULL, 0);
        struct ibv_qp_init_attr init = {.send_cq = ends[i]->send_cq,
                                        .recv_cq = ends[i]->recv_cq,
                                        .qp_type = IBV_QPT_RC,
                                        .cap = {128, 128, 4, 4, 64}};
        CHECK(ends[i]->qp = ibv_create_qp(ends[i]->pd, &init));
        EQUAL(0, to_init_rc(ends[i]->qp, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
    }
    EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), o, 3, 4));
    EQUAL(0, connect_qp(p.b.qp, p.a.qp, own_lid(p.a.context), o, 4, 3));
    return p;
}

static void write_to(struct end_pair *p, uint32_t length, unsigned flags)
{
    EQUAL(0, post(&p->a, &p->b,
                  (struct operation){.opcode = IBV_WR_RDMA_WRITE, .id = 9, .length = length, .flags = flags}));
}

static void message(struct end *from, struct end *to)
{
    EQUAL(0,
          post(from, to,
               (struct operation){.opcode = IBV_WR_SEND, .local = MESSAGE, .length = 8, .flags = IBV_SEND_SIGNALED}));
}

static void one(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    EQUAL(1, await_wc(cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

/* A completion of a write at its sender: nobody has polled at the target. */
static void completion(void)
{
    struct end_pair p = pair();
    for (unsigned round = 0; round < 20; round++)
        for (unsigned i = 0; i < SIZES; i++) {
            fill(p.a.memory, sizes[i], round + i + 1);
            write_to(&p, sizes[i], IBV_SEND_SIGNALED);
            one(p.a.send_cq);
            CHECK(is_filled(p.b.memory, sizes[i], round + i + 1));
        }
}

/* A write by one connection, then a message by another one, with queues of its own: whoever has the message has the
 * data. The other's queues are polled before, so that the device leaves its packets to the program. */
static void other_queues(void)
{
    struct end_pair writes = pair(), messages = another(writes, 1);
    struct ibv_wc wc;
    for (unsigned round = 0; round < 40; round++)
        for (unsigned i = 0; i < SIZES; i++) {
            fill(writes.a.memory, sizes[i], round + i + 1);
            EQUAL(0, post_recv(&messages.b, MESSAGE, 8));
            EQUAL(0, ibv_poll_cq(writes.b.recv_cq, 1, &wc));
            EQUAL(0, ibv_poll_cq(writes.b.send_cq, 1, &wc));
            write_to(&writes, sizes[i], IBV_SEND_SIGNALED);
            message(&messages.a, &messages.b);
            one(messages.b.recv_cq);
            CHECK(is_filled(writes.b.memory, sizes[i], round + i + 1));
            one(writes.a.send_cq);
            one(messages.a.send_cq);
        }
}

/* Somebody between them: a writes to c, and tells b, who tells c; c polls one completion at a time from the one queue
 * of both connections. */
static struct relay {
    struct end_pair writes, to_b, to_c;
    uint32_t length;
    unsigned round;
    int stop;
} relay;

static void *pass_on(void *unused)
{
    struct ibv_wc wc;
    while (!__atomic_load_n(&relay.stop, __ATOMIC_ACQUIRE))
        if (ibv_poll_cq(relay.to_b.b.recv_cq, 1, &wc) == 1) {
            EQUAL(IBV_WC_SUCCESS, wc.status);
            EQUAL(0, post_recv(&relay.to_b.b, MESSAGE, 8));
            message(&relay.to_c.a, &relay.to_c.b);
            one(relay.to_c.a.send_cq);
        }
    return unused;
}

static void chain(void)
{
    pthread_t thread;
    struct ibv_wc wc;
    relay.writes = pair();
    relay.to_b = pair();
    relay.to_c = another(relay.writes, 0);
    relay.to_c.a.send_cq = relay.writes.a.send_cq;
    EQUAL(0, post_recv(&relay.to_b.b, MESSAGE, 8));
    EQUAL(0, pthread_create(&thread, NULL, pass_on, NULL));
    for (unsigned round = 0; round < 15; round++)
        for (unsigned i = 0; i < SIZES; i++) {
            /* What does not fit beside packets that are not answered yet is sent later, and can be overtaken. */
            uint32_t length = sizes[i] < WINDOW_HALF ? sizes[i] : WINDOW_HALF;
            fill(relay.writes.a.memory, length, round + i + 1);
            EQUAL(0, post_recv(&relay.to_c.b, MESSAGE, 8));
            write_to(&relay.writes, length, 0);
            message(&relay.to_b.a, &relay.to_b.b);
            while (!ibv_poll_cq(relay.writes.b.recv_cq, 1, &wc))
                ;
            EQUAL(IBV_WC_SUCCESS, wc.status);
            CHECK(is_filled(relay.writes.b.memory, length, round + i + 1));
            one(relay.to_b.a.send_cq);
            write_to(&relay.writes, 0, 0);
            while (ibv_poll_cq(relay.writes.b.send_cq, 1, &wc))
                ;
        }
    __atomic_store_n(&relay.stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
}

/* Several connections write, each to a place of its own, and the reader calls no verb: it waits for the last byte of
 * each. */
static struct end_pair writers[PAIRS];
static volatile unsigned wanted;

static void *write_all(void *unused)
{
    for (unsigned round = 1; round <= 10; round++)
        for (unsigned i = 0; i < SIZES; i++) {
            unsigned number = (round - 1) * SIZES + i + 1;
            while (__atomic_load_n(&wanted, __ATOMIC_ACQUIRE) != number)
                sched_yield();
            for (int k = 0; k < PAIRS; k++) {
                struct operation o = {.opcode = IBV_WR_RDMA_WRITE,
                                      .id = 9,
                                      .local = (size_t)k << 16,
                                      .remote = (size_t)k << 16,
                                      .length = sizes[i],
                                      .flags = IBV_SEND_SIGNALED};
                memset(writers[0].a.memory + o.local, (int)(1 + number % 250), sizes[i]);
                EQUAL(0, post(&writers[k].a, &writers[k].b, o));
            }
            for (int k = 0; k < PAIRS; k++)
                one(writers[k].a.send_cq);
        }
    return unused;
}

static void last_byte(void)
{
    pthread_t thread;
    writers[0] = pair();
    for (int k = 1; k < PAIRS; k++)
        writers[k] = another(writers[0], 1);
    char *memory = writers[0].b.memory;
    EQUAL(0, pthread_create(&thread, NULL, write_all, NULL));
    for (unsigned number = 1; number <= 10 * SIZES; number++) {
        uint32_t length = sizes[(number - 1) % SIZES];
        char value = (char)(1 + number % 250);
        memset(memory, 0, (size_t)PAIRS << 16);
        __atomic_store_n(&wanted, number, __ATOMIC_RELEASE);
        for (int k = 0; k < PAIRS; k++) {
            const char *at = memory + ((size_t)k << 16);
            while (__atomic_load_n(&at[length - 1], __ATOMIC_ACQUIRE) != value)
                sched_yield();
            for (uint32_t b = 0; b < length; b++)
                CHECK(at[b] == value);
        }
    }
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"completion", completion},
                                            {"other-queues", other_queues},
                                            {"chain", chain},
                                            {"last-byte", last_byte},
                                            {0}});
}
