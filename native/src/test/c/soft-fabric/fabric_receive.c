/* Receive queues, completion queues, shared receive queues, and what overflows. */
#include "fabric.h"
#include <fcntl.h>

static int next_event(struct ibv_context *context, struct ibv_async_event *event)
{
    fcntl(context->async_fd, F_SETFL, O_NONBLOCK);
    return ibv_get_async_event(context, event);
}

/* What comes while nothing is posted is lost: UD has no one to tell. */
static void exhausted(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_wc wc[8];
    for (unsigned i = 0; i < 3; i++)
        EQUAL(0, post_recv(&a, i * 1024, 256));
    for (unsigned i = 0; i < 8; i++) {
        fill(a.memory + 0x10000, 64, i);
        EQUAL(0, post_send(&a, &a, 0x10000, 64, 0));
    }
    EQUAL(3, poll_for(a.recv_cq, 3, wc));
    CHECK(stays_empty(a.recv_cq));
    EQUAL(0, post_recv(&a, 0, 256));
    CHECK(stays_empty(a.recv_cq));
    fill(a.memory + 0x10000, 64, 99);
    EQUAL(0, post_send(&a, &a, 0x10000, 64, 0));
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    CHECK(is_filled(a.memory + GRH, 64, 99));
}

static void full(void)
{
    struct end a = make_end((struct end_options){.recv_wr = 5});
    struct ibv_sge sge = sge_at(&a, 0, 256);
    struct ibv_recv_wr wr[7], *bad = NULL;
    for (int i = 0; i < 7; i++)
        wr[i] = (struct ibv_recv_wr){
            .wr_id = (uint64_t)i, .sg_list = &sge, .num_sge = 1, .next = i < 6 ? &wr[i + 1] : NULL};
    EQUAL(ENOMEM, ibv_post_recv(a.qp, wr, &bad));
    CHECK(bad == &wr[5]);
    wr[0].num_sge = 5;
    EQUAL(EINVAL, ibv_post_recv(a.qp, wr, &bad));
    CHECK(bad == &wr[0]);
}

/* Many more messages than a batch, in and out of order of posting and polling; nothing is lost. */
static void order(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_wc wc[64];
    unsigned sent = 0, received = 0, posted = 0;
    srand(1);
    while (received < 3000) {
        while (posted < received + 100 && rand() % 4)
            EQUAL(0, post_recv(&a, (posted++ % 128) * 512, 128));
        while (sent < posted && rand() % 8) {
            memcpy(a.memory + 0x80000, &sent, 4);
            EQUAL(0, post_send(&a, &a, 0x80000, 4, 0));
            sent++;
        }
        int n = ibv_poll_cq(a.recv_cq, 1 + rand() % 40, wc);
        CHECK(n >= 0);
        for (int i = 0; i < n; i++, received++) {
            EQUAL((received % 128) * 512, wc[i].wr_id);
            EQUAL(0, memcmp(a.memory + wc[i].wr_id + GRH, &received, 4));
        }
    }
}

static void failed_receive(struct end *a, enum ibv_wc_status expected)
{
    struct ibv_wc wc[4];
    EQUAL(0, post_recv(a, 4096, 256));
    EQUAL(0, post_send(a, a, 0x10000, 64, 0));
    EQUAL(2, poll_for(a->recv_cq, 2, wc));
    EQUAL(expected, wc[0].status);
    EQUAL(7, wc[0].wr_id);
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[1].status);
    EQUAL(4096, wc[1].wr_id);
    EQUAL(IBV_QPS_ERR, state_of(a->qp));
}

static void post_7(struct end *a, struct ibv_sge sge)
{
    struct ibv_recv_wr wr = {.wr_id = 7, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_recv(a->qp, &wr, &bad));
}

static void too_small(void)
{
    struct end a = make_end((struct end_options){0});
    post_7(&a, sge_at(&a, 0, GRH + 63));
    failed_receive(&a, IBV_WC_LOC_LEN_ERR);
}

/* What a completion channel takes in goes through the queue's ring. */
static void too_small_behind_an_event(void)
{
    struct end a = make_end((struct end_options){.with_channel = 1});
    struct ibv_wc wc[2];
    struct ibv_cq *cq;
    void *cq_context;
    post_7(&a, sge_at(&a, 0, GRH + 63));
    EQUAL(0, post_recv(&a, 4096, 256));
    EQUAL(0, ibv_req_notify_cq(a.recv_cq, 0));
    EQUAL(0, post_send(&a, &a, 0x10000, 64, 0));
    EQUAL(0, ibv_get_cq_event(a.channel, &cq, &cq_context));
    ibv_ack_cq_events(cq, 1);
    EQUAL(2, poll_for(a.recv_cq, 2, wc));
    EQUAL(7, wc[0].wr_id);
    EQUAL(IBV_WC_LOC_LEN_ERR, wc[0].status);
    EQUAL(4096, wc[1].wr_id);
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[1].status);
}

static void wrong_key(void)
{
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){0});
    struct ibv_sge sge = sge_at(&a, 0, 256);
    sge.lkey += 256;
    post_7(&a, sge);
    failed_receive(&a, IBV_WC_LOC_PROT_ERR);
    struct ibv_mr *read_only = ibv_reg_mr(b.pd, b.memory, 4096, 0);
    sge = (struct ibv_sge){(uintptr_t)b.memory, 256, read_only->lkey};
    post_7(&b, sge);
    failed_receive(&b, IBV_WC_LOC_PROT_ERR);
}

static void unmapped(void)
{
    struct end a = make_end((struct end_options){0});
    post_7(&a, unmapped_sge(&a, 256));
    failed_receive(&a, IBV_WC_LOC_PROT_ERR);
}

/* InfiniBand Architecture 1.2.1, 11.6.3.2: the CQ is lost, and the queue pairs that use it. */
static void cq_overflow(void)
{
    struct end a = make_end((struct end_options){.send_cqe = 4, .signal_all = 1});
    struct ibv_async_event event;
    struct ibv_wc wc[8];
    EQUAL(0, post_recv(&a, 1024, 256));
    EQUAL(-1, next_event(a.context, &event));
    EQUAL(EAGAIN, errno);
    for (int i = 0; i < 4; i++)
        EQUAL(0, post_send(&a, &a, 0, 8, 0));
    EQUAL(IBV_QPS_RTS, state_of(a.qp));
    EQUAL(0, post_send(&a, &a, 0, 8, 0));
    EQUAL(IBV_QPS_ERR, state_of(a.qp));
    EQUAL(0, next_event(a.context, &event));
    EQUAL(IBV_EVENT_CQ_ERR, event.event_type);
    CHECK(event.element.cq == a.send_cq);
    ibv_ack_async_event(&event);
    EQUAL(4, ibv_poll_cq(a.send_cq, 8, wc));
    EQUAL(-1, ibv_poll_cq(a.send_cq, 8, wc));
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[0].status);
    EQUAL(-1, next_event(a.context, &event));
    drop_end(&a);
}

static void cq_resize(void)
{
    struct end a = make_end((struct end_options){.send_cqe = 4, .signal_all = 1});
    struct ibv_wc wc[16];
    for (int i = 0; i < 3; i++)
        EQUAL(0, post_send(&a, &a, (size_t)i, 8, 0));
    EQUAL(EINVAL, ibv_resize_cq(a.send_cq, 2));
    EQUAL(0, ibv_resize_cq(a.send_cq, 10));
    for (int i = 3; i < 10; i++)
        EQUAL(0, post_send(&a, &a, (size_t)i, 8, 0));
    EQUAL(10, ibv_poll_cq(a.send_cq, 16, wc));
    for (int i = 0; i < 10; i++)
        EQUAL(i, wc[i].wr_id);
}

static struct ibv_srq *make_srq(struct end *owner, uint32_t max_wr)
{
    struct ibv_srq_init_attr init = {.attr = {.max_wr = max_wr, .max_sge = 2}};
    struct ibv_srq *srq = ibv_create_srq(owner->pd, &init);
    CHECK(srq);
    return srq;
}

static void srq(void)
{
    struct end owner = make_end((struct end_options){0});
    struct ibv_srq *queue = make_srq(&owner, 8);
    struct end a = make_end((struct end_options){.srq = queue, .share = &owner});
    struct end b = make_end((struct end_options){.srq = queue, .share = &owner});
    struct ibv_wc wc[8];
    for (unsigned i = 0; i < 6; i++)
        EQUAL(0, post_recv(&a, i * 1024, 256));
    struct ibv_srq_attr attr = {.srq_limit = 4};
    EQUAL(0, ibv_modify_srq(queue, &attr, IBV_SRQ_LIMIT));
    EQUAL(0, post_send(&owner, &a, 0x10000, 8, 0));
    EQUAL(0, post_send(&owner, &b, 0x10000, 8, 0));
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    EQUAL(a.qp->qp_num, wc[0].qp_num);
    EQUAL(0, wc[0].wr_id);
    EQUAL(1, poll_for(b.recv_cq, 1, wc));
    EQUAL(1024, wc[0].wr_id);
    EQUAL(b.qp->qp_num, wc[0].qp_num);
    struct ibv_async_event event;
    EQUAL(-1, next_event(owner.context, &event)); /* four are left */
    EQUAL(0, post_send(&owner, &b, 0x10000, 8, 0));
    EQUAL(1, poll_for(b.recv_cq, 1, wc));
    EQUAL(0, next_event(owner.context, &event));
    EQUAL(IBV_EVENT_SRQ_LIMIT_REACHED, event.event_type);
    CHECK(event.element.srq == queue);
    ibv_ack_async_event(&event);
    EQUAL(0, ibv_query_srq(queue, &attr));
    EQUAL(0, attr.srq_limit);
    EQUAL(8, attr.max_wr);
    struct ibv_qp_attr error = {.qp_state = IBV_QPS_ERR};
    EQUAL(0, ibv_modify_qp(a.qp, &error, IBV_QP_STATE));
    EQUAL(0, next_event(owner.context, &event));
    EQUAL(IBV_EVENT_QP_LAST_WQE_REACHED, event.event_type);
    CHECK(event.element.qp == a.qp);
    ibv_ack_async_event(&event);
    CHECK(stays_empty(a.recv_cq)); /* shared receives are not flushed */
    EQUAL(0, post_send(&owner, &b, 0x10000, 8, 0));
    EQUAL(1, poll_for(b.recv_cq, 1, wc));
    EQUAL(EBUSY, ibv_destroy_srq(queue));
    drop_end(&a);
    drop_end(&b);
    EQUAL(0, ibv_destroy_srq(queue));
}

static void srq_exhausted(void)
{
    struct end owner = make_end((struct end_options){0});
    struct ibv_srq *queue = make_srq(&owner, 4);
    struct end a = make_end((struct end_options){.srq = queue, .share = &owner});
    struct ibv_wc wc[8];
    for (unsigned i = 0; i < 4; i++)
        EQUAL(0, post_recv(&a, i * 1024, 256));
    EQUAL(ENOMEM, post_recv(&a, 0, 256));
    for (unsigned i = 0; i < 7; i++)
        EQUAL(0, post_send(&owner, &a, 0x10000, 8, 0));
    EQUAL(4, poll_for(a.recv_cq, 4, wc));
    EQUAL(0, post_recv(&a, 0, 256));
    CHECK(stays_empty(a.recv_cq));
}

/* A program that sends again for each send that completes has as many completions as it has room for, always: what
 * arrives at the same queue comes through nevertheless, and is not thrown away meanwhile. */
static void between_sends(void)
{
    enum { SENDS = 32, RECEIVES = 64, ROUNDS = 400 };
    struct end a = make_end((struct end_options){0}), b = make_end((struct end_options){.share = &a});
    struct ibv_cq *both = ibv_create_cq(a.context, 2 * (SENDS + RECEIVES), NULL, NULL, 0);
    struct ibv_qp_init_attr init = {
        .send_cq = both, .recv_cq = both, .qp_type = IBV_QPT_UD, .sq_sig_all = 1, .cap = {SENDS, RECEIVES, 1, 1, 0}};
    struct ibv_wc wc[SENDS];
    struct end c = a;
    int received = 0;
    CHECK(both && (c.qp = ibv_create_qp(a.pd, &init)));
    EQUAL(0, to_init(c.qp, QKEY) || to_rtr(c.qp) || to_rts(c.qp));
    for (unsigned i = 0; i < RECEIVES; i++)
        EQUAL(0, post_recv(&c, i * 1024, 256));
    for (unsigned i = 0; i < RECEIVES; i++)
        EQUAL(0, post_send(&b, &c, 0x80000, 8, 0));
    for (unsigned i = 0; i < SENDS; i++)
        EQUAL(0, post_send(&c, &b, 0x90000, 8, 0));
    for (int round = 0, n; round < ROUNDS && received < RECEIVES; round++) {
        CHECK((n = ibv_poll_cq(both, SENDS, wc)) >= 0);
        for (int i = 0; i < n; i++) {
            EQUAL(IBV_WC_SUCCESS, wc[i].status);
            if (wc[i].opcode == IBV_WC_RECV)
                EQUAL(received++ * 1024, wc[i].wr_id); /* in the order of their posting */
            else
                EQUAL(0, post_send(&c, &b, 0x90000, 8, 0));
        }
    }
    EQUAL(RECEIVES, received);
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"exhausted", exhausted},
                                            {"full", full},
                                            {"order", order},
                                            {"too-small", too_small},
                                            {"too-small-behind-an-event", too_small_behind_an_event},
                                            {"wrong-key", wrong_key},
                                            {"unmapped", unmapped},
                                            {"cq-overflow", cq_overflow},
                                            {"cq-resize", cq_resize},
                                            {"srq", srq},
                                            {"srq-exhausted", srq_exhausted},
                                            {"between-sends", between_sends},
                                            {0}});
}
