/* Memory windows of both types: what they let a peer do, when they are bound and given up, and what of that is an
 * error. */
#include "fabric_connect.h"
#include <arpa/inet.h>

enum { AT = 4096, LENGTH = 8192, READ = IBV_ACCESS_REMOTE_READ, WRITE = IBV_ACCESS_REMOTE_WRITE };

static struct ibv_wc one(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    EQUAL(1, await_wc(cq, 1, &wc));
    return wc;
}

static struct ibv_mw_bind_info part(struct end *end, unsigned access)
{
    return (struct ibv_mw_bind_info){
        .mr = end->mr, .addr = (uintptr_t)end->memory + AT, .length = LENGTH, .mw_access_flags = access};
}

static struct ibv_send_wr binding(struct ibv_mw *mw, struct ibv_mw_bind_info info)
{
    return (struct ibv_send_wr){.wr_id = 50,
                                .opcode = IBV_WR_BIND_MW,
                                .send_flags = IBV_SEND_SIGNALED,
                                .bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = info}};
}

/* Type 1 or 2 of `end`'s memory; binds it with the status that is expected. */
static void bind_window(struct end *end, struct ibv_mw *mw, struct ibv_mw_bind_info info, enum ibv_wc_status expected)
{
    uint32_t before = mw->rkey;
    if (mw->type == IBV_MW_TYPE_1) {
        EQUAL(0, ibv_bind_mw(end->qp, mw,
                             &(struct ibv_mw_bind){.wr_id = 50, .send_flags = IBV_SEND_SIGNALED, .bind_info = info}));
    } else {
        struct ibv_send_wr wr = binding(mw, info), *bad;
        EQUAL(0, ibv_post_send(end->qp, &wr, &bad));
        mw->rkey = wr.bind_mw.rkey;
    }
    CHECK(mw->rkey != before);
    struct ibv_wc wc = one(end->send_cq);
    EQUAL(expected, wc.status);
    EQUAL(50, wc.wr_id);
    if (!expected)
        EQUAL(IBV_WC_BIND_MW, wc.opcode);
}

static struct ibv_mw *window(struct end *end, enum ibv_mw_type type, unsigned access)
{
    struct ibv_mw *mw = ibv_alloc_mw(end->pd, type);
    CHECK(mw && mw->type == type && mw->pd == end->pd && mw->context == end->context);
    bind_window(end, mw, part(end, access), IBV_WC_SUCCESS);
    return mw;
}

/* One access of a's to b's memory by a key. */
static enum ibv_wc_status try(struct end_pair *p, enum ibv_wr_opcode opcode, uint32_t rkey, size_t remote,
                              uint32_t length)
{
    EQUAL(0, post(&p->a, &p->b,
                  (struct operation){.opcode = opcode,
                                     .id = 1,
                                     .local = 65536,
                                     .remote = remote,
                                     .length = length,
                                     .rkey = rkey,
                                     .flags = IBV_SEND_SIGNALED}));
    return one(p->a.send_cq).status;
}

static void access_by(enum ibv_mw_type type)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, type, READ | WRITE);
    fill(p.a.memory + 65536, LENGTH, 7);
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, LENGTH));
    CHECK(is_filled(p.b.memory + AT, LENGTH, 7));
    memset(p.a.memory + 65536, 0, LENGTH);
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_READ, mw->rkey, AT + 100, LENGTH - 100));
    CHECK(!memcmp(p.a.memory + 65536, p.b.memory + AT + 100, LENGTH - 100));
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT + 1, LENGTH));
    EQUAL(0, ibv_dealloc_mw(mw));
}

static void first_type(void)
{
    access_by(IBV_MW_TYPE_1);
}
static void second_type(void)
{
    access_by(IBV_MW_TYPE_2);
}

static void rights(void)
{
    for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
        struct end_pair p = make_pair((struct pair_options){0});
        struct ibv_mw *mw = window(&p.b, type, READ);
        EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_READ, mw->rkey, AT, 100));
        EQUAL(IBV_WC_REM_ACCESS_ERR, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
        struct end_pair q = make_pair((struct pair_options){0}); /* local writes are no right of a peer's */
        mw = window(&q.b, type, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_RELAXED_ORDERING);
        EQUAL(IBV_WC_REM_ACCESS_ERR, try(&q, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
    }
}

/* Each binding has another key, the ones before mean nothing; one to nothing takes the key back (type 1). */
static void bound_anew(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_1, READ | WRITE);
    uint32_t before = mw->rkey;
    for (int i = 0; i < 300; i++)
        bind_window(&p.b, mw, part(&p.b, WRITE), IBV_WC_SUCCESS);
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
    CHECK(before != mw->rkey);
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&p, IBV_WR_RDMA_WRITE, before, AT, 100));
    struct end_pair q = make_pair((struct pair_options){0});
    mw = window(&q.b, IBV_MW_TYPE_1, READ | WRITE);
    before = mw->rkey;
    bind_window(&q.b, mw, (struct ibv_mw_bind_info){0}, IBV_WC_SUCCESS);
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&q, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
}

static void zero_based(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_2, WRITE | IBV_ACCESS_ZERO_BASED);
    fill(p.a.memory + 65536, 200, 3);
    size_t base = (size_t)0 - (uintptr_t)p.b.memory; /* as an offset from where the memory begins */
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, base + 50, 200));
    CHECK(is_filled(p.b.memory + AT + 50, 200, 3));
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
}

/* The owner takes a key back, or a peer's message does. */
static void given_up(int by_peer)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_2, READ | WRITE);
    struct ibv_send_wr wr = {.wr_id = 60,
                             .opcode = by_peer ? IBV_WR_SEND_WITH_INV : IBV_WR_LOCAL_INV,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    struct ibv_sge sge = sge_at(&p.a, 0, 3000);
    wr.invalidate_rkey = mw->rkey;
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, 100));
    if (by_peer) {
        wr.sg_list = &sge;
        wr.num_sge = 1;
        EQUAL(0, post_recv(&p.b, 100000, 4000));
    }
    struct end *by = by_peer ? &p.a : &p.b;
    EQUAL(0, ibv_post_send(by->qp, &wr, &bad));
    struct ibv_wc wc = one(by->send_cq);
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(60, wc.wr_id);
    EQUAL(by_peer ? IBV_WC_SEND : IBV_WC_LOCAL_INV, wc.opcode);
    if (by_peer) {
        wc = one(p.b.recv_cq);
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(3000, wc.byte_len);
        EQUAL(IBV_WC_WITH_INV, wc.wc_flags);
        EQUAL(mw->rkey, wc.invalidated_rkey);
    }
    uint32_t before = mw->rkey;
    bind_window(&p.b, mw, part(&p.b, READ), IBV_WC_SUCCESS); /* it can be bound again, by another key */
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_READ, mw->rkey, AT, 100));
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&p, IBV_WR_RDMA_READ, before, AT, 100));
}

static void local_inv(void)
{
    given_up(0);
}
static void send_with_inv(void)
{
    given_up(1);
}

/* In one list: the key is good when the peer hears of it, and the binding waits for nothing but its turn. */
static void in_order(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = ibv_alloc_mw(p.b.pd, IBV_MW_TYPE_2);
    struct ibv_wc wc[4];
    for (int i = 0; i < 200; i++) {
        uint32_t key = ibv_inc_rkey(mw->rkey);
        struct ibv_sge sge = {(uintptr_t)&key, sizeof key, 0}, from = sge_at(&p.b, 200000, 5000);
        struct ibv_send_wr inv = {.wr_id = 4, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = key}, *bad;
        struct ibv_send_wr send = {.wr_id = 3,
                                   .sg_list = &sge,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_SEND,
                                   .send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED};
        struct ibv_send_wr bind = binding(mw, part(&p.b, WRITE));
        struct ibv_send_wr read = {.wr_id = 1,
                                   .sg_list = &from,
                                   .num_sge = 1,
                                   .opcode = IBV_WR_RDMA_READ,
                                   .next = &bind,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .wr.rdma = {(uintptr_t)p.a.memory, p.a.mr->rkey}};
        bind.next = &send;
        bind.wr_id = 2;
        bind.send_flags |= IBV_SEND_FENCE;
        EQUAL(0, post_recv(&p.a, 0, 8));
        EQUAL(0, ibv_post_send(p.b.qp, &read, &bad));
        EQUAL(IBV_WC_SUCCESS, one(p.a.recv_cq).status);
        CHECK(!memcmp(p.a.memory, &key, sizeof key));
        EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, key, AT, 100));
        EQUAL(3, await_wc(p.b.send_cq, 3, wc));
        for (unsigned k = 0; k < 3; k++)
            EQUAL(k + 1, wc[k].wr_id);
        EQUAL(0, ibv_post_send(p.b.qp, &inv, &bad));
        mw->rkey = key;
    }
}

/* Of type 2, another queue pair of the same domain cannot use it. */
static void of_one_queue_pair(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct pair_options o = {0};
    struct ibv_qp_init_attr init = {
        .send_cq = p.b.send_cq, .recv_cq = p.b.recv_cq, .qp_type = IBV_QPT_RC, .cap = {16, 16, 1, 1, 0}};
    struct ibv_qp *other = ibv_create_qp(p.b.pd, &init);
    CHECK(other);
    EQUAL(0, to_init_rc(other, READ | WRITE));
    init.send_cq = p.a.send_cq, init.recv_cq = p.a.recv_cq;
    struct ibv_qp *peer = ibv_create_qp(p.a.pd, &init);
    CHECK(peer);
    EQUAL(0, to_init_rc(peer, READ | WRITE));
    EQUAL(0, connect_qp(other, peer, own_lid(p.a.context), o, 1, 2));
    EQUAL(0, connect_qp(peer, other, own_lid(p.b.context), o, 2, 1));
    struct ibv_mw *first = window(&p.b, IBV_MW_TYPE_1, WRITE), *second = window(&p.b, IBV_MW_TYPE_2, WRITE);
    struct end_pair q = p;
    q.a.qp = peer;
    EQUAL(IBV_WC_SUCCESS, try(&q, IBV_WR_RDMA_WRITE, first->rkey, AT, 100));
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, second->rkey, AT, 100));
    EQUAL(IBV_WC_REM_ACCESS_ERR, try(&q, IBV_WR_RDMA_WRITE, second->rkey, AT, 100));
}

static void mistake(enum ibv_mw_type type, struct ibv_mw_bind_info (*wrong)(struct end *))
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = ibv_alloc_mw(p.b.pd, type);
    CHECK(mw);
    bind_window(&p.b, mw, wrong(&p.b), IBV_WC_MW_BIND_ERR);
    EQUAL(IBV_QPS_ERR, state_of(p.b.qp));
}

static struct ibv_mw_bind_info too_long(struct end *end)
{
    struct ibv_mw_bind_info info = part(end, READ);
    info.length = end->size;
    return info;
}

static struct ibv_mw_bind_info not_to_be_bound(struct end *end)
{
    struct ibv_mw_bind_info info = part(end, READ);
    CHECK(info.mr = ibv_reg_mr(end->pd, end->memory, end->size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
    return info;
}

static struct ibv_mw_bind_info not_writable(struct end *end)
{
    struct ibv_mw_bind_info info = part(end, WRITE);
    CHECK(info.mr = ibv_reg_mr(end->pd, end->memory, end->size, IBV_ACCESS_MW_BIND));
    return info;
}

static void mistakes(void)
{
    for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
        mistake(type, too_long);
        mistake(type, not_to_be_bound);
        mistake(type, not_writable);
    }
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_2, READ);
    struct ibv_send_wr wr = binding(mw, part(&p.b, READ)), *bad;
    wr.bind_mw.rkey ^= 0x5500; /* of another window */
    EQUAL(EINVAL, ibv_post_send(p.b.qp, &wr, &bad));
    bind_window(&p.b, mw, part(&p.b, READ), IBV_WC_MW_BIND_ERR); /* it is bound, and was not given up */
    struct end_pair q = make_pair((struct pair_options){0});
    wr = (struct ibv_send_wr){
        .wr_id = 5, .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = window(&q.b, IBV_MW_TYPE_1, READ)->rkey};
    EQUAL(0, ibv_post_send(q.b.qp, &wr, &bad));
    EQUAL(IBV_WC_MW_BIND_ERR, one(q.b.send_cq).status);
    struct end_pair r = make_pair((struct pair_options){0});
    wr = (struct ibv_send_wr){.wr_id = 6, .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = r.b.mr->rkey};
    EQUAL(0, post_recv(&r.b, 0, 100));
    EQUAL(0, ibv_post_send(r.a.qp, &wr, &bad));
    EQUAL(IBV_WC_REM_ACCESS_ERR, one(r.a.send_cq).status);
}

/* A region with a window, a domain with one, and a key that is no local one. */
static void lives(void)
{
    struct end_pair p = make_pair((struct pair_options){0});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_2, READ);
    EQUAL(EBUSY, ibv_dereg_mr(p.b.mr));
    struct ibv_sge sge = {(uintptr_t)p.b.memory + AT, 100, mw->rkey};
    struct ibv_send_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
    EQUAL(0, ibv_post_send(p.b.qp, &wr, &bad));
    EQUAL(IBV_WC_LOC_PROT_ERR, one(p.b.send_cq).status);
    EQUAL(0, ibv_destroy_qp(p.b.qp)); /* and with it what was bound through it */
    EQUAL(0, ibv_dereg_mr(p.b.mr));
    EQUAL(EBUSY, ibv_dealloc_pd(p.b.pd));
    EQUAL(0, ibv_dealloc_mw(mw));
    EQUAL(0, ibv_dealloc_pd(p.b.pd));
    struct ibv_device_attr device;
    EQUAL(0, ibv_query_device(p.a.context, &device));
    CHECK(device.max_mw > 0 && device.device_cap_flags & IBV_DEVICE_MEM_WINDOW &&
          device.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

/* The extended interface, on a queue pair that is connected to itself. */
static void extended(void)
{
    struct end_pair p = make_pair((struct pair_options){.not_connected = 1});
    struct ibv_qp_init_attr_ex init = {.send_cq = p.b.send_cq,
                                       .recv_cq = p.b.recv_cq,
                                       .cap = {16, 16, 1, 1, 0},
                                       .qp_type = IBV_QPT_RC,
                                       .pd = p.b.pd,
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .send_ops_flags = IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV |
                                                         IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE};
    struct ibv_qp *qp = ibv_create_qp_ex(p.b.context, &init);
    CHECK(qp);
    EQUAL(0, to_init_rc(qp, READ | WRITE));
    EQUAL(0, connect_qp(qp, qp, own_lid(p.b.context), (struct pair_options){0}, 1, 1));
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(qp);
    struct ibv_mw *mw = ibv_alloc_mw(p.b.pd, IBV_MW_TYPE_2);
    struct ibv_mw_bind_info info = part(&p.b, WRITE);
    uint32_t key = ibv_inc_rkey(mw->rkey);
    p.b.qp = qp;
    EQUAL(0, post_recv(&p.b, 0, 100));
    ibv_wr_start(ex);
    ex->wr_flags = IBV_SEND_SIGNALED;
    for (uint64_t i = 0; i < 5; i++) {
        ex->wr_id = i;
        switch (i) {
        case 0:
        case 3:
            ibv_wr_bind_mw(ex, mw, i ? ibv_inc_rkey(key) : key, &info);
            break;
        case 1:
            ibv_wr_rdma_write(ex, key, (uintptr_t)p.b.memory + AT);
            ibv_wr_set_sge(ex, p.b.mr->lkey, (uintptr_t)p.b.memory, 100);
            break;
        case 2:
            ibv_wr_local_inv(ex, key);
            break;
        default:
            ibv_wr_send_inv(ex, ibv_inc_rkey(key));
        }
    }
    EQUAL(0, ibv_wr_complete(ex));
    for (uint64_t i = 0; i < 5; i++) {
        struct ibv_wc wc = one(p.b.send_cq);
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(i, wc.wr_id);
    }
    EQUAL(ibv_inc_rkey(key), one(p.b.recv_cq).invalidated_rkey);
}

/* Unreliable connections have them, too; what is wrong breaks the send queue. */
static void unreliable(void)
{
    struct end_pair p = make_pair((struct pair_options){.unreliable = 1});
    struct ibv_mw *mw = window(&p.b, IBV_MW_TYPE_2, WRITE);
    struct ibv_send_wr wr = {.wr_id = 9, .opcode = IBV_WR_SEND_WITH_INV, .invalidate_rkey = mw->rkey}, *bad;
    fill(p.a.memory + 65536, 3000, 4);
    EQUAL(0, post_recv(&p.b, 0, 100));
    EQUAL(IBV_WC_SUCCESS, try(&p, IBV_WR_RDMA_WRITE, mw->rkey, AT, 3000));
    EQUAL(0, ibv_post_send(p.a.qp, &wr, &bad));
    struct ibv_wc wc = one(p.b.recv_cq);
    EQUAL(IBV_WC_WITH_INV, wc.wc_flags);
    EQUAL(mw->rkey, wc.invalidated_rkey);
    CHECK(is_filled(p.b.memory + AT, 3000, 4));
    wr.opcode = IBV_WR_LOCAL_INV; /* a second time */
    EQUAL(0, ibv_post_send(p.b.qp, &wr, &bad));
    EQUAL(IBV_WC_MW_BIND_ERR, one(p.b.send_cq).status);
    EQUAL(IBV_QPS_SQE, state_of(p.b.qp));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"first-type", first_type},
                                            {"second-type", second_type},
                                            {"rights", rights},
                                            {"bound-anew", bound_anew},
                                            {"zero-based", zero_based},
                                            {"local-inv", local_inv},
                                            {"send-with-inv", send_with_inv},
                                            {"in-order", in_order},
                                            {"of-one-queue-pair", of_one_queue_pair},
                                            {"mistakes", mistakes},
                                            {"lives", lives},
                                            {"extended", extended},
                                            {"unreliable", unreliable},
                                            {0}});
}
