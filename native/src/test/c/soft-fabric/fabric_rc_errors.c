/* Reliable connections: what goes wrong, how it is reported at both ends, and what is flushed after it. */
#include "fabric_connect.h"

static const unsigned signaled = IBV_SEND_SIGNALED;

/* The first completion has this status, the others are flushed, in the order of posting. */
static void fails_with(struct end *a, enum ibv_wc_status status, unsigned count)
{
    struct ibv_wc wc;
    for (unsigned i = 0; i < count; i++) {
        EQUAL(1, await_wc(a->send_cq, 1, &wc));
        EQUAL(i, wc.wr_id);
        EQUAL(i ? IBV_WC_WR_FLUSH_ERR : status, wc.status);
        EQUAL(a->qp->qp_num, wc.qp_num);
    }
    EQUAL(IBV_QPS_ERR, state_of(a->qp));
}

static void three(struct end_pair *p, struct operation first)
{
    EQUAL(0, post(&p->a, &p->b, first)); /* unsignaled: a failure is reported all the same */
    for (unsigned i = 1; i < 3; i++)
        EQUAL(0, post(&p->a, &p->b, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .id = i, .length = 8}));
}

static void event_is(struct end *end, enum ibv_event_type type)
{
    struct ibv_async_event event;
    EQUAL(0, ibv_get_async_event(end->context, &event));
    EQUAL(type, event.event_type);
    CHECK(event.element.qp == end->qp);
    ibv_ack_async_event(&event);
}

static void wrong_key(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    three(&p, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .length = 8, .rkey = p.b.mr->rkey + 1});
    fails_with(&p.a, IBV_WC_REM_ACCESS_ERR, 3);
    event_is(&p.b, IBV_EVENT_QP_ACCESS_ERR);
    EQUAL(IBV_QPS_ERR, state_of(p.b.qp));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = 0}));
    fails_with(&p.a, IBV_WC_WR_FLUSH_ERR, 1);
}

static void out_of_bounds(void)
{
    enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ};
    for (int i = 0; i < 2; i++) {
        struct end_pair p = make_pair((struct pair_options){0});
        fill(p.a.memory, 20000, 1);
        three(&p, (struct operation){.opcode = opcodes[i], .remote = p.b.size - 10000, .length = 10001});
        fails_with(&p.a, IBV_WC_REM_ACCESS_ERR, 3);
        EQUAL(0, p.b.memory[p.b.size - 10000]); /* not one byte of it */
    }
}

/* A right that the memory does not give is an access error, one that the queue pair does not give an invalid
 * request. */
static void rights(void)
{
    enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD};
    for (int i = 0; i < 3; i++) {
        struct end_pair p = make_pair((struct pair_options){0});
        struct ibv_mr *local = ibv_reg_mr(p.b.pd, p.b.memory, p.b.size, IBV_ACCESS_LOCAL_WRITE);
        three(&p, (struct operation){.opcode = opcodes[i], .length = 8, .rkey = local->rkey});
        fails_with(&p.a, IBV_WC_REM_ACCESS_ERR, 3);
        p = make_pair((struct pair_options){.access = IBV_ACCESS_LOCAL_WRITE});
        three(&p, (struct operation){.opcode = opcodes[i], .length = 8});
        fails_with(&p.a, IBV_WC_REM_INV_REQ_ERR, 3);
        event_is(&p.b, IBV_EVENT_QP_REQ_ERR);
    }
}

static void misaligned_atomic(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    three(&p, (struct operation){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .remote = 4, .length = 8});
    fails_with(&p.a, IBV_WC_REM_INV_REQ_ERR, 3);
}

static void bad_local_key(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    p.a.mr->lkey++;
    three(&p, (struct operation){.opcode = IBV_WR_SEND, .length = 8});
    p.a.mr->lkey--;
    fails_with(&p.a, IBV_WC_LOC_PROT_ERR, 3);
}

static void read_into_foreign_memory(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mr *constant = ibv_reg_mr(p.a.pd, p.a.memory, p.a.size, 0), *whole = p.a.mr;
    p.a.mr = constant;
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_RDMA_READ, .length = 8}));
    p.a.mr = whole;
    fails_with(&p.a, IBV_WC_LOC_PROT_ERR, 1);
}

static void receive_too_small(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_wc wc[2];
    EQUAL(0, post_recv(&p.b, 0, 1500));
    EQUAL(0, post_recv(&p.b, 4096, 1500));
    three(&p, (struct operation){.opcode = IBV_WR_SEND, .length = 1501});
    fails_with(&p.a, IBV_WC_REM_INV_REQ_ERR, 3);
    EQUAL(2, await_wc(p.b.recv_cq, 2, wc));
    EQUAL(IBV_WC_LOC_LEN_ERR, wc[0].status);
    EQUAL(0, wc[0].wr_id);
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[1].status);
    EQUAL(4096, wc[1].wr_id);
}

static void receive_not_registered(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_wc wc;
    struct ibv_sge sge = {(uintptr_t)p.b.memory, 64, p.b.mr->lkey + 1};
    struct ibv_recv_wr wr = {.wr_id = 5, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_recv(p.b.qp, &wr, &bad));
    three(&p, (struct operation){.opcode = IBV_WR_SEND, .length = 8});
    fails_with(&p.a, IBV_WC_REM_OP_ERR, 3);
    EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
    EQUAL(IBV_WC_LOC_PROT_ERR, wc.status);
    EQUAL(5, wc.wr_id);
}

static void never_ready(void)
{
    struct end_pair p = make_pair((struct pair_options){.rnr_retry = 2});
    three(&p, (struct operation){.opcode = IBV_WR_SEND, .length = 8});
    fails_with(&p.a, IBV_WC_RNR_RETRY_EXC_ERR, 3);
    EQUAL(IBV_QPS_RTS, state_of(p.b.qp));
}

static void nobody_there(void)
{
    struct end_pair p = make_pair((struct pair_options){.timeout = 8});
    EQUAL(0, ibv_destroy_qp(p.b.qp));
    three(&p, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .length = 8});
    fails_with(&p.a, IBV_WC_RETRY_EXC_ERR, 3);
}

/* What the peer has acknowledged has succeeded, also where nobody has looked at its answer before the connection is
 * given up. The peer has answered when it is gone. */
static void given_up_when_taken(void)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    for (uint64_t i = 0; i < 50; i++) {
        struct end_pair p = make_pair((struct pair_options){0});
        struct ibv_wc wc;
        EQUAL(0, post_recv(&p.b, 0, 64));
        EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 8, .flags = signaled}));
        EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
        EQUAL(0, ibv_destroy_qp(p.b.qp));
        EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .id = i + 1, .length = 8}));
        EQUAL(0, ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE));
        EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
        EQUAL(i, wc.wr_id);
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
        EQUAL(i + 1, wc.wr_id);
        EQUAL(IBV_WC_WR_FLUSH_ERR, wc.status);
        EQUAL(0, ibv_destroy_qp(p.a.qp));
    }
}

/* A poll tells of what it has taken in itself: who hears "nothing" may look for the peer's end next, and take for
 * failed what was acknowledged (libfabric). Now and then the engine is at it at that moment. */
static void one_poll(void)
{
    enum { MESSAGES = 200 };
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_wc wc;
    int at_once = 0;
    for (uint64_t i = 0; i < MESSAGES; i++) {
        EQUAL(0, post_recv(&p.b, 0, 64));
        EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 8, .flags = signaled}));
        int got = ibv_poll_cq(p.b.recv_cq, 1, &wc);
        at_once += got == 1;
        EQUAL(1, got == 1 ? 1 : await_wc(p.b.recv_cq, 1, &wc));
        EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
    }
    CHECK(at_once > MESSAGES / 2);
}

/* A device does not know that memory is gone before somebody names it. */
static void key_is_gone(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mr *late = ibv_reg_mr(p.b.pd, p.b.memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    uint32_t key = late->rkey;
    struct ibv_wc wc;
    EQUAL(0, post(&p.a, &p.b,
                  (struct operation){.opcode = IBV_WR_RDMA_WRITE, .length = 8, .rkey = key, .flags = signaled}));
    EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(0, ibv_dereg_mr(late));
    three(&p, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .length = 8, .rkey = key});
    fails_with(&p.a, IBV_WC_REM_ACCESS_ERR, 3);
}

static void first_packet_event(void)
{
    struct pair_options o = {.not_connected = 1};
    struct end_pair p = make_pair(o);
    EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), o, 1, 2));
    EQUAL(0, to_rtr_rc(p.b.qp, p.a.qp->qp_num, own_lid(p.a.context), o, 1));
    EQUAL(0, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_RDMA_WRITE, .length = 8}));
    event_is(&p.b, IBV_EVENT_COMM_EST);
    EQUAL(0, to_rts_rc(p.b.qp, o, 2));
}

static void last_wqe_event(void)
{
    struct end_pair p = make_pair((struct pair_options){.with_srq = 1});
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    EQUAL(0, post_recv(&p.b, 0, 64));
    EQUAL(0, ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE));
    event_is(&p.b, IBV_EVENT_QP_LAST_WQE_REACHED);
    CHECK(stays_empty(p.b.recv_cq)); /* the receive stays in the shared queue */
}

static void refused_posts(void)
{
    struct end_pair p = make_pair((struct pair_options){.send_wr = 16});
    struct operation big = {.opcode = IBV_WR_RDMA_WRITE, .length = 8};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
    EQUAL(EINVAL, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .length = 4}));
    EQUAL(EOPNOTSUPP, post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_TSO}));
    EQUAL(EINVAL, ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY));
    attr.max_rd_atomic = 17;
    EQUAL(EINVAL, ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC));
    EQUAL(0, ibv_destroy_qp(p.b.qp)); /* nothing is answered: the queue fills */
    for (int i = 0; i < 16; i++)
        EQUAL(0, post(&p.a, &p.b, big));
    EQUAL(ENOMEM, post(&p.a, &p.b, big));
    struct end_pair q = make_pair((struct pair_options){.not_connected = 1});
    EQUAL(EINVAL, post(&q.a, &q.b, big));
}

/* After a reset the same queue pairs can be connected again, and know nothing of before. */
static void again(void)
{
    struct pair_options o = {0};
    struct end_pair p = make_pair(o);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
    struct ibv_wc wc;
    for (unsigned i = 0; i < 3; i++) {
        EQUAL(0, post_recv(&p.b, 0, 4096));
        EQUAL(0, post_recv(&p.b, 4096, 4096));
        EQUAL(0,
              post(&p.a, &p.b, (struct operation){.opcode = IBV_WR_SEND, .id = i, .length = 2000, .flags = signaled}));
        EQUAL(1, await_wc(p.a.send_cq, 1, &wc));
        EQUAL(i, wc.wr_id);
        EQUAL(1, await_wc(p.b.recv_cq, 1, &wc));
        EQUAL(0, wc.wr_id);
        EQUAL(0, ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE));
        EQUAL(0, ibv_modify_qp(p.b.qp, &attr, IBV_QP_STATE));
        CHECK(stays_empty(p.b.recv_cq));
        EQUAL(0, to_init_rc(p.a.qp, 0));
        EQUAL(0, to_init_rc(p.b.qp, 0));
        EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), o, i, i));
        EQUAL(0, connect_qp(p.b.qp, p.a.qp, own_lid(p.a.context), o, i, i));
    }
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"wrong-key", wrong_key},
                                            {"out-of-bounds", out_of_bounds},
                                            {"rights", rights},
                                            {"misaligned-atomic", misaligned_atomic},
                                            {"bad-local-key", bad_local_key},
                                            {"read-into-foreign-memory", read_into_foreign_memory},
                                            {"receive-too-small", receive_too_small},
                                            {"receive-not-registered", receive_not_registered},
                                            {"never-ready", never_ready},
                                            {"nobody-there", nobody_there},
                                            {"given-up-when-taken", given_up_when_taken},
                                            {"one-poll", one_poll},
                                            {"key-is-gone", key_is_gone},
                                            {"first-packet-event", first_packet_event},
                                            {"last-wqe-event", last_wqe_event},
                                            {"refused-posts", refused_posts},
                                            {"again", again},
                                            {0}});
}
