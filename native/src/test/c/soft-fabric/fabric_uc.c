/* Unreliable connections: what a message does at the other end, and that one which has lost a packet does nothing more.
 * "stream" and "broken-message" hold over a network that loses, doubles and reorders packets, too. */
#include "fabric_connect.h"
#include <arpa/inet.h>
#include <poll.h>

static const unsigned signaled = IBV_SEND_SIGNALED;

static struct end_pair pair_of(struct pair_options options)
{
    options.unreliable = 1;
    return make_pair(options);
}

static struct ibv_wc one(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    EQUAL(1, await_wc(cq, 1, &wc));
    return wc;
}

static void one_success(struct ibv_cq *cq, uint64_t id, enum ibv_wc_opcode opcode)
{
    struct ibv_wc wc = one(cq);
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(id, wc.wr_id);
    EQUAL(opcode, wc.opcode);
}

static void sends(void)
{
    static const uint32_t sizes[] = {0, 1, 100, 1023, 1024, 1025, 4096, 5000, 16384, 65536, 100000};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    struct end_pair p = pair_of((struct pair_options){.psn = 0xfffffa}); /* numbers wrap */
    fill(p.a.memory, p.a.size, 3);
    for (unsigned i = 0; i < COUNT; i++) {
        EQUAL(0, post_recv(&p.b, 0, 100000));
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = i % 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND,
                                         .id = i,
                                         .local = i,
                                         .length = sizes[i],
                                         .immediate = 7 * i,
                                         .flags = i % 3 ? signaled : 0,
                                         .halved = 1}));
        struct ibv_wc wc = one(p.b.recv_cq);
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(IBV_WC_RECV, wc.opcode);
        EQUAL(sizes[i], wc.byte_len);
        EQUAL(i % 2 ? IBV_WC_WITH_IMM : 0, wc.wc_flags);
        if (i % 2)
            EQUAL(7 * i, ntohl(wc.imm_data));
        EQUAL(p.b.qp->qp_num, wc.qp_num);
        EQUAL(p.a.qp->qp_num, wc.src_qp);
        CHECK(!memcmp(p.b.memory, p.a.memory + i, sizes[i]));
        if (i % 3)
            one_success(p.a.send_cq, i, IBV_WC_SEND);
    }
    CHECK(stays_empty(p.a.send_cq));
}

static void writes(void)
{
    struct end_pair p = pair_of((struct pair_options){.mtu = IBV_MTU_4096});
    fill(p.a.memory, 300001, 5);
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){
                      .opcode = IBV_WR_RDMA_WRITE, .id = 1, .remote = 13, .length = 300001, .flags = signaled}));
    one_success(p.a.send_cq, 1, IBV_WC_RDMA_WRITE);
    EQUAL(0, post_recv(&p.b, 900000, 8));
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                     .id = 2,
                                     .remote = 600000,
                                     .length = 9000,
                                     .immediate = 99,
                                     .flags = signaled}));
    one_success(p.a.send_cq, 2, IBV_WC_RDMA_WRITE);
    struct ibv_wc wc = one(p.b.recv_cq);
    EQUAL(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
    EQUAL(9000, wc.byte_len);
    EQUAL(99, ntohl(wc.imm_data));
    CHECK(!memcmp(p.b.memory + 600000, p.a.memory, 9000));
    CHECK(is_filled(p.b.memory + 13, 300001, 5)); /* before the one that was told of: order within the connection */
    EQUAL(0, p.b.memory[12]);
    EQUAL(0, p.b.memory[13 + 300001]);
}

/* The program's own thread sleeps: somebody else takes the packets. */
static void sleeper(void)
{
    struct end_pair p = pair_of((struct pair_options){.with_channel = 1});
    struct ibv_cq *cq;
    void *context;
    EQUAL(0, ibv_req_notify_cq(p.b.recv_cq, 0));
    EQUAL(0, post_recv(&p.b, 0, 2000));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 2000}));
    struct pollfd fd = {.fd = p.b.channel->fd, .events = POLLIN};
    EQUAL(1, poll(&fd, 1, 20000));
    EQUAL(0, ibv_get_cq_event(p.b.channel, &cq, &context));
    ibv_ack_cq_events(cq, 1);
    EQUAL(IBV_WC_SUCCESS, one(cq).status);
}

/* What the transport does not have, and what this device cannot do. */
static void refused(void)
{
    struct end_pair p = pair_of((struct pair_options){0});
    EQUAL(EINVAL, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_RDMA_READ, .length = 100}));
    EQUAL(EINVAL, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 8}));
    EQUAL(EINVAL, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .length = 8}));
    EQUAL(EINVAL, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 65, .flags = IBV_SEND_INLINE}));
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    EQUAL(0, post_recv(&p.b, 0, 100));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 64, .flags = IBV_SEND_INLINE}));
    EQUAL(IBV_WC_SUCCESS, one(p.b.recv_cq).status);
    struct end_pair q = pair_of((struct pair_options){.not_connected = 1});
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                .path_mtu = IBV_MTU_1024,
                                .dest_qp_num = 5,
                                .ah_attr = {.dlid = own_lid(q.a.context), .port_num = 1}};
    EQUAL(EINVAL, ibv_modify_qp(q.a.qp, &attr,
                                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
}

/* Without a receive, with too small a one, without the right, with a wrong key: nothing is told to anybody, and the
 * next one comes. */
static void silence(void)
{
    struct end_pair p = pair_of((struct pair_options){.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE});
    fill(p.a.memory, 4000, 1);
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = 1, .length = 3000, .flags = signaled}));
    one_success(p.a.send_cq, 1, IBV_WC_SEND);
    CHECK(stays_empty(p.b.recv_cq));
    EQUAL(0, post_recv(&p.b, 0, 1500));
    EQUAL(0, post_recv(&p.b, 8192, 4000));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = 2, .length = 3000, .flags = signaled}));
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_RDMA_WRITE,
                                     .id = 3,
                                     .length = 3000,
                                     .remote = 16384,
                                     .rkey = p.b.mr->rkey ^ 0x500,
                                     .flags = signaled}));
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_SEND, .id = 4, .local = 100, .length = 1200, .flags = signaled}));
    struct ibv_wc wc = one(p.b.recv_cq);
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(1200, wc.byte_len); /* the receive that was too small is there still, and is filled from its beginning */
    EQUAL(0, wc.wr_id);
    CHECK(!memcmp(p.b.memory, p.a.memory + 100, 1200));
    EQUAL(0, p.b.memory[16384]);
    for (uint64_t i = 2; i < 5; i++)
        EQUAL(i, one(p.a.send_cq).wr_id);
    EQUAL(IBV_QPS_RTS, state_of(p.a.qp));
    EQUAL(IBV_QPS_RTS, state_of(p.b.qp));
}

/* A send whose memory is wrong breaks the send queue only: what is posted then is flushed, and after it is mended it
 * goes on. */
static void broken_sends(void)
{
    struct end_pair p = pair_of((struct pair_options){0});
    struct ibv_sge sge = sge_at(&p.a, 0, 100);
    struct ibv_send_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    sge.lkey ^= 0x700;
    EQUAL(0, ibv_post_send(p.a.qp, &wr, &bad));
    struct ibv_wc wc = one(p.a.send_cq);
    EQUAL(IBV_WC_LOC_PROT_ERR, wc.status);
    EQUAL(7, wc.wr_id);
    EQUAL(IBV_QPS_SQE, state_of(p.a.qp));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = 8, .length = 10}));
    EQUAL(IBV_WC_WR_FLUSH_ERR, one(p.a.send_cq).status);
    EQUAL(0, post_recv(&p.a, 0, 100));
    EQUAL(0, post(&p.b, &p.a, (struct operation){.opcode = IBV_WR_SEND, .length = 10}));
    EQUAL(IBV_WC_SUCCESS, one(p.a.recv_cq).status);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
    EQUAL(0, ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE));
    EQUAL(0, post_recv(&p.b, 0, 100));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = 9, .length = 10, .flags = signaled}));
    EQUAL(IBV_WC_SUCCESS, one(p.b.recv_cq).status);
    one_success(p.a.send_cq, 9, IBV_WC_SEND);
}

/* A shared queue: the receive of a message that ended is the queue pair's, and the next one's. */
static void shared_queue(void)
{
    struct end_pair p = pair_of((struct pair_options){.with_srq = 1});
    struct ibv_sge sge = sge_at(&p.b, 0, 100), large = sge_at(&p.b, 4096, 4000);
    struct ibv_recv_wr second = {.wr_id = 2, .sg_list = &large, .num_sge = 1},
                       first = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .next = &second}, *bad;
    EQUAL(0, ibv_post_srq_recv(p.b.srq, &first, &bad));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 200}));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 100}));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 3000}));
    EQUAL(1, one(p.b.recv_cq).wr_id);
    struct ibv_wc wc = one(p.b.recv_cq);
    EQUAL(2, wc.wr_id);
    EQUAL(3000, wc.byte_len);
}

/* Messages of several packets, each told by its number: those that come are whole, in order, and come once. */
static void stream(void)
{
    enum { COUNT = 2000, LENGTH = 2500, DEPTH = 64 };
    struct end_pair p = pair_of((struct pair_options){0});
    long last = -1, came = 0, lost = getenv("UDCKPT_SOFT_LOSS") != NULL;
    struct ibv_wc wc[16];
    for (size_t i = 0; i < DEPTH; i++)
        EQUAL(0, post_recv(&p.b, i * 4096, 4096));
    for (unsigned i = 0; i < COUNT; i++) {
        fill(p.a.memory, LENGTH, i);
        EQUAL(0, post(&p.a, &p.b,
                      (struct operation){.opcode = IBV_WR_SEND_WITH_IMM,
                                         .id = i,
                                         .length = LENGTH,
                                         .immediate = i,
                                         .flags = i % 32 == 31 ? signaled : 0}));
        if (i % 32 == 31)
            one_success(p.a.send_cq, i, IBV_WC_SEND);
        int got = ibv_poll_cq(p.b.recv_cq, 16, wc);
        for (int k = 0; k < got; k++) {
            EQUAL(IBV_WC_SUCCESS, wc[k].status);
            EQUAL(LENGTH, wc[k].byte_len);
            CHECK((long)ntohl(wc[k].imm_data) > last);
            last = ntohl(wc[k].imm_data);
            CHECK(is_filled(p.b.memory + wc[k].wr_id, LENGTH, (unsigned)last));
            EQUAL(0, post_recv(&p.b, wc[k].wr_id, 4096));
            came++;
        }
    }
    while (ibv_poll_cq(p.b.recv_cq, 1, wc) == 1 || !stays_empty(p.b.recv_cq))
        came++;
    CHECK(lost ? came > COUNT / 2 && came < COUNT : came == COUNT);
    CHECK(stays_empty(p.a.send_cq));
}

/* The receiver comes into RTR in the middle of a stream whose numbers it was told wrongly: from the next whole message
 * on it takes all. */
static void broken_message(void)
{
    struct end_pair p = pair_of((struct pair_options){.not_connected = 1, .psn = 5});
    struct pair_options o = {.unreliable = 1};
    EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), o, 77777, 0));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 3000}));
    EQUAL(0, connect_qp(p.b.qp, p.a.qp, own_lid(p.a.context), o, 0, 5));
    EQUAL(0, post_recv(&p.b, 0, 4096));
    struct ibv_wc wc = {0};
    for (unsigned i = 0; i < 200 && !ibv_poll_cq(p.b.recv_cq, 1, &wc); i++)
        EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .length = 3000}));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(3000, wc.byte_len);
}

/* Large messages each way, the receiver of which does not poll meanwhile. */
static void large(void)
{
    enum { LENGTH = 8 << 20 };
    struct end_pair p = pair_of((struct pair_options){.mtu = IBV_MTU_4096, .size = 2 * LENGTH});
    fill(p.a.memory, LENGTH, 1);
    fill(p.b.memory, LENGTH, 2);
    EQUAL(0, post_recv(&p.b, 0, 0));
    EQUAL(
        0,
        post(
            &p.a, &p.b,
            (struct operation){
                .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .id = 1, .remote = LENGTH, .length = LENGTH, .flags = signaled}));
    one_success(p.a.send_cq, 1, IBV_WC_RDMA_WRITE);
    EQUAL(0, post_recv(&p.a, 0, 0));
    EQUAL(
        0,
        post(
            &p.b, &p.a,
            (struct operation){
                .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .id = 2, .remote = LENGTH, .length = LENGTH, .flags = signaled}));
    EQUAL(LENGTH, one(p.a.recv_cq).byte_len);
    EQUAL(LENGTH, one(p.b.recv_cq).byte_len);
    CHECK(is_filled(p.a.memory + LENGTH, LENGTH, 2) && is_filled(p.b.memory + LENGTH, LENGTH, 1));
}

/* As between-sends of fabric_receive: polls that are full of completions of sends are not all that there is. */
static void between_sends(void)
{
    enum { SENDS = 32, MESSAGES = 64, ROUNDS = 4000 };
    struct end_pair p = pair_of((struct pair_options){.with_channel = 1, .signal_all = 1});
    struct operation send = {.opcode = IBV_WR_SEND, .id = 1000, .length = 8};
    struct ibv_wc wc[SENDS];
    int received = 0;
    for (unsigned i = 0; i < MESSAGES; i++)
        EQUAL(0, post_recv(&p.a, i * 1024, 64));
    for (unsigned i = 0; i < SENDS; i++)
        EQUAL(0, post(&p.a, &p.b, send));
    for (int round = 0, n, sent = 0; round < ROUNDS && received < MESSAGES; round++) {
        if (sent++ < MESSAGES)
            EQUAL(0, post(&p.b, &p.a, send));
        CHECK((n = ibv_poll_cq(p.a.send_cq, SENDS, wc)) >= 0);
        for (int i = 0; i < n; i++) {
            EQUAL(IBV_WC_SUCCESS, wc[i].status);
            if (wc[i].opcode == IBV_WC_RECV)
                EQUAL(received++ * 1024, wc[i].wr_id);
            else
                EQUAL(0, post(&p.a, &p.b, send));
        }
    }
    EQUAL(MESSAGES, received);
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"sends", sends},
                                            {"writes", writes},
                                            {"sleeper", sleeper},
                                            {"refused", refused},
                                            {"silence", silence},
                                            {"broken-sends", broken_sends},
                                            {"shared-queue", shared_queue},
                                            {"stream", stream},
                                            {"broken-message", broken_message},
                                            {"large", large},
                                            {"between-sends", between_sends},
                                            {0}});
}
