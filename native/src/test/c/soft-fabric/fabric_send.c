/* Sending: every kind of send, and every way to get it wrong. */
#include "fabric.h"

static void plain(void)
{
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){0});
    struct ibv_wc wc;
    for (uint32_t length = 0; length <= 4096; length += 512) {
        memset(b.memory, 0x5a, 8192);
        fill(a.memory, length, length);
        EQUAL(0, post_recv(&b, 0, GRH + 4096));
        EQUAL(0, post_send(&a, &b, 0, length, IBV_SEND_SIGNALED));
        EQUAL(1, poll_for(a.send_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(IBV_WC_SEND, wc.opcode);
        EQUAL(a.qp->qp_num, wc.qp_num);
        EQUAL(1, poll_for(b.recv_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status);
        EQUAL(IBV_WC_RECV, wc.opcode);
        EQUAL(GRH + length, wc.byte_len);
        EQUAL(b.qp->qp_num, wc.qp_num);
        EQUAL(a.qp->qp_num, wc.src_qp);
        EQUAL(1, wc.slid);
        EQUAL(0, wc.wc_flags);
        CHECK(is_filled(b.memory + GRH, length, length));
        EQUAL(0x5a, b.memory[GRH + length]);
    }
    drop_end(&a);
    drop_end(&b);
    EQUAL(0, ibv_close_device(a.context));
    EQUAL(0, ibv_close_device(b.context));
}

static void immediate(void)
{
    struct end a = make_end((struct end_options){0});
    EQUAL(0, post_recv(&a, 0, 256));
    struct ibv_send_wr wr = send_wr(&a, NULL, 0), *bad;
    wr.opcode = IBV_WR_SEND_WITH_IMM;
    wr.imm_data = htobe32(0xcafe0001);
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    struct ibv_wc wc;
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    EQUAL(IBV_WC_WITH_IMM, wc.wc_flags);
    EQUAL(0xcafe0001, be32toh(wc.imm_data));
    EQUAL(GRH, wc.byte_len);
}

static void inline_data(void)
{
    struct end a = make_end((struct end_options){.inline_data = 64});
    char text[65] = "not registered, and gone right after the call";
    struct ibv_sge sge = {(uintptr_t)text, 64, 0xdead};
    struct ibv_send_wr wr = send_wr(&a, &sge, IBV_SEND_INLINE), *bad = NULL;
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    memset(text, 0, sizeof text);
    struct ibv_wc wc;
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    CHECK(!strcmp(a.memory + GRH, "not registered, and gone right after the call"));
    sge.length = 65;
    EQUAL(EINVAL, ibv_post_send(a.qp, &wr, &bad));
    CHECK(bad == &wr);
}

/* A list longer than any batch, gathered from two elements each, scattered to three. */
static void list_and_gather(void)
{
    enum { COUNT = 50 };
    struct end a = make_end((struct end_options){.signal_all = 1});
    struct ibv_send_wr wr[COUNT], *bad;
    struct ibv_sge out[COUNT][2];
    struct ibv_wc wc[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        struct ibv_sge in[3] = {sge_at(&a, 0x80000 + i * 2048, 17), sge_at(&a, 0x80000 + i * 2048 + 100, 60),
                                sge_at(&a, 0x80000 + i * 2048 + 200, 500)};
        struct ibv_recv_wr recv = {.wr_id = i, .sg_list = in, .num_sge = 3}, *bad_recv;
        EQUAL(0, ibv_post_recv(a.qp, &recv, &bad_recv));
        fill(a.memory + i * 1024, 300, i);
        out[i][0] = sge_at(&a, i * 1024, 100);
        out[i][1] = sge_at(&a, i * 1024 + 100, 200);
        wr[i] = send_wr(&a, out[i], 0);
        wr[i].num_sge = 2;
        wr[i].wr_id = i;
        wr[i].next = i + 1 < COUNT ? &wr[i + 1] : NULL;
    }
    EQUAL(0, ibv_post_send(a.qp, wr, &bad));
    EQUAL(COUNT, poll_for(a.send_cq, COUNT, wc));
    for (unsigned i = 0; i < COUNT; i++)
        EQUAL(i, wc[i].wr_id);
    EQUAL(COUNT, poll_for(a.recv_cq, COUNT, wc));
    for (unsigned i = 0; i < COUNT; i++) {
        char *at = a.memory + 0x80000 + i * 2048, whole[300];
        EQUAL(i, wc[i].wr_id);
        EQUAL(GRH + 300, wc[i].byte_len);
        /* 17 + 23 bytes of GRH, then 37 bytes in the second element and the rest in the third */
        memcpy(whole, at + 100 + 23, 37);
        memcpy(whole + 37, at + 200, 263);
        CHECK(is_filled(whole, 300, i));
    }
}

static void unsignaled(void)
{
    struct end a = make_end((struct end_options){0});
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(0, post_send(&a, &a, 512, 8, 0));
    struct ibv_wc wc;
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    CHECK(stays_empty(a.send_cq));
}

static void qkey(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_sge sge = sge_at(&a, 512, 8);
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
    struct ibv_wc wc;
    EQUAL(0, post_recv(&a, 0, 256));
    wr.wr.ud.remote_qkey = QKEY + 1;
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    CHECK(stays_empty(a.recv_cq));      /* dropped, and the receive is still there */
    wr.wr.ud.remote_qkey = 0x80000000u; /* stands for the queue pair's own */
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    struct ibv_qp_attr attr = {.qkey = 77};
    EQUAL(0, ibv_modify_qp(a.qp, &attr, IBV_QP_QKEY));
    EQUAL(0, post_recv(&a, 0, 256));
    EQUAL(0, post_send(&a, &a, 512, 8, 0));
    CHECK(stays_empty(a.recv_cq));
    wr.wr.ud.remote_qkey = 77;
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
}

static void nobody_there(void)
{
    struct end a = make_end((struct end_options){.signal_all = 1});
    struct ibv_sge sge = sge_at(&a, 0, 8);
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
    struct ibv_wc wc;
    const uint32_t qpns[] = {1, 0xffff, 0x10000, 0xfffffe};
    for (int i = 0; i < 4; i++) {
        wr.wr.ud.remote_qpn = qpns[i];
        EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
        EQUAL(1, poll_for(a.send_cq, 1, &wc));
        EQUAL(IBV_WC_SUCCESS, wc.status); /* UD: sent is all that it says */
    }
    wr.wr.ud.ah = ah_to(a.pd, 4711);
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    EQUAL(1, poll_for(a.send_cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

/* The list before the wrong work request is sent, the rest is not, and bad_wr names it. */
static void bad_work_request(void)
{
    struct end a = make_end((struct end_options){.sge = 2});
    struct ibv_sge sge[3] = {sge_at(&a, 512, 8), sge_at(&a, 512, 8), sge_at(&a, 512, 8)};
    struct ibv_send_wr wr[3] = {send_wr(&a, sge, 0), send_wr(&a, sge, 0), send_wr(&a, sge, 0)}, *bad = NULL;
    struct ibv_wc wc[4];
    wr[0].next = &wr[1];
    wr[1].next = &wr[2];
    const int wrong_opcode[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP};
    for (int i = 0; i < 5; i++) {
        EQUAL(0, post_recv(&a, 0, 256));
        wr[1].opcode = i < 3 ? wrong_opcode[i] : IBV_WR_SEND;
        wr[1].num_sge = i == 3 ? 3 : 1;
        wr[1].wr.ud.ah = i == 4 ? NULL : a.ah;
        EQUAL(EINVAL, ibv_post_send(a.qp, wr, &bad));
        CHECK(bad == &wr[1]);
        EQUAL(1, poll_for(a.recv_cq, 1, wc));
        CHECK(stays_empty(a.recv_cq));
    }
}

/* InfiniBand Architecture 1.2.1, 10.3.1.5 (SQE): a failed UD send stops the send queue only. */
static void failed_send(struct end *a, enum ibv_wc_status expected, struct ibv_sge *sge)
{
    struct ibv_sge good = sge_at(a, 512, 8);
    struct ibv_send_wr wr[3] = {send_wr(a, &good, 0), send_wr(a, sge, 0), send_wr(a, &good, 0)}, *bad;
    struct ibv_wc wc[4];
    for (int i = 0; i < 3; i++) {
        wr[i].wr_id = (uint64_t)i;
        wr[i].next = i < 2 ? &wr[i + 1] : NULL;
    }
    EQUAL(0, post_recv(a, 0, 256));
    EQUAL(0, ibv_post_send(a->qp, wr, &bad));
    EQUAL(2, poll_for(a->send_cq, 2, wc));
    EQUAL(1, wc[0].wr_id);
    EQUAL(expected, wc[0].status);
    EQUAL(2, wc[1].wr_id);
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[1].status);
    EQUAL(IBV_QPS_SQE, state_of(a->qp));
    EQUAL(1, poll_for(a->recv_cq, 1, wc)); /* the first one arrived, and receiving goes on */
    EQUAL(IBV_WC_SUCCESS, wc[0].status);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
    EQUAL(0, ibv_modify_qp(a->qp, &attr, IBV_QP_STATE));
    EQUAL(0, post_recv(a, 0, 256));
    EQUAL(0, post_send(a, a, 512, 8, IBV_SEND_SIGNALED));
    EQUAL(1, poll_for(a->send_cq, 1, wc));
    EQUAL(IBV_WC_SUCCESS, wc[0].status);
    EQUAL(1, poll_for(a->recv_cq, 1, wc));
}

static void too_long(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_sge sge = sge_at(&a, 0, 4097);
    failed_send(&a, IBV_WC_LOC_LEN_ERR, &sge);
}

static void wrong_key(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_sge bad_key = sge_at(&a, 0, 8), beyond = sge_at(&a, a.size - 4, 8), elsewhere = sge_at(&a, 0, 8);
    bad_key.lkey ^= 1;
    failed_send(&a, IBV_WC_LOC_PROT_ERR, &bad_key);
    failed_send(&a, IBV_WC_LOC_PROT_ERR, &beyond);
    struct ibv_pd *other = ibv_alloc_pd(a.context);
    struct ibv_mr *mr = ibv_reg_mr(other, a.memory, 4096, 0);
    elsewhere.lkey = mr->lkey;
    failed_send(&a, IBV_WC_LOC_PROT_ERR, &elsewhere);
    EQUAL(EBUSY, ibv_dealloc_pd(other));
    EQUAL(0, ibv_dereg_mr(mr));
    EQUAL(0, ibv_dealloc_pd(other));
}

/* Memory that was unmapped behind the device's back. */
static void unmapped(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_sge sge = unmapped_sge(&a, 8);
    failed_send(&a, IBV_WC_LOC_PROT_ERR, &sge);
}

/* A region may be named by other addresses than its own (ibv_reg_mr_iova). */
static void iova(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_mr *mr = ibv_reg_mr_iova(a.pd, a.memory, 4096, 0x7000000000ull, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr);
    fill(a.memory + 100, 50, 9);
    struct ibv_sge sge = {0x7000000000ull + 100, 50, mr->lkey};
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
    EQUAL(0, post_recv(&a, 8192, 256));
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    struct ibv_wc wc;
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    CHECK(is_filled(a.memory + 8192 + GRH, 50, 9));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"plain", plain},
                                            {"immediate", immediate},
                                            {"inline", inline_data},
                                            {"list-and-gather", list_and_gather},
                                            {"unsignaled", unsignaled},
                                            {"qkey", qkey},
                                            {"nobody-there", nobody_there},
                                            {"bad-work-request", bad_work_request},
                                            {"too-long", too_long},
                                            {"wrong-key", wrong_key},
                                            {"unmapped", unmapped},
                                            {"iova", iova},
                                            {0}});
}
