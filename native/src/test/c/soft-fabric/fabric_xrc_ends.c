#include "fabric_xrc_ends.h"
#include <fcntl.h>

struct ibv_xrcd *open_domain(struct ibv_context *context, int fd, int oflags)
{
    struct ibv_xrcd_init_attr attr = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags};
    return ibv_open_xrcd(context, &attr);
}

struct ibv_srq *make_srq(struct queue *q, struct ibv_xrcd *domain)
{
    struct ibv_srq_init_attr_ex attr = {.attr = {.max_wr = 64, .max_sge = 2},
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = q->pd,
                                        .xrcd = domain,
                                        .cq = q->cq,
                                        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
                                                     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ};
    return ibv_create_srq_ex(domain->context, &attr);
}

struct ibv_qp *make_target(struct ibv_xrcd *domain)
{
    struct ibv_qp_init_attr_ex attr = {.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};
    return ibv_create_qp_ex(domain->context, &attr);
}

struct receiver make_receiver(void)
{
    struct receiver b = {.context = open_soft()};
    CHECK(b.domain = open_domain(b.context, -1, O_CREAT));
    CHECK(b.target = make_target(b.domain));
    EQUAL(IBV_QPT_XRC_RECV, b.target->qp_type);
    for (int i = 0; i < QUEUES; i++) {
        struct queue *q = &b.queues[i];
        CHECK(q->pd = ibv_alloc_pd(b.context));
        CHECK(q->memory = aligned_alloc(4096, 1 << 20));
        memset(q->memory, 0, 1 << 20);
        CHECK(q->mr = ibv_reg_mr(q->pd, q->memory, 1 << 20, IBV_ACCESS_LOCAL_WRITE | RIGHTS));
        CHECK(q->channel = ibv_create_comp_channel(b.context));
        CHECK(q->cq = ibv_create_cq(b.context, 256, NULL, q->channel, 0));
        CHECK(q->srq = make_srq(q, b.domain));
        EQUAL(0, ibv_get_srq_num(q->srq, &q->number));
        CHECK(q->number && q->number <= 0xffffff);
    }
    CHECK(b.queues[0].number != b.queues[1].number);
    return b;
}

/* Its domain, memory and queues; ibv_qp_to_qp_ex() has the other interface to it. */
struct end make_initiator(int send_wr)
{
    struct end a = {.context = open_soft(), .size = 1 << 20};
    CHECK(a.pd = ibv_alloc_pd(a.context));
    CHECK(a.memory = aligned_alloc(4096, a.size));
    CHECK(a.mr = ibv_reg_mr(a.pd, a.memory, a.size, IBV_ACCESS_LOCAL_WRITE));
    CHECK(a.send_cq = ibv_create_cq(a.context, 1024, NULL, NULL, 0));
    struct ibv_qp_init_attr_ex attr = {
        .send_cq = a.send_cq,
        .qp_type = IBV_QPT_XRC_SEND,
        .pd = a.pd,
        .cap = {.max_send_wr = (uint32_t)send_wr, .max_send_sge = 2, .max_inline_data = 64},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD};
    CHECK(a.qp = ibv_create_qp_ex(a.context, &attr));
    return a;
}

/* The masks are those of the kernel's table. */
void connect_ends(struct fixture *f, int min_rnr_timer)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = RIGHTS};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_4096,
                              .dest_qp_num = f->b.target->qp_num,
                              .rq_psn = 9,
                              .max_dest_rd_atomic = 4,
                              .min_rnr_timer = (uint8_t)min_rnr_timer,
                              .ah_attr = {.dlid = own_lid(f->a.context), .port_num = 1}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .sq_psn = 0xfffffd, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 4};
    int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    EQUAL(0, ibv_modify_qp(f->a.qp, &init, to_init));
    EQUAL(0, ibv_modify_qp(f->b.target, &init, to_init));
    EQUAL(EINVAL, ibv_modify_qp(f->a.qp, &rtr, to_rtr | IBV_QP_MIN_RNR_TIMER));
    EQUAL(0, ibv_modify_qp(f->a.qp, &rtr, to_rtr));
    rtr.dest_qp_num = f->a.qp->qp_num;
    rtr.rq_psn = 0xfffffd;
    EQUAL(EINVAL, ibv_modify_qp(f->b.target, &rtr, to_rtr));
    EQUAL(0, ibv_modify_qp(f->b.target, &rtr, to_rtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    EQUAL(0, ibv_modify_qp(f->a.qp, &rts,
                           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_MAX_QP_RD_ATOMIC));
}

struct fixture make(void)
{
    struct fixture f = {.a = make_initiator(64), .b = make_receiver()};
    connect_ends(&f, 1);
    return f;
}

void receive(struct queue *q, uint64_t id)
{
    struct ibv_sge sge = {(uintptr_t)q->memory + id * RECEIVE, RECEIVE, q->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_srq_recv(q->srq, &wr, &bad));
}

struct ibv_send_wr request(struct queue *q, enum ibv_wr_opcode opcode, uint64_t id, struct ibv_sge *sge)
{
    struct ibv_send_wr wr = {.wr_id = id,
                             .sg_list = sge,
                             .num_sge = 1,
                             .opcode = opcode,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)q->memory + 0x80000, q->mr->rkey}};
    wr.qp_type.xrc.remote_srqn = q->number;
    return wr;
}

void sent(struct end *a, uint64_t id, enum ibv_wc_status status)
{
    struct ibv_wc wc;
    EQUAL(1, await_wc(a->send_cq, 1, &wc));
    EQUAL(status, wc.status);
    EQUAL(id, wc.wr_id);
    EQUAL(a->qp->qp_num, wc.qp_num);
}

void received(struct fixture *f, int i, uint64_t id, uint32_t length, unsigned seed)
{
    struct queue *q = &f->b.queues[i];
    struct ibv_wc wc;
    EQUAL(1, await_wc(q->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(IBV_WC_RECV, wc.opcode);
    EQUAL(id, wc.wr_id);
    EQUAL(length, wc.byte_len);
    EQUAL(f->b.target->qp_num, wc.qp_num);
    EQUAL(f->a.qp->qp_num, wc.src_qp);
    CHECK(is_filled(q->memory + id * RECEIVE, length, seed));
}

/* By turns to both queues, of sizes around that of a packet, which is the largest that there is. */
