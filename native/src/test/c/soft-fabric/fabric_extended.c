/* The extended interfaces: ibv_wr_* and the polling of ibv_create_cq_ex. */
#include "fabric.h"
#include <pthread.h>

#define FIELDS IBV_WC_STANDARD_FLAGS

struct extended {
    struct end end; /* its memory, domain and address handle */
    struct ibv_cq_ex *cq;
    struct ibv_qp *qp;
    struct ibv_qp_ex *ex;
};

static struct ibv_cq_ex *make_cq(struct ibv_context *context, uint32_t flags)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 256, .wc_flags = FIELDS, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS, .flags = flags};
    struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &attr);
    CHECK(cq);
    return cq;
}

static struct extended make(uint32_t flags, uint32_t inline_data)
{
    struct extended x = {.end = make_end((struct end_options){0})};
    x.cq = make_cq(x.end.context, flags);
    struct ibv_qp_init_attr_ex init = {.send_cq = ibv_cq_ex_to_cq(x.cq),
                                       .recv_cq = ibv_cq_ex_to_cq(x.cq),
                                       .qp_type = IBV_QPT_UD,
                                       .cap = {16, 64, 2, 2, inline_data},
                                       .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
                                       .pd = x.end.pd,
                                       .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM};
    CHECK(x.qp = ibv_create_qp_ex(x.end.context, &init));
    CHECK(x.ex = ibv_qp_to_qp_ex(x.qp));
    EQUAL(0, to_init(x.qp, QKEY));
    EQUAL(0, to_rtr(x.qp));
    EQUAL(0, to_rts(x.qp));
    return x;
}

static void receive_at(struct extended *x, size_t offset)
{
    struct ibv_sge sge = sge_at(&x->end, offset, 1024);
    struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_recv(x->qp, &wr, &bad));
}

static void address_self(struct extended *x)
{
    ibv_wr_set_ud_addr(x->ex, x->end.ah, x->qp->qp_num, QKEY);
}

static void all_kinds(void)
{
    struct extended x = make(0, 64);
    struct ibv_poll_cq_attr attr = {0};
    char text[] = "inline";
    struct ibv_sge sges[2] = {sge_at(&x.end, 0x20000, 10), sge_at(&x.end, 0x20100, 20)};
    struct ibv_data_buf buffers[2] = {{text, 3}, {text + 3, 4}};
    fill(x.end.memory + 0x20000, 0x200, 3);
    for (size_t i = 0; i < 4; i++)
        receive_at(&x, i * 1024);
    ibv_wr_start(x.ex);
    x.ex->wr_id = 100;
    x.ex->wr_flags = 0;
    ibv_wr_send(x.ex);
    address_self(&x);
    ibv_wr_set_sge(x.ex, x.end.mr->lkey, (uintptr_t)x.end.memory + 0x20000, 100);
    x.ex->wr_id = 101;
    ibv_wr_send_imm(x.ex, htobe32(0xfeed));
    ibv_wr_set_sge_list(x.ex, 2, sges);
    address_self(&x);
    x.ex->wr_id = 102;
    x.ex->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
    ibv_wr_send(x.ex);
    address_self(&x);
    ibv_wr_set_inline_data(x.ex, text, sizeof text);
    x.ex->wr_id = 103;
    ibv_wr_send(x.ex);
    address_self(&x);
    ibv_wr_set_inline_data_list(x.ex, 2, buffers);
    memset(text, 0, sizeof text);               /* it was copied */
    EQUAL(ENOENT, ibv_start_poll(x.cq, &attr)); /* nothing has gone before it is complete */
    EQUAL(0, ibv_wr_complete(x.ex));

    EQUAL(0, ibv_start_poll(x.cq, &attr));
    /* the signaled sends come first: they are complete when they are posted */
    for (uint64_t id = 102; id < 104; id++) {
        EQUAL(id, x.cq->wr_id);
        EQUAL(IBV_WC_SUCCESS, x.cq->status);
        EQUAL(IBV_WC_SEND, ibv_wc_read_opcode(x.cq));
        EQUAL(x.qp->qp_num, ibv_wc_read_qp_num(x.cq));
        EQUAL(0, ibv_next_poll(x.cq));
    }
    const uint32_t lengths[] = {100, 30, 7, 7};
    for (size_t i = 0; i < 4; i++) {
        EQUAL(i * 1024, x.cq->wr_id);
        EQUAL(IBV_WC_RECV, ibv_wc_read_opcode(x.cq));
        EQUAL(GRH + lengths[i], ibv_wc_read_byte_len(x.cq));
        EQUAL(x.qp->qp_num, ibv_wc_read_src_qp(x.cq));
        EQUAL(1, ibv_wc_read_slid(x.cq));
        EQUAL(0, ibv_wc_read_sl(x.cq));
        EQUAL(0, ibv_wc_read_dlid_path_bits(x.cq));
        EQUAL(i == 1 ? IBV_WC_WITH_IMM : 0, ibv_wc_read_wc_flags(x.cq));
        if (i == 1)
            EQUAL(0xfeed, be32toh(ibv_wc_read_imm_data(x.cq)));
        EQUAL(i < 3 ? 0 : ENOENT, ibv_next_poll(x.cq));
    }
    ibv_end_poll(x.cq);
    CHECK(is_filled(x.end.memory + GRH, 100, 3));
    CHECK(!memcmp(x.end.memory + 1024 + GRH + 10, x.end.memory + 0x20100, 20));
    CHECK(!strcmp(x.end.memory + 2048 + GRH, "inline") && !strcmp(x.end.memory + 3072 + GRH, "inline"));
}

static int post(struct extended *x, unsigned count, size_t inline_length, int with_address)
{
    static char data[1024];
    ibv_wr_start(x->ex);
    x->ex->wr_flags = IBV_SEND_SIGNALED;
    for (unsigned i = 0; i < count; i++) {
        x->ex->wr_id = i;
        ibv_wr_send(x->ex);
        if (with_address || i == 0)
            address_self(x);
        ibv_wr_set_inline_data(x->ex, data, inline_length);
    }
    return ibv_wr_complete(x->ex);
}

/* ibv_wr_post(3): an error is told by complete, and then nothing of the critical section has gone. */
static void all_or_none(void)
{
    struct extended x = make(0, 64);
    struct ibv_sge sges[3] = {{0}};
    struct ibv_poll_cq_attr attr = {0};
    struct ibv_wc wc[16];
    EQUAL(EINVAL, post(&x, 2, 65, 1));
    EQUAL(EINVAL, post(&x, 2, 8, 0));
    EQUAL(ENOMEM, post(&x, 17, 8, 1));
    ibv_wr_start(x.ex);
    ibv_wr_send(x.ex);
    address_self(&x);
    ibv_wr_set_sge_list(x.ex, 3, sges);
    EQUAL(EINVAL, ibv_wr_complete(x.ex));
    ibv_wr_start(x.ex);
    ibv_wr_send(x.ex);
    ibv_wr_abort(x.ex);
    ibv_wr_start(x.ex);
    EQUAL(0, ibv_wr_complete(x.ex));
    EQUAL(ENOENT, ibv_start_poll(x.cq, &attr));
    EQUAL(0, post(&x, 16, 64, 1));
    EQUAL(16, ibv_poll_cq(ibv_cq_ex_to_cq(x.cq), 16, wc)); /* both ways of polling see one queue */
    for (uint64_t i = 0; i < 16; i++)
        EQUAL(i, wc[i].wr_id);
    EQUAL(EINVAL, ibv_start_poll(x.cq, &(struct ibv_poll_cq_attr){.comp_mask = 1}));
    struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
    EQUAL(0, ibv_modify_qp(x.qp, &reset, IBV_QP_STATE));
    EQUAL(EINVAL, post(&x, 1, 8, 1));
    EQUAL(0, ibv_destroy_qp(x.qp));
    EQUAL(0, ibv_destroy_cq(ibv_cq_ex_to_cq(x.cq)));
}

static void cannot(struct extended *x, struct ibv_qp_init_attr_ex init, int error)
{
    errno = 0;
    CHECK(!ibv_create_qp_ex(x->end.context, &init));
    EQUAL(error, errno);
}

static void creation(void)
{
    struct extended x = make(IBV_CREATE_CQ_ATTR_SINGLE_THREADED, 0);
    struct ibv_cq *cq = ibv_cq_ex_to_cq(x.cq);
    const struct ibv_qp_init_attr_ex good = {.send_cq = cq,
                                             .recv_cq = cq,
                                             .qp_type = IBV_QPT_UD,
                                             .cap = {4, 4, 1, 1, 0},
                                             .comp_mask = IBV_QP_INIT_ATTR_PD,
                                             .pd = x.end.pd};
    struct ibv_qp_init_attr_ex init = good;
    struct ibv_qp *plain = ibv_create_qp_ex(x.end.context, &init);
    CHECK(plain && !ibv_qp_to_qp_ex(plain) && !ibv_qp_to_qp_ex(x.end.qp));
    init = good;
    init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE;
    cannot(&x, init, EOPNOTSUPP);
    init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO;
    cannot(&x, init, EOPNOTSUPP);
    init = good;
    init.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
    init.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
    cannot(&x, init, EOPNOTSUPP);
    init = good;
    init.comp_mask |= IBV_QP_INIT_ATTR_RX_HASH;
    cannot(&x, init, EOPNOTSUPP);
    struct ibv_cq_init_attr_ex stamps = {.cqe = 4, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
    errno = 0;
    CHECK(!ibv_create_cq_ex(x.end.context, &stamps));
    EQUAL(EOPNOTSUPP, errno);
    struct ibv_cq_init_attr_ex none = {.cqe = 0};
    errno = 0;
    CHECK(!ibv_create_cq_ex(x.end.context, &none));
    EQUAL(EINVAL, errno);
}

enum { THREADS = 3, EACH = 400 };

static void *post_many(void *argument)
{
    struct extended *x = argument;
    for (unsigned i = 0; i < EACH; i++) {
        ibv_wr_start(x->ex);
        x->ex->wr_id = 1;
        x->ex->wr_flags = IBV_SEND_SIGNALED;
        for (unsigned k = 0; k < 2; k++) {
            ibv_wr_send(x->ex);
            address_self(x);
            ibv_wr_set_inline_data(x->ex, "x", 2);
        }
        EQUAL(0, ibv_wr_complete(x->ex));
        struct ibv_poll_cq_attr attr = {0};
        if (!ibv_start_poll(x->cq, &attr)) {
            do {
                EQUAL(1, x->cq->wr_id);
                EQUAL(IBV_WC_SEND, ibv_wc_read_opcode(x->cq));
                __atomic_add_fetch((unsigned *)x->end.memory, 1, __ATOMIC_RELAXED);
            } while (!ibv_next_poll(x->cq));
            ibv_end_poll(x->cq);
        }
        if (i % 2)
            continue;
        struct ibv_wc wc;
        if (ibv_poll_cq(ibv_cq_ex_to_cq(x->cq), 1, &wc) == 1)
            __atomic_add_fetch((unsigned *)x->end.memory, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* start to complete is one critical section of the queue pair. */
static void threads(void)
{
    struct extended x = make(0, 64);
    pthread_t thread[THREADS];
    struct ibv_poll_cq_attr attr = {0};
    memset(x.end.memory, 0, 4);
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_create(&thread[i], NULL, post_many, &x));
    for (int i = 0; i < THREADS; i++)
        EQUAL(0, pthread_join(thread[i], NULL));
    EQUAL(ENOENT, ibv_start_poll(x.cq, &attr));
    EQUAL(THREADS * EACH * 2, *(unsigned *)x.end.memory);
}

/* What ibv_query_device(3) has, the number of ports once more, and no newer capability. */
static void device(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_device_attr plain;
    struct ibv_device_attr_ex extended;
    memset(&extended, 0xff, sizeof extended);
    EQUAL(0, ibv_query_device(a.context, &plain));
    EQUAL(0, ibv_query_device_ex(a.context, NULL, &extended));
    CHECK(!memcmp(&plain, &extended.orig_attr, sizeof plain));
    EQUAL(plain.phys_port_cnt, extended.phys_port_cnt_ex);
    EQUAL(plain.device_cap_flags, extended.device_cap_flags_ex);
    EQUAL(0, extended.odp_caps.general_caps);
    EQUAL(0, extended.max_dm_size);
    CHECK(plain.vendor_id && plain.node_guid && plain.sys_image_guid);
    EQUAL(EINVAL, ibv_query_device_ex(a.context, &(struct ibv_query_device_ex_input){.comp_mask = 1}, &extended));
}

/* Objects of a parent domain are those of its protection domain, whose regions they use; it goes with the last of the
 * two. */
static void domains(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_td *td = ibv_alloc_td(a.context, &(struct ibv_td_init_attr){0});
    CHECK(td && td->context == a.context);
    struct ibv_pd *pd = ibv_alloc_pd(a.context),
                  *parent =
                      ibv_alloc_parent_domain(a.context, &(struct ibv_parent_domain_init_attr){.pd = pd, .td = td});
    CHECK(pd && parent && parent->context == a.context);
    struct ibv_cq_ex *cq = ibv_create_cq_ex(
        a.context,
        &(struct ibv_cq_init_attr_ex){.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = parent});
    CHECK(cq);
    struct ibv_qp_init_attr init = {
        .send_cq = ibv_cq_ex_to_cq(cq), .recv_cq = ibv_cq_ex_to_cq(cq), .qp_type = IBV_QPT_UD, .cap = {4, 4, 1, 1, 0}};
    struct ibv_qp *qp = ibv_create_qp(parent, &init);
    struct ibv_mr *mr = ibv_reg_mr(pd, a.memory, 4096, IBV_ACCESS_LOCAL_WRITE);
    CHECK(qp && mr);
    EQUAL(0, to_init(qp, QKEY));
    EQUAL(0, to_rtr(qp));
    EQUAL(0, to_rts(qp));
    struct ibv_sge sge = {(uintptr_t)a.memory, 8, mr->lkey};
    struct ibv_send_wr wr = send_wr(&a, &sge, IBV_SEND_SIGNALED), *bad;
    struct ibv_wc wc;
    EQUAL(0, ibv_post_send(qp, &wr, &bad));
    EQUAL(1, poll_for(ibv_cq_ex_to_cq(cq), 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(0, ibv_dealloc_pd(parent));
    EQUAL(EBUSY, ibv_dealloc_pd(pd));
    EQUAL(0, ibv_destroy_qp(qp));
    EQUAL(0, ibv_dereg_mr(mr));
    EQUAL(0, ibv_dealloc_pd(pd));
    EQUAL(0, ibv_dealloc_td(td));
    errno = 0;
    CHECK(!ibv_alloc_parent_domain(a.context, &(struct ibv_parent_domain_init_attr){0}) && errno == EINVAL);
}

/* Memory for on-demand paging is registered as usual; all of the address space is not, as by a device that cannot. */
static void on_demand(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_mr *mr = ibv_reg_mr(a.pd, a.memory, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
    CHECK(mr);
    struct ibv_sge sge = {(uintptr_t)a.memory, 4096, mr->lkey};
    EQUAL(0, ibv_advise_mr(a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1));
    EQUAL(EINVAL, ibv_advise_mr(a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 1u << 9, &sge, 1));
    EQUAL(EOPNOTSUPP, ibv_advise_mr(a.pd, (enum ibv_advise_mr_advice)99, 0, &sge, 1));
    EQUAL(0, ibv_dereg_mr(mr));
    CHECK(mr = ibv_reg_mr_iova(a.pd, a.memory, 4096, 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND));
    EQUAL(0, ibv_dereg_mr(mr));
    errno = 0;
    CHECK(!ibv_reg_mr(a.pd, NULL, SIZE_MAX, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND) && errno == EINVAL);
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"all-kinds", all_kinds},
                                            {"all-or-none", all_or_none},
                                            {"creation", creation},
                                            {"threads", threads},
                                            {"device", device},
                                            {"domains", domains},
                                            {"on-demand", on_demand},
                                            {0}});
}
