/* XRC: one connection, whose requests name the shared receive queue that they are for. Both ends are in this process.
 */
#include "fabric_xrc_ends.h"
#include <arpa/inet.h>
#include <fcntl.h>

static const unsigned signaled = IBV_SEND_SIGNALED;

static void sends(void)
{
    static const uint32_t lengths[] = {0, 1, 63, 4095, 4096, 4097, 65536};
    struct fixture f = make();
    for (unsigned n = 0; n < 2 * sizeof lengths / sizeof *lengths; n++) {
        uint32_t length = lengths[n / 2];
        struct ibv_sge sge = sge_at(&f.a, 0, length);
        struct ibv_send_wr wr = request(&f.b.queues[n % 2], IBV_WR_SEND, n, &sge), *bad;
        wr.send_flags |= length <= 64 ? IBV_SEND_INLINE : 0;
        fill(f.a.memory, length, n);
        receive(&f.b.queues[0], n % 7);
        receive(&f.b.queues[1], n % 7);
        EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
        sent(&f.a, n, IBV_WC_SUCCESS);
        received(&f, n % 2, n % 7, length, n);
        wr.qp_type.xrc.remote_srqn = f.b.queues[1 - n % 2].number;
        EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
        sent(&f.a, n, IBV_WC_SUCCESS);
        struct ibv_wc wc;
        EQUAL(1, await_wc(f.b.queues[1 - n % 2].cq, 1, &wc));
    }
}

/* The queue that is named says whose memory a request may touch. */
static void one_sided(void)
{
    struct fixture f = make();
    struct ibv_sge sge = sge_at(&f.a, 0, 10000), back = sge_at(&f.a, 0x40000, 10000), word = sge_at(&f.a, 0x60000, 8);
    struct ibv_wc wc;
    for (int i = 0; i < QUEUES; i++) {
        struct queue *q = &f.b.queues[i];
        struct ibv_send_wr write = request(q, IBV_WR_RDMA_WRITE_WITH_IMM, 1, &sge),
                           read = request(q, IBV_WR_RDMA_READ, 2, &back), *bad;
        struct ibv_send_wr add = request(q, IBV_WR_ATOMIC_FETCH_AND_ADD, 3, &word),
                           swap = request(q, IBV_WR_ATOMIC_CMP_AND_SWP, 4, &word);
        uint64_t *number = (uint64_t *)(q->memory + 0xf0000);
        *number = 5;
        add.wr.atomic.remote_addr = swap.wr.atomic.remote_addr = (uintptr_t)number;
        add.wr.atomic.rkey = swap.wr.atomic.rkey = q->mr->rkey;
        add.wr.atomic.compare_add = 37;
        swap.wr.atomic.compare_add = 42;
        swap.wr.atomic.swap = 0x1234567890ull;
        write.imm_data = htonl(77);
        fill(f.a.memory, 10000, (unsigned)i);
        receive(q, 3);
        EQUAL(0, ibv_post_send(f.a.qp, &write, &bad));
        sent(&f.a, 1, IBV_WC_SUCCESS);
        CHECK(is_filled(q->memory + 0x80000, 10000, (unsigned)i));
        EQUAL(1, await_wc(q->cq, 1, &wc));
        EQUAL(IBV_WC_RECV_RDMA_WITH_IMM, wc.opcode);
        EQUAL(77, ntohl(wc.imm_data));
        EQUAL(0, ibv_post_send(f.a.qp, &read, &bad));
        sent(&f.a, 2, IBV_WC_SUCCESS);
        CHECK(is_filled(f.a.memory + 0x40000, 10000, (unsigned)i));
        EQUAL(0, ibv_post_send(f.a.qp, &add, &bad));
        sent(&f.a, 3, IBV_WC_SUCCESS);
        EQUAL(0, ibv_post_send(f.a.qp, &swap, &bad));
        sent(&f.a, 4, IBV_WC_SUCCESS);
        EQUAL(0x1234567890ll, *number);
        EQUAL(42, *(uint64_t *)(f.a.memory + 0x60000));
    }
    struct ibv_send_wr wrong = request(&f.b.queues[0], IBV_WR_RDMA_WRITE, 5, &sge), *bad;
    wrong.qp_type.xrc.remote_srqn = f.b.queues[1].number;
    EQUAL(0, ibv_post_send(f.a.qp, &wrong, &bad));
    sent(&f.a, 5, IBV_WC_REM_ACCESS_ERR);
}

static void extended(void)
{
    struct fixture f = make();
    struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(f.a.qp);
    CHECK(ex);
    for (unsigned i = 0; i < QUEUES; i++) {
        struct queue *q = &f.b.queues[i];
        receive(q, 1);
        fill(f.a.memory, 3000, i);
        fill(f.a.memory + 5000, 3000, 9 + i);
        ibv_wr_start(ex);
        ex->wr_id = 1;
        ex->wr_flags = 0;
        ibv_wr_rdma_write(ex, q->mr->rkey, (uintptr_t)q->memory + 0x90000);
        ibv_wr_set_xrc_srqn(ex, q->number);
        ibv_wr_set_sge(ex, f.a.mr->lkey, (uintptr_t)f.a.memory + 5000, 3000);
        ex->wr_id = 2;
        ex->wr_flags = signaled;
        ibv_wr_send(ex);
        ibv_wr_set_xrc_srqn(ex, q->number);
        ibv_wr_set_sge(ex, f.a.mr->lkey, (uintptr_t)f.a.memory, 3000);
        EQUAL(0, ibv_wr_complete(ex));
        sent(&f.a, 2, IBV_WC_SUCCESS);
        received(&f, (int)i, 1, 3000, i);
        CHECK(is_filled(q->memory + 0x90000, 3000, 9 + i));
    }
}

/* A queue without a receive keeps the connection waiting, also for the other queue. */
static void not_ready(void)
{
    struct fixture f = make();
    struct ibv_sge sge = sge_at(&f.a, 0, 100);
    struct ibv_send_wr first = request(&f.b.queues[0], IBV_WR_SEND, 1, &sge),
                       second = request(&f.b.queues[1], IBV_WR_SEND, 2, &sge), *bad;
    first.next = &second;
    fill(f.a.memory, 100, 8);
    receive(&f.b.queues[1], 5);
    EQUAL(0, ibv_post_send(f.a.qp, &first, &bad));
    CHECK(stays_empty(f.b.queues[1].cq));
    receive(&f.b.queues[0], 4);
    received(&f, 0, 4, 100, 8);
    received(&f, 1, 5, 100, 8);
    sent(&f.a, 1, IBV_WC_SUCCESS);
    sent(&f.a, 2, IBV_WC_SUCCESS);
}

/* A program that sleeps until a queue's completion queue has something. */
static void sleeper(void)
{
    struct fixture f = make();
    struct queue *q = &f.b.queues[1];
    struct ibv_sge sge = sge_at(&f.a, 0, 100);
    struct ibv_send_wr wr = request(q, IBV_WR_SEND, 1, &sge), *bad;
    struct ibv_cq *cq;
    void *context;
    for (unsigned i = 0; i < 20; i++) {
        fill(f.a.memory, 100, i);
        receive(q, 2);
        EQUAL(0, ibv_req_notify_cq(q->cq, 0));
        EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
        EQUAL(0, ibv_get_cq_event(q->channel, &cq, &context));
        CHECK(cq == q->cq);
        ibv_ack_cq_events(cq, 1);
        received(&f, 1, 2, 100, i);
        sent(&f.a, 1, IBV_WC_SUCCESS);
    }
}

static struct ibv_async_event event_of(struct ibv_context *context)
{
    struct ibv_async_event event;
    EQUAL(0, ibv_get_async_event(context, &event));
    ibv_ack_async_event(&event);
    return event;
}

static void limit(void)
{
    struct fixture f = make();
    struct queue *q = &f.b.queues[0];
    struct ibv_srq_attr attr = {.srq_limit = 2};
    struct ibv_sge sge = sge_at(&f.a, 0, 100);
    struct ibv_send_wr wr = request(q, IBV_WR_SEND, 1, &sge), *bad;
    receive(q, 1);
    receive(q, 2);
    EQUAL(0, ibv_modify_srq(q->srq, &attr, IBV_SRQ_LIMIT));
    EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    sent(&f.a, 1, IBV_WC_SUCCESS);
    struct ibv_async_event event;
    while ((event = event_of(f.b.context)).event_type == IBV_EVENT_COMM_EST)
        CHECK(event.element.qp == f.b.target);
    EQUAL(IBV_EVENT_SRQ_LIMIT_REACHED, event.event_type);
    CHECK(event.element.srq == q->srq);
}

/* A number that no queue of the target's domain has, even if one of another domain has it. */
static void of_nobody(void)
{
    struct fixture f = make();
    struct ibv_sge sge = sge_at(&f.a, 0, 100);
    struct ibv_send_wr wr = request(&f.b.queues[0], IBV_WR_SEND, 1, &sge), *bad;
    struct ibv_xrcd *other = open_domain(f.b.context, -1, O_CREAT);
    struct ibv_srq *elsewhere = make_srq(&f.b.queues[0], other);
    CHECK(elsewhere);
    EQUAL(0, ibv_get_srq_num(elsewhere, &wr.qp_type.xrc.remote_srqn));
    EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    sent(&f.a, 1, IBV_WC_REM_INV_REQ_ERR);
    EQUAL(IBV_QPS_ERR, state_of(f.a.qp));
    EQUAL(IBV_QPS_ERR, state_of(f.b.target));
    EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    sent(&f.a, 1, IBV_WC_WR_FLUSH_ERR);
}

/* A destroyed queue is answered as one that never existed; its number is not reused at once. */
static void ended_queue(void)
{
    struct fixture f = make();
    struct queue *q = &f.b.queues[0];
    struct ibv_sge sge = sge_at(&f.a, 0, 100);
    struct ibv_send_wr wr = request(q, IBV_WR_SEND, 1, &sge), *bad;
    receive(q, 1);
    EQUAL(EBUSY, ibv_destroy_cq(q->cq));
    EQUAL(EBUSY, ibv_dealloc_pd(q->pd));
    EQUAL(0, ibv_destroy_srq(q->srq));
    CHECK(q->srq = make_srq(q, f.b.domain));
    EQUAL(0, ibv_get_srq_num(q->srq, &q->number));
    CHECK(q->number != wr.qp_type.xrc.remote_srqn);
    EQUAL(0, ibv_destroy_srq(q->srq));
    EQUAL(0, ibv_destroy_cq(q->cq));
    EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    sent(&f.a, 1, IBV_WC_REM_INV_REQ_ERR);
}

/* Too long for the receive: both queue pairs are in error, the receive says why, others of the queue stay. */
static void too_long(void)
{
    struct fixture f = make();
    struct queue *q = &f.b.queues[0];
    struct ibv_sge sge = sge_at(&f.a, 0, RECEIVE + 1);
    struct ibv_send_wr wr = request(q, IBV_WR_SEND, 1, &sge), *bad;
    struct ibv_wc wc;
    receive(q, 1);
    receive(q, 2);
    EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    sent(&f.a, 1, IBV_WC_REM_INV_REQ_ERR);
    EQUAL(1, await_wc(q->cq, 1, &wc));
    EQUAL(IBV_WC_LOC_LEN_ERR, wc.status);
    EQUAL(1, wc.wr_id);
    CHECK(stays_empty(q->cq));
    EQUAL(IBV_QPS_ERR, state_of(f.b.target));
}

/* The send queue is full when so many requests wait. */
static void full(void)
{
    struct fixture f = {.a = make_initiator(8), .b = make_receiver()};
    struct ibv_sge sge = sge_at(&f.a, 0, 8);
    struct ibv_send_wr wr = request(&f.b.queues[0], IBV_WR_SEND, 0, &sge), *bad;
    connect_ends(&f, 20);
    for (wr.wr_id = 0; wr.wr_id < 8; wr.wr_id++)
        EQUAL(0, ibv_post_send(f.a.qp, &wr, &bad));
    EQUAL(ENOMEM, ibv_post_send(f.a.qp, &wr, &bad));
    for (unsigned i = 0; i < 8; i++)
        receive(&f.b.queues[0], i);
    for (unsigned i = 0; i < 8; i++)
        sent(&f.a, i, IBV_WC_SUCCESS);
}

static void domains(void)
{
    struct ibv_context *context = open_soft();
    char path[] = "/tmp/fabric_xrc_XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && !unlink(path));
    CHECK(!open_domain(context, fd, 0));
    EQUAL(EAGAIN, errno);
    struct ibv_xrcd *first = open_domain(context, fd, O_CREAT), *alone = open_domain(context, -1, O_CREAT),
                    *other = open_domain(context, -1, O_CREAT);
    CHECK(first && alone && other && alone != other);
    CHECK(open_domain(context, fd, 0) == first);
    CHECK(!open_domain(context, fd, O_CREAT | O_EXCL));
    EQUAL(EINVAL, errno);
    struct ibv_qp *target = make_target(first);
    CHECK(target);
    EQUAL(0, ibv_close_xrcd(first));
    EQUAL(EBUSY, ibv_close_xrcd(first)); /* the second time that it was opened */
    EQUAL(0, ibv_destroy_qp(target));
    EQUAL(0, ibv_close_xrcd(first));
    EQUAL(0, ibv_close_xrcd(alone));
    EQUAL(0, ibv_close_xrcd(other));
    CHECK(open_domain(context, fd, O_CREAT | O_EXCL));
    EQUAL(0, ibv_close_device(context));
    close(fd);
}

/* Invalid arguments. */
static void wrong(void)
{
    struct fixture f = make();
    struct queue *q = &f.b.queues[0];
    struct ibv_qp_init_attr plain = {
        .send_cq = q->cq, .recv_cq = q->cq, .qp_type = IBV_QPT_XRC_RECV, .cap = {1, 1, 1, 1, 0}};
    CHECK(!ibv_create_qp(q->pd, &plain));
    EQUAL(EINVAL, errno);
    struct ibv_srq_init_attr init = {.attr = {.max_wr = 4, .max_sge = 1}};
    struct ibv_srq *basic = ibv_create_srq(q->pd, &init);
    uint32_t number;
    CHECK(basic);
    EQUAL(EINVAL, ibv_get_srq_num(basic, &number));
    plain.qp_type = IBV_QPT_XRC_SEND;
    plain.srq = basic;
    CHECK(!ibv_create_qp(q->pd, &plain));
    EQUAL(EINVAL, errno);
    struct ibv_srq_init_attr_ex half = {.attr = init.attr,
                                        .srq_type = IBV_SRQT_XRC,
                                        .pd = q->pd,
                                        .xrcd = f.b.domain,
                                        .comp_mask =
                                            IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD};
    CHECK(!ibv_create_srq_ex(f.b.context, &half));
    EQUAL(EINVAL, errno);
    struct ibv_recv_wr recv = {.wr_id = 1}, *bad;
    CHECK(ibv_post_recv(f.a.qp, &recv, &bad));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"sends", sends},
                                            {"one-sided", one_sided},
                                            {"extended", extended},
                                            {"not-ready", not_ready},
                                            {"sleeper", sleeper},
                                            {"limit", limit},
                                            {"of-nobody", of_nobody},
                                            {"ended-queue", ended_queue},
                                            {"too-long", too_long},
                                            {"full", full},
                                            {"domains", domains},
                                            {"wrong", wrong},
                                            {0}});
}
