/* Reliable connections: what a work request does at the other end, in which order, and exactly once. The
 * driver runs these over a fabric that loses, doubles and reorders packets, too. */
#include "fabric_connect.h"
#include <arpa/inet.h>
#include <poll.h>

static const unsigned signaled = IBV_SEND_SIGNALED;

static void one_success(struct ibv_cq *cq, uint64_t id, enum ibv_wc_opcode opcode)
{
    struct ibv_wc wc;
    EQUAL(1, await_wc(cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(id, wc.wr_id);
    EQUAL(opcode, wc.opcode);
}

/* Messages of many sizes around the MTU, back to back, come whole and in order. */
static void sends(void)
{
    static const uint32_t sizes[] = {0, 1, 100, 1023, 1024, 1025, 4096, 5000, 16384, 65536, 100000};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct end_pair p = make_pair((struct pair_options){.psn = 0xfffffa}); /* numbers wrap */
    struct ibv_wc wc[COUNT];
    size_t at = 0;
    fill(p.a.memory, p.a.size, 3);
    for (int i = 0; i < COUNT; i++)
        EQUAL(0, post_recv(&p.b, (size_t)i << 16, i == COUNT - 1 ? 100000 : 65536));
    for (int i = 0; i < COUNT; at += sizes[i++])
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_SEND_WITH_IMM,
                                         .id = (uint64_t)i,
                                         .local = at,
                                         .length = sizes[i],
                                         .immediate = 7u * (unsigned)i,
                                         .flags = i % 2 ? signaled : 0}));
    EQUAL(COUNT, await_wc(p.b.recv_cq, COUNT, wc));
    at = 0;
    for (int i = 0; i < COUNT; at += sizes[i++]) {
        EQUAL(IBV_WC_SUCCESS, wc[i].status);
        EQUAL(IBV_WC_RECV, wc[i].opcode);
        EQUAL((uint64_t)i << 16, wc[i].wr_id);
        EQUAL(sizes[i], wc[i].byte_len);
        EQUAL(IBV_WC_WITH_IMM, wc[i].wc_flags);
        EQUAL(7 * i, ntohl(wc[i].imm_data));
        EQUAL(p.b.qp->qp_num, wc[i].qp_num);
        EQUAL(p.a.qp->qp_num, wc[i].src_qp);
        CHECK(!memcmp(p.b.memory + ((size_t)i << 16), p.a.memory + at, sizes[i]));
    }
    EQUAL(COUNT / 2, await_wc(p.a.send_cq, COUNT / 2, wc));
    for (int i = 0; i < COUNT / 2; i++) {
        EQUAL(2 * i + 1, wc[i].wr_id);
        EQUAL(IBV_WC_SEND, wc[i].opcode);
    }
}

static void writes_and_reads(void)
{
    struct end_pair p = make_pair((struct pair_options){.mtu = IBV_MTU_4096});
    struct ibv_wc wc;
    fill(p.a.memory, 300001, 5);
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){
                      .opcode = IBV_WR_RDMA_WRITE, .id = 1, .remote = 13, .length = 300001, .flags = signaled}));
    one_success(p.a.send_cq, 1, IBV_WC_RDMA_WRITE);
    CHECK(is_filled(p.b.memory + 13, 300001, 5));
    EQUAL(0, p.b.memory[12]);
    EQUAL(0, p.b.memory[13 + 300001]);
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_RDMA_READ,
                                     .id = 2,
                                     .local = 500000,
                                     .remote = 13,
                                     .length = 300001,
                                     .flags = signaled}));
    one_success(p.a.send_cq, 2, IBV_WC_RDMA_READ);
    CHECK(is_filled(p.a.memory + 500000, 300001, 5));
    EQUAL(0, post_recv(&p.b, 900000, 8));
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                     .id = 3,
                                     .remote = 600000,
                                     .length = 9000,
                                     .immediate = 99,
                                     .flags = signaled}));
    one_success(p.a.send_cq, 3, IBV_WC_RDMA_WRITE);
    EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
    EQUAL(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
    EQUAL(9000, wc.byte_len);
    EQUAL(99, ntohl(wc.imm_data));
    CHECK(!memcmp(p.b.memory + 600000, p.a.memory, 9000));
}

/* UCX's flush: nothing is written, so no key is needed. */
static void flush_write(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_send_wr wr = {.wr_id = 7, .opcode = IBV_WR_RDMA_WRITE, .send_flags = signaled}, *bad;
    EQUAL(0, ibv_post_send(p.a.qp, &wr, &bad));
    one_success(p.a.send_cq, 7, IBV_WC_RDMA_WRITE);
}

/* Each of many atomics happens once, whatever was sent again. */
static void atomics(void)
{
    enum { COUNT = 400 };
    struct end_pair p = make_pair((struct pair_options){.max_rd_atomic = 16});
    uint64_t *counter = (uint64_t *)p.b.memory;
    struct ibv_wc wc[16];
    int posted = 0, done = 0;
    while (done < COUNT) {
        while (posted < COUNT && posted - done < 100) {
            EQUAL(0, post(&p.a, &p.b,
                          (struct operation){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                             .id = (uint64_t)posted,
                                             .local = 8 * (size_t)posted,
                                             .length = 8,
                                             .compare_add = 3,
                                             .flags = signaled}));
            posted++;
        }
        int n = await_wc(p.a.send_cq, 1, wc);
        EQUAL(1, n);
        EQUAL(IBV_WC_SUCCESS, wc[0].status);
        EQUAL(IBV_WC_FETCH_ADD, wc[0].opcode);
        EQUAL(done, wc[0].wr_id);
        EQUAL(3 * done, ((uint64_t *)p.a.memory)[done]);
        done++;
    }
    EQUAL(3 * COUNT, *counter);
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                                     .id = 1,
                                     .length = 8,
                                     .compare_add = 3 * COUNT,
                                     .swap = 17,
                                     .flags = signaled}));
    one_success(p.a.send_cq, 1, IBV_WC_COMP_SWAP);
    EQUAL(17, *counter);
    EQUAL(3 * COUNT, *(uint64_t *)p.a.memory);
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
                                     .id = 2,
                                     .length = 8,
                                     .compare_add = 1,
                                     .swap = 18,
                                     .flags = signaled}));
    one_success(p.a.send_cq, 2, IBV_WC_COMP_SWAP);
    EQUAL(17, *counter);
    EQUAL(17, *(uint64_t *)p.a.memory);
}

/* A read is answered from what the requests before it wrote, and a fenced send waits for the read. */
static void order(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_wc wc[3];
    for (uint32_t i = 0; i < 100; i++) {
        fill(p.a.memory, 2000, i);
        EQUAL(0, post_recv(&p.b, 100000, 2000));
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_RDMA_WRITE, .id = 1, .length = 2000, .flags = signaled}));
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){
                          .opcode = IBV_WR_RDMA_READ, .id = 2, .local = 50000, .length = 2000, .flags = signaled}));
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_SEND,
                                         .id = 3,
                                         .local = 50000,
                                         .length = 2000,
                                         .flags = signaled | IBV_SEND_FENCE}));
        EQUAL(3, await_wc(p.a.send_cq, 3, wc));
        for (unsigned k = 0; k < 3; k++)
            EQUAL(k + 1, wc[k].wr_id);
        EQUAL(1, await_wc(p.b.recv_cq, 1, wc));
        CHECK(is_filled(p.b.memory + 100000, 2000, i));
    }
}

/* The memory of an inline send is the caller's own again when the post returns. */
static void inline_data(void)
{
    struct end_pair p = make_pair((struct pair_options){.inline_data = 64});
    char own[64];
    struct ibv_sge sge[2] = {{(uintptr_t)own, 40, 0}, {(uintptr_t)own + 40, 24, 0}};
    struct ibv_send_wr wr = {.sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE}, *bad;
    struct ibv_wc wc;
    for (unsigned i = 0; i < 50; i++) {
        EQUAL(0, post_recv(&p.b, i * 64, 64));
        fill(own, 64, i);
        EQUAL(0, ibv_post_send(p.a.qp, &wr, &bad));
        memset(own, 0, sizeof own);
    }
    for (unsigned i = 0; i < 50; i++) {
        EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
        CHECK(is_filled(p.b.memory + i * 64, 64, i));
    }
    sge[0].length = 41;
    EQUAL(EINVAL, ibv_post_send(p.a.qp, &wr, &bad));
}

/* A sender waits for a receiver that posts late. */
static void receiver_not_ready(void)
{
    struct end_pair p = make_pair((struct pair_options){.min_rnr_timer = 12});
    struct ibv_wc wc[4];
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0,
              post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 3000, .flags = signaled}));
    usleep(20000);
    CHECK(stays_empty(p.a.send_cq));
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0, post_recv(&p.b, i * 4096, 4096));
    EQUAL(4, await_wc(p.a.send_cq, 4, wc));
    EQUAL(4, await_wc(p.b.recv_cq, 4, wc));
    for (unsigned i = 0; i < 4; i++)
        EQUAL(i * 4096, wc[i].wr_id);
}

/* Nobody polls at the other end, and still its memory is read and written. */
static void passive(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    for (unsigned i = 0; i < 20; i++) {
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_RDMA_WRITE, .id = i, .length = 5000, .flags = signaled}));
        one_success(p.a.send_cq, i, IBV_WC_RDMA_WRITE);
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_RDMA_READ, .id = i, .length = 5000, .flags = signaled}));
        one_success(p.a.send_cq, i, IBV_WC_RDMA_READ);
    }
}

static void from_srq(void)
{
    struct end_pair p = make_pair((struct pair_options){.with_srq = 1, .recv_wr = 64});
    struct ibv_wc wc;
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 20; i++)
            EQUAL(0, post_recv(&p.b, i * 2048, 2048));
        for (unsigned i = 0; i < 20; i++)
            EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 1500}));
        for (unsigned i = 0; i < 20; i++) {
            EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
            EQUAL(i * 2048, wc.wr_id);
            EQUAL(1500, wc.byte_len);
        }
    }
}

/* A sleeper wakes by its channel, for a send as for a receive. */
static void sleeper(void)
{
    struct end_pair p = make_pair((struct pair_options){.with_channel = 1});
    struct ibv_cq *cq;
    void *context;
    struct ibv_wc wc;
    for (unsigned i = 0; i < 20; i++) {
        EQUAL(0, post_recv(&p.b, 0, 4096));
        EQUAL(0, ibv_req_notify_cq(p.b.recv_cq, 0));
        EQUAL(0, ibv_req_notify_cq(p.a.send_cq, 0));
        EQUAL(0,
              post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 2000, .flags = signaled}));
        for (struct end *end = &p.a; end; end = end == &p.a ? &p.b : NULL) {
            struct pollfd wait = {.fd = end->channel->fd, .events = POLLIN};
            EQUAL(1, poll(&wait, 1, 20000));
            EQUAL(0, ibv_get_cq_event(end->channel, &cq, &context));
            ibv_ack_cq_events(cq, 1);
            EQUAL(1, ibv_poll_cq(cq, 1, &wc));
            EQUAL(IBV_WC_SUCCESS, wc.status);
        }
    }
}

static void big_message(void)
{
    enum { SIZE = 24 << 20 };
    struct end_pair p = make_pair((struct pair_options){.size = SIZE, .mtu = IBV_MTU_4096});
    struct ibv_wc wc;
    fill(p.a.memory, SIZE, 9);
    EQUAL(0, post_recv(&p.b, 0, SIZE));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = SIZE, .flags = signaled}));
    EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
    EQUAL(SIZE, wc.byte_len);
    CHECK(is_filled(p.b.memory, SIZE, 9));
    EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"sends", sends},
                                            {"writes-and-reads", writes_and_reads},
                                            {"flush-write", flush_write},
                                            {"atomics", atomics},
                                            {"order", order},
                                            {"inline", inline_data},
                                            {"receiver-not-ready", receiver_not_ready},
                                            {"passive", passive},
                                            {"from-srq", from_srq},
                                            {"sleeper", sleeper},
                                            {"big-message", big_message},
                                            {0}});
}
