/* Work requests of a reliable connection straight on verbs, for counting instructions (bench/overhead) and for rates.
 *
 * One process, two connected queue pairs on one device. What a program does per work request is in functions of their
 * own, never inlined, so that callgrind can count inside one of them only (--toggle-collect):
 *   measured_send        post_send of one 64-byte SEND each
 *   measured_write       the same for RDMA WRITE
 *   measured_receive     post_recv and the poll_cq calls that find a completion
 * With --after FILE it begins when the file is there, after a batch of each; a restart can come in between. */
#include <getopt.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH 16
#define SIZE 64

struct endpoint {
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char memory[BATCH * SIZE];
};

struct bench {
    struct ibv_context *context;
    struct ibv_pd *pd;
    uint16_t lid;
    struct endpoint from, to;
};

static void die(const char *what)
{
    fprintf(stderr, "rc_message_rate: %s failed\n", what);
    exit(1);
}

static void open_device(struct bench *b)
{
    int count = 0;
    struct ibv_port_attr port;
    struct ibv_device **devices = ibv_get_device_list(&count);
    if (!devices || !count || !(b->context = ibv_open_device(devices[0])) || ibv_query_port(b->context, 1, &port))
        die("opening a verbs device");
    ibv_free_device_list(devices);
    b->lid = port.lid;
    if (!(b->pd = ibv_alloc_pd(b->context)))
        die("ibv_alloc_pd");
}

static void open_endpoint(struct bench *b, struct endpoint *e)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    e->send_cq = ibv_create_cq(b->context, 4 * BATCH, NULL, NULL, 0);
    e->recv_cq = ibv_create_cq(b->context, 4 * BATCH, NULL, NULL, 0);
    e->mr = ibv_reg_mr(b->pd, e->memory, sizeof e->memory, access);
    struct ibv_qp_init_attr init = {
        .send_cq = e->send_cq,
        .recv_cq = e->recv_cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = 2 * BATCH, .max_recv_wr = 2 * BATCH, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!e->send_cq || !e->recv_cq || !e->mr || !(e->qp = ibv_create_qp(b->pd, &init)))
        die("ibv_create_qp");
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
    if (ibv_modify_qp(e->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("ibv_modify_qp to INIT");
}

static void connect_to(struct bench *b, struct endpoint *e, const struct endpoint *peer)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = IBV_MTU_1024,
                               .dest_qp_num = peer->qp->qp_num,
                               .max_dest_rd_atomic = 1,
                               .min_rnr_timer = 1,
                               .ah_attr = {.dlid = b->lid, .port_num = 1},
                               .timeout = 18,
                               .retry_cnt = 7,
                               .rnr_retry = 7,
                               .max_rd_atomic = 1};
    if (ibv_modify_qp(e->qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("ibv_modify_qp to RTR");
    attr.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(e->qp, &attr,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("ibv_modify_qp to RTS");
}

/* Only the last of a batch is signaled, as message libraries do it. */
static inline __attribute__((always_inline)) void post_batch(struct bench *b, enum ibv_wr_opcode opcode)
{
    for (int i = 0; i < BATCH; i++) {
        struct ibv_sge sge = {(uintptr_t)b->from.memory + i * SIZE, SIZE, b->from.mr->lkey};
        struct ibv_send_wr wr = {.wr_id = i,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = opcode,
                                 .send_flags = i == BATCH - 1 ? IBV_SEND_SIGNALED : 0,
                                 .wr.rdma = {(uintptr_t)b->to.memory + i * SIZE, b->to.mr->rkey}},
                           *bad;
        if (ibv_post_send(b->from.qp, &wr, &bad))
            die("ibv_post_send");
    }
}

__attribute__((noinline)) static void measured_send(struct bench *b)
{
    post_batch(b, IBV_WR_SEND);
}

__attribute__((noinline)) static void measured_write(struct bench *b)
{
    post_batch(b, IBV_WR_RDMA_WRITE);
}

__attribute__((noinline)) static void post_receives(struct bench *b, int count)
{
    for (int i = 0; i < count; i++) {
        struct ibv_sge sge = {(uintptr_t)b->to.memory + i * SIZE, SIZE, b->to.mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;
        if (ibv_post_recv(b->to.qp, &wr, &bad))
            die("ibv_post_recv");
    }
}

/* The completions are in the queue: what is counted is that a program takes them, and posts receives again. */
__attribute__((noinline)) static int measured_receive(struct bench *b)
{
    struct ibv_wc wc;
    int got = 0;
    for (int i = 0; i < BATCH; i++) {
        int n = ibv_poll_cq(b->to.recv_cq, 1, &wc);
        if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
            die("ibv_poll_cq");
        got += n;
    }
    post_receives(b, got);
    return got;
}

static int taken(struct bench *b)
{
    struct ibv_wc wc;
    int n = ibv_poll_cq(b->from.send_cq, 1, &wc);
    if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
        die("a send");
    return n;
}

/* Until the peer has taken and answered all: nothing of it is in the functions that are measured. */
static void settle(struct bench *b)
{
    struct ibv_wc wc;
    while (!taken(b))
        if (ibv_poll_cq(b->to.recv_cq, 0, &wc) < 0)
            die("ibv_poll_cq");
}

static void exchange(struct bench *b, long messages)
{
    for (long i = 0; i < messages / BATCH; i++) {
        measured_send(b);
        settle(b);
        for (int got = 0; got < BATCH;)
            got += measured_receive(b);
        measured_write(b);
        settle(b);
    }
}

static void wait_for(struct bench *b, const char *file)
{
    exchange(b, BATCH);
    puts("waiting");
    fflush(stdout);
    while (access(file, F_OK))
        usleep(10000);
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"messages", 1, 0, 'm'}, {"after", 1, 0, 'a'}, {0}};
    struct bench *b =
        calloc(1, sizeof *b); /* not static: the compiler would make other functions of those that are measured */
    struct timespec start, end;
    const char *after = NULL;
    long messages = 16000;
    int which;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        if (which == 'a')
            after = optarg;
        else
            messages = which == 'm' ? atol(optarg) : 0;
    if (messages < BATCH || messages % BATCH) {
        fprintf(stderr, "usage: rc_message_rate [--messages N] [--after FILE]   (N is a multiple of %d)\n", BATCH);
        return 64;
    }
    if (!b)
        die("calloc");
    open_device(b);
    open_endpoint(b, &b->from);
    open_endpoint(b, &b->to);
    connect_to(b, &b->from, &b->to);
    connect_to(b, &b->to, &b->from);
    post_receives(b, BATCH);
    if (after)
        wait_for(b, after);
    clock_gettime(CLOCK_MONOTONIC, &start);
    exchange(b, messages);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds = (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
    printf("%ld sends and %ld writes, %.0f work requests/s\n", messages, messages, 2 * messages / seconds);
    return 0;
}
