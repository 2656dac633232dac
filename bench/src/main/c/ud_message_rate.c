/* UD sends and receives straight on verbs, for counting instructions (bench/overhead) and for rates.
 *
 * One process, two queue pairs on one device: batches of datagrams go from the first to the second
 * one. The three things that a program does per message are functions of their own, never inlined,
 * so that callgrind can count inside one of them only (--toggle-collect):
 *   measured_send        post_send of one work request each
 *   measured_receive     post_recv and the poll_cq calls that find a completion
 *   measured_empty_poll  poll_cq of a completion queue with nothing in it
 * With --after FILE it begins when the file is there; what it sent before that, one batch, is not in what it prints. A
 * restart can come in between. With --extended the first two are measured_extended_send and measured_extended_receive,
 * by ibv_wr_* and ibv_next_poll. */
#include <getopt.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH 16
#define GRH_BYTES 40
#define QKEY 0x11111111u

struct options {
    long messages, size, empty_polls;
    int extended; /* ibv_wr_* and ibv_start_poll instead */
    const char *after;
};

struct endpoint {
    struct ibv_cq *cq;
    struct ibv_cq_ex *polled; /* the same queue */
    struct ibv_qp *qp;
    struct ibv_qp_ex *posted; /* the same queue pair */
    struct ibv_mr *mr;
    char *memory; /* BATCH x (GRH_BYTES + size) */
};

struct bench {
    struct options options;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_ah *ah;
    struct endpoint sender, receiver;
    uint64_t sent, received, empty;
};

static void die(const char *what)
{
    fprintf(stderr, "ud_message_rate: %s failed\n", what);
    exit(1);
}

static void open_first_device(struct bench *b)
{
    int count = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    if (!devices || count == 0)
        die("finding a verbs device");
    b->context = ibv_open_device(devices[0]);
    if (!b->context)
        die("ibv_open_device");
    ibv_free_device_list(devices);
    b->pd = ibv_alloc_pd(b->context);
    if (!b->pd)
        die("ibv_alloc_pd");
}

static void make_ready(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
        die("ibv_modify_qp to INIT");
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
        die("ibv_modify_qp to RTR");
    attr.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
        die("ibv_modify_qp to RTS");
}

static void open_endpoint(struct bench *b, struct endpoint *e)
{
    size_t bytes = BATCH * (GRH_BYTES + b->options.size);
    e->memory = calloc(1, bytes);
    struct ibv_cq_init_attr_ex queue = {.cqe = 4 * BATCH, .wc_flags = IBV_WC_STANDARD_FLAGS};
    e->polled = ibv_create_cq_ex(b->context, &queue);
    if (!e->memory || !e->polled)
        die("ibv_create_cq_ex");
    e->cq = ibv_cq_ex_to_cq(e->polled);
    e->mr = ibv_reg_mr(b->pd, e->memory, bytes, IBV_ACCESS_LOCAL_WRITE);
    struct ibv_qp_init_attr_ex init = {
        .send_cq = e->cq,
        .recv_cq = e->cq,
        .qp_type = IBV_QPT_UD,
        .cap = {.max_send_wr = 2 * BATCH, .max_recv_wr = 2 * BATCH, .max_send_sge = 1, .max_recv_sge = 1},
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .pd = b->pd,
        .send_ops_flags = IBV_QP_EX_WITH_SEND};
    e->qp = ibv_create_qp_ex(b->context, &init);
    if (!e->mr || !e->qp)
        die("ibv_create_qp_ex");
    e->posted = ibv_qp_to_qp_ex(e->qp);
    make_ready(e->qp);
}

static void address_own_port(struct bench *b)
{
    struct ibv_port_attr port;
    if (ibv_query_port(b->context, 1, &port))
        die("ibv_query_port");
    struct ibv_ah_attr attr = {.dlid = port.lid, .port_num = 1};
    b->ah = ibv_create_ah(b->pd, &attr);
    if (!b->ah)
        die("ibv_create_ah");
}

/* Only the last of a batch is signaled, as message libraries do it. */
__attribute__((noinline)) static void measured_send(struct bench *b)
{
    struct endpoint *from = &b->sender;
    for (int i = 0; i < BATCH; i++) {
        struct ibv_sge sge = {(uintptr_t)from->memory + i * b->options.size, b->options.size, from->mr->lkey};
        struct ibv_send_wr wr = {.wr_id = i,
                                 .sg_list = &sge,
                                 .num_sge = 1,
                                 .opcode = IBV_WR_SEND,
                                 .send_flags = i == BATCH - 1 ? IBV_SEND_SIGNALED : 0,
                                 .wr.ud = {b->ah, b->receiver.qp->qp_num, QKEY}},
                           *bad;
        if (ibv_post_send(from->qp, &wr, &bad))
            die("ibv_post_send");
    }
    b->sent += BATCH;
}

/* The same by ibv_wr_*: a critical section for each request, as a library does that does not know the next one yet. */
__attribute__((noinline)) static void measured_extended_send(struct bench *b)
{
    struct endpoint *from = &b->sender;
    for (int i = 0; i < BATCH; i++) {
        ibv_wr_start(from->posted);
        from->posted->wr_id = i;
        from->posted->wr_flags = i == BATCH - 1 ? IBV_SEND_SIGNALED : 0;
        ibv_wr_send(from->posted);
        ibv_wr_set_ud_addr(from->posted, b->ah, b->receiver.qp->qp_num, QKEY);
        ibv_wr_set_sge(from->posted, from->mr->lkey, (uintptr_t)from->memory + i * b->options.size, b->options.size);
        if (ibv_wr_complete(from->posted))
            die("ibv_wr_complete");
    }
    b->sent += BATCH;
}

__attribute__((noinline)) static void post_receives(struct bench *b, int count)
{
    struct endpoint *to = &b->receiver;
    for (int i = 0; i < count; i++) {
        struct ibv_sge sge = {(uintptr_t)to->memory + i * (GRH_BYTES + b->options.size), GRH_BYTES + b->options.size,
                              to->mr->lkey};
        struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;
        if (ibv_post_recv(to->qp, &wr, &bad))
            die("ibv_post_recv");
    }
}

/* The datagrams of a batch have arrived when it was sent: the soft fabric's loopback delivers at
 * once. Others are waited for outside, so that the count of polls in here stays the same. */
__attribute__((noinline)) static int measured_receive(struct bench *b)
{
    struct ibv_wc wc;
    int got = 0;
    for (int i = 0; i < BATCH; i++) {
        int n = ibv_poll_cq(b->receiver.cq, 1, &wc);
        if (n < 0 || (n && wc.status != IBV_WC_SUCCESS))
            die("ibv_poll_cq");
        if (n && wc.src_qp != b->sender.qp->qp_num)
            die("the source of a datagram (another queue pair's number)");
        got += n;
    }
    post_receives(b, got);
    return got;
}

__attribute__((noinline)) static int measured_extended_receive(struct bench *b)
{
    struct ibv_poll_cq_attr attr = {0};
    int got = 0;
    if (ibv_start_poll(b->receiver.polled, &attr))
        return 0;
    do {
        if (b->receiver.polled->status != IBV_WC_SUCCESS ||
            ibv_wc_read_byte_len(b->receiver.polled) != GRH_BYTES + b->options.size ||
            ibv_wc_read_src_qp(b->receiver.polled) != b->sender.qp->qp_num)
            die("ibv_next_poll");
        got++;
    } while (got < BATCH && !ibv_next_poll(b->receiver.polled));
    ibv_end_poll(b->receiver.polled);
    post_receives(b, got);
    return got;
}

__attribute__((noinline)) static void measured_empty_poll(struct bench *b, long polls)
{
    struct ibv_wc wc;
    for (long i = 0; i < polls; i++)
        if (ibv_poll_cq(b->receiver.cq, 1, &wc) != 0)
            die("an empty completion queue");
    b->empty += polls;
}

static void wait_sent(struct bench *b)
{
    struct ibv_wc wc;
    int n;
    while ((n = ibv_poll_cq(b->sender.cq, 1, &wc)) == 0)
        ;
    if (n < 0 || wc.status != IBV_WC_SUCCESS)
        die("a send");
}

static void exchange(struct bench *b, long batches)
{
    for (long i = 0; i < batches; i++) {
        b->options.extended ? measured_extended_send(b) : measured_send(b);
        wait_sent(b);
        for (int got = 0; got < BATCH;)
            got += b->options.extended ? measured_extended_receive(b) : measured_receive(b);
        b->received += BATCH;
    }
}

static void wait_for(struct bench *b)
{
    exchange(b, 1);
    puts("waiting");
    fflush(stdout);
    while (access(b->options.after, F_OK))
        usleep(10000);
    b->sent = b->received = 0;
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {{"messages", 1, 0, 'm'}, {"size", 1, 0, 's'},  {"empty-polls", 1, 0, 'e'},
                                          {"extended", 0, 0, 'x'}, {"after", 1, 0, 'a'}, {0}};
    struct options o = {.messages = 16000, .size = 64, .empty_polls = 10000};
    int which;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1)
        switch (which) {
        case 'm':
            o.messages = atol(optarg);
            break;
        case 's':
            o.size = atol(optarg);
            break;
        case 'e':
            o.empty_polls = atol(optarg);
            break;
        case 'x':
            o.extended = 1;
            break;
        case 'a':
            o.after = optarg;
            break;
        default:
            fputs(
                "usage: ud_message_rate [--messages N] [--size BYTES] [--empty-polls N] [--extended] [--after FILE]\n",
                stderr);
            exit(64);
        }
    if (o.messages < BATCH || o.messages % BATCH || o.size < 1 || o.size > 4096 || o.empty_polls < 0) {
        fprintf(stderr, "ud_message_rate: --messages is a multiple of %d, --size is 1 to 4096\n", BATCH);
        exit(64);
    }
    return o;
}

int main(int argc, char **argv)
{
    struct bench b = {.options = parse(argc, argv)};
    struct timespec start, end, busy_start, busy_end;
    open_first_device(&b);
    open_endpoint(&b, &b.sender);
    open_endpoint(&b, &b.receiver);
    address_own_port(&b);
    post_receives(&b, BATCH);
    if (b.options.after)
        wait_for(&b);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy_start);
    clock_gettime(CLOCK_MONOTONIC, &start);
    exchange(&b, b.options.messages / BATCH);
    measured_empty_poll(&b, b.options.empty_polls);
    clock_gettime(CLOCK_MONOTONIC, &end);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &busy_end);
    double seconds = (end.tv_sec - start.tv_sec) + (end.tv_nsec - start.tv_nsec) / 1e9;
    double busy = (busy_end.tv_sec - busy_start.tv_sec) * 1e9 + (busy_end.tv_nsec - busy_start.tv_nsec);
    printf("sent %lu received %lu empty polls %lu, %.0f messages/s, %.0f ns of processor time each\n",
           (unsigned long)b.sent, (unsigned long)b.received, (unsigned long)b.empty, b.received / seconds,
           busy / b.received);
    return 0;
}
