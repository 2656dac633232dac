/* The state machine of a UD queue pair, limits, and what may not be destroyed yet. */
#include "fabric.h"

static int modify(struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
    struct ibv_qp_attr attr = {.qp_state = state, .cur_qp_state = qp->state, .port_num = 1, .qkey = QKEY};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

static void transitions(void)
{
    const int init = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
    struct end a = make_end((struct end_options){.stay_in_reset = 1});
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_RTR, 0));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_RTS, IBV_QP_SQ_PSN));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_INIT, init | IBV_QP_SQ_PSN));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_INIT, init | IBV_QP_ACCESS_FLAGS)); /* RC's, not UD's */
    struct ibv_qp_attr wrong = {.qp_state = IBV_QPS_INIT, .port_num = 2, .qkey = QKEY};
    EQUAL(EINVAL, ibv_modify_qp(a.qp, &wrong, IBV_QP_STATE | init));
    wrong = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1, .pkey_index = 1};
    EQUAL(EINVAL, ibv_modify_qp(a.qp, &wrong, IBV_QP_STATE | init));
    EQUAL(IBV_QPS_RESET, a.qp->state);
    EQUAL(0, modify(a.qp, IBV_QPS_INIT, init));
    EQUAL(0, modify(a.qp, IBV_QPS_INIT, IBV_QP_QKEY));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_RTS, IBV_QP_SQ_PSN));
    EQUAL(0, modify(a.qp, IBV_QPS_RTR, 0));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_RTS, 0));
    EQUAL(0, modify(a.qp, IBV_QPS_RTS, IBV_QP_SQ_PSN));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_INIT, init));
    EQUAL(EOPNOTSUPP, modify(a.qp, IBV_QPS_SQD, 0));
    wrong = (struct ibv_qp_attr){.cur_qp_state = IBV_QPS_SQE, .qkey = 3};
    EQUAL(EINVAL, ibv_modify_qp(a.qp, &wrong, IBV_QP_CUR_STATE | IBV_QP_QKEY));
    EQUAL(0, modify(a.qp, IBV_QPS_RTS, IBV_QP_CUR_STATE | IBV_QP_QKEY));
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr made;
    EQUAL(0, ibv_query_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_QKEY | IBV_QP_CAP, &made));
    EQUAL(IBV_QPS_RTS, attr.qp_state);
    EQUAL(QKEY, attr.qkey);
    EQUAL(1, attr.port_num);
    EQUAL(64, made.cap.max_send_wr);
    CHECK(attr.cap.max_send_sge >= 2);
    CHECK(made.send_cq == a.send_cq && made.recv_cq == a.recv_cq);
    EQUAL(0, modify(a.qp, IBV_QPS_RESET, 0));
    EQUAL(0, modify(a.qp, IBV_QPS_ERR, 0));
    EQUAL(EINVAL, modify(a.qp, IBV_QPS_RTS, 0));
    EQUAL(0, modify(a.qp, IBV_QPS_RESET, 0));
}

/* What comes before a queue pair is ready to receive is lost, although it may post receives. */
static void not_ready(void)
{
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){.stay_in_reset = 1});
    struct ibv_sge sge = sge_at(&b, 0, 256);
    struct ibv_recv_wr recv = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad_recv = NULL;
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad = NULL;
    struct ibv_wc wc;
    EQUAL(EINVAL, ibv_post_recv(b.qp, &recv, &bad_recv));
    CHECK(bad_recv == &recv);
    EQUAL(EINVAL, ibv_post_send(b.qp, &wr, &bad));
    CHECK(bad == &wr);
    EQUAL(0, to_init(b.qp, QKEY));
    EQUAL(EINVAL, ibv_post_send(b.qp, &wr, &bad));
    EQUAL(0, ibv_post_recv(b.qp, &recv, &bad_recv));
    EQUAL(0, post_send(&a, &b, 0, 8, 0));
    CHECK(stays_empty(b.recv_cq));
    EQUAL(0, to_rtr(b.qp));
    CHECK(stays_empty(b.recv_cq));
    EQUAL(EINVAL, ibv_post_send(b.qp, &wr, &bad));
    EQUAL(0, post_send(&a, &b, 0, 8, 0));
    EQUAL(1, poll_for(b.recv_cq, 1, &wc));
    EQUAL(1, wc.wr_id);
}

static void error_flushes(void)
{
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){0});
    struct ibv_wc wc[8];
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0, post_recv(&a, i, 256));
    EQUAL(0, modify(a.qp, IBV_QPS_ERR, 0));
    EQUAL(0, post_recv(&a, 4, 256)); /* still taken, and flushed at once */
    EQUAL(0, post_send(&a, &a, 5, 8, 0));
    EQUAL(5, poll_for(a.recv_cq, 5, wc));
    for (unsigned i = 0; i < 5; i++) {
        EQUAL(i, wc[i].wr_id);
        EQUAL(IBV_WC_WR_FLUSH_ERR, wc[i].status);
        EQUAL(a.qp->qp_num, wc[i].qp_num);
    }
    EQUAL(1, poll_for(a.send_cq, 1, wc)); /* unsignaled, and reported all the same */
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[0].status);
    EQUAL(5, wc[0].wr_id);
    EQUAL(0, post_send(&b, &a, 0, 8, 0));
    CHECK(stays_empty(a.recv_cq));
}

/* Reset forgets receives, arrived datagrams and completions, and the queue pair can start anew. */
static void reset_forgets(void)
{
    struct end a = make_end((struct end_options){.signal_all = 1});
    struct ibv_wc wc;
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0, post_recv(&a, i * 1024, 256));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(0, modify(a.qp, IBV_QPS_RESET, 0));
    CHECK(stays_empty(a.recv_cq));
    CHECK(stays_empty(a.send_cq));
    EQUAL(0, to_init(a.qp, QKEY));
    EQUAL(0, to_rtr(a.qp));
    EQUAL(0, to_rts(a.qp));
    CHECK(stays_empty(a.recv_cq));
    EQUAL(0, post_recv(&a, 7, 256));
    EQUAL(0, post_send(&a, &a, 0x10000, 8, 0));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(7, wc.wr_id);
}

static void create_fails(struct ibv_pd *pd, struct ibv_qp_init_attr init, int error)
{
    errno = 0;
    CHECK(!ibv_create_qp(pd, &init));
    EQUAL(error, errno);
}

static void limits(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_device_attr device;
    EQUAL(0, ibv_query_device(a.context, &device));
    struct ibv_qp_init_attr good = {.send_cq = a.send_cq,
                                    .recv_cq = a.recv_cq,
                                    .qp_type = IBV_QPT_UD,
                                    .cap = {16, 16, 2, 2, 0}},
                            init = good;
    init.cap.max_send_wr = (uint32_t)device.max_qp_wr + 1;
    create_fails(a.pd, init, EINVAL);
    init = good;
    init.cap.max_recv_sge = (uint32_t)device.max_sge + 1;
    create_fails(a.pd, init, EINVAL);
    init = good;
    init.send_cq = NULL;
    create_fails(a.pd, init, EINVAL);
    init = good;
    init.qp_type = IBV_QPT_RAW_PACKET;
    create_fails(a.pd, init, EOPNOTSUPP);
    errno = 0;
    CHECK(!ibv_create_cq(a.context, 0, NULL, NULL, 0));
    EQUAL(EINVAL, errno);
    CHECK(!ibv_create_cq(a.context, device.max_cqe + 1, NULL, NULL, 0));
    CHECK(!ibv_create_cq(a.context, 1, NULL, NULL, 1));
    errno = 0;
    CHECK(!ibv_reg_mr(a.pd, a.memory, 4096, IBV_ACCESS_REMOTE_WRITE));
    EQUAL(EINVAL, errno);
}

static void busy(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1});
    EQUAL(EBUSY, ibv_dealloc_pd(a.pd));
    EQUAL(EBUSY, ibv_destroy_cq(a.send_cq));
    EQUAL(EBUSY, ibv_destroy_cq(a.recv_cq));
    EQUAL(EBUSY, ibv_destroy_comp_channel(a.channel));
    drop_end(&a);
    EQUAL(EBUSY, ibv_dealloc_pd(a.pd));
    EQUAL(0, ibv_dereg_mr(a.mr));
    EQUAL(0, ibv_dealloc_pd(a.pd));
    EQUAL(0, ibv_close_device(a.context));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"transitions", transitions},
                                            {"not-ready", not_ready},
                                            {"error-flushes", error_flushes},
                                            {"reset-forgets", reset_forgets},
                                            {"limits", limits},
                                            {"busy", busy},
                                            {0}});
}
