/* Rules that a program meets at the edges: what is busy, what is out of range, what has to be acknowledged. */
#include "fabric.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

/* ibv_dealloc_pd(3) fails while anything is in the domain, and harms nothing. */
static void domain_busy(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_wc wc;
    for (unsigned i = 0; i < 2; i++) {
        EQUAL(0, post_recv(&a, 0, 512));
        EQUAL(0, post_send(&a, &a, 4096, 8, IBV_SEND_SIGNALED));
        EQUAL(EBUSY, ibv_dealloc_pd(a.pd));
        EQUAL(1, poll_for(a.recv_cq, 1, &wc));
    }
    struct ibv_pd *other = ibv_alloc_pd(a.context);
    struct ibv_ah *ah = ah_to(other, 1);
    CHECK(ah);
    EQUAL(EBUSY, ibv_dealloc_pd(other));
    EQUAL(0, ibv_destroy_ah(ah));
    EQUAL(0, ibv_dealloc_pd(other));
}

static void bad_address_attributes(void)
{
    struct end a = make_end((struct end_options){0});
    const struct ibv_ah_attr wrong[] = {
        {.dlid = 1, .port_num = 0},
        {.dlid = 1, .port_num = 200},
        {.dlid = 1, .port_num = 1, .sl = 16},
        {.dlid = 1, .port_num = 1, .is_global = 1, .grh.sgid_index = 200},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ibv_ah_attr attr = wrong[i];
        errno = 0;
        CHECK(!ibv_create_ah(a.pd, &attr));
        EQUAL(EINVAL, errno);
    }
}

/* A GRH that names another port than the LID: the datagram is dropped. */
static void wrong_global_address(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_ah_attr attr = {.dlid = 1, .port_num = 1, .is_global = 1};
    struct ibv_sge sge = sge_at(&a, 0x10000, 8);
    struct ibv_send_wr wr = send_wr(&a, &sge, 0), *bad;
    struct ibv_wc wc;
    EQUAL(0, ibv_query_gid(a.context, 1, 0, &attr.grh.dgid));
    EQUAL(0, post_recv(&a, 0, 512));
    attr.grh.dgid.raw[15] ^= 1;
    CHECK(wr.wr.ud.ah = ibv_create_ah(a.pd, &attr));
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    CHECK(stays_empty(a.recv_cq));
    attr.grh.dgid.raw[15] ^= 1;
    CHECK(wr.wr.ud.ah = ibv_create_ah(a.pd, &attr));
    EQUAL(0, ibv_post_send(a.qp, &wr, &bad));
    EQUAL(1, poll_for(a.recv_cq, 1, &wc));
}

static void memory_that_is_not_there(void)
{
    struct end a = make_end((struct end_options){0});
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    munmap(memory + 4096, 4096);
    errno = 0;
    CHECK(!ibv_reg_mr(a.pd, memory, 8192, IBV_ACCESS_LOCAL_WRITE));
    EQUAL(EFAULT, errno);
    struct ibv_mr *mr = ibv_reg_mr(a.pd, memory + 1, 4095, IBV_ACCESS_LOCAL_WRITE);
    CHECK(mr);
    EQUAL(0, ibv_dereg_mr(mr));
}

static volatile int destroyed;

static void *destroy_cq(void *cq)
{
    EQUAL(0, ibv_destroy_cq(cq));
    destroyed = 1;
    return NULL;
}

/* ibv_get_async_event(3): an object is not destroyed before its events are acknowledged. */
static void unacknowledged_event(void)
{
    struct end a = make_end((struct end_options){.send_cqe = 4, .signal_all = 1});
    struct ibv_async_event event;
    struct ibv_wc wc[4];
    pthread_t thread;
    for (unsigned i = 0; i < 8; i++)
        EQUAL(0, post_send(&a, &a, 4096, 8, 0));
    EQUAL(0, ibv_get_async_event(a.context, &event));
    EQUAL(IBV_EVENT_CQ_ERR, event.event_type);
    CHECK(event.element.cq == a.send_cq);
    EQUAL(4, ibv_poll_cq(a.send_cq, 4, wc));
    EQUAL(-1, ibv_poll_cq(a.send_cq, 4, wc));
    EQUAL(0, ibv_destroy_qp(a.qp));
    EQUAL(0, pthread_create(&thread, NULL, destroy_cq, a.send_cq));
    usleep(100000);
    EQUAL(0, destroyed);
    ibv_ack_async_event(&event);
    EQUAL(0, pthread_join(thread, NULL));
}

/* A send queue in error is repaired by going back to RTS; receiving has gone on meanwhile. */
static void send_queue_error(void)
{
    struct end a = make_end((struct end_options){0});
    struct ibv_sge good = sge_at(&a, 4096, 8), bad = good;
    struct ibv_send_wr wr[3], *refused;
    struct ibv_wc wc[2];
    bad.lkey ^= 0x100;
    EQUAL(0, post_recv(&a, 0, 512));
    for (unsigned i = 0; i < 3; i++) {
        wr[i] = send_wr(&a, i == 1 ? &bad : &good, 0);
        wr[i].wr_id = i;
        wr[i].next = i < 2 ? &wr[i + 1] : NULL;
    }
    EQUAL(0, ibv_post_send(a.qp, wr, &refused));
    EQUAL(2, poll_for(a.send_cq, 2, wc));
    EQUAL(IBV_WC_LOC_PROT_ERR, wc[0].status);
    EQUAL(1, wc[0].wr_id);
    EQUAL(IBV_WC_WR_FLUSH_ERR, wc[1].status);
    EQUAL(IBV_QPS_SQE, state_of(a.qp));
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE};
    EQUAL(0, ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE));
    EQUAL(0, post_recv(&a, 0, 512));
    EQUAL(0, post_send(&a, &a, 4096, 8, IBV_SEND_SIGNALED));
    EQUAL(1, poll_for(a.recv_cq, 1, wc));
    EQUAL(1, poll_for(a.send_cq, 1, wc));
    EQUAL(IBV_WC_SUCCESS, wc[0].status);
}

/* Completions outlive a change of the queue's size, in order; one that would lose some is refused. */
static void resize(void)
{
    enum { FEW = 6, ALL = 26 };
    struct end a = make_end((struct end_options){.send_cqe = 8, .signal_all = 1});
    struct ibv_wc wc[ALL];
    for (unsigned i = 0; i < FEW; i++)
        EQUAL(0, post_send(&a, &a, i, 8, 0));
    EQUAL(EINVAL, ibv_resize_cq(a.send_cq, 4));
    EQUAL(EINVAL, ibv_resize_cq(a.send_cq, 0));
    EQUAL(EINVAL, ibv_resize_cq(a.send_cq, 1 << 23));
    EQUAL(0, ibv_resize_cq(a.send_cq, 32));
    CHECK(a.send_cq->cqe >= 32);
    for (unsigned i = FEW; i < ALL; i++)
        EQUAL(0, post_send(&a, &a, i, 8, 0));
    EQUAL(ALL, poll_for(a.send_cq, ALL, wc));
    for (unsigned i = 0; i < ALL; i++)
        EQUAL(i, wc[i].wr_id);
    EQUAL(0, ibv_resize_cq(a.send_cq, 4));
}

int main(int argc, char **argv)
{
    return run_cases(argc, argv,
                     (struct fabric_case[]){{"domain-busy", domain_busy},
                                            {"bad-address-attributes", bad_address_attributes},
                                            {"wrong-global-address", wrong_global_address},
                                            {"memory-that-is-not-there", memory_that_is_not_there},
                                            {"unacknowledged-event", unacknowledged_event},
                                            {"send-queue-error", send_queue_error},
                                            {"resize", resize},
                                            {0}});
}
