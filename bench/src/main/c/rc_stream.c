/* Throughput of a reliable connection against plain UDP, as a ratio: both carry the same bytes between the same two
 * processes, one after the other and in turns, so that a busy machine slows both alike.
 *
 *   rc_stream [--size BYTES] [--messages N] [--mtu BYTES] [--rounds N] [--how write|send|read] [--poll send|both]
 *             [--depth N] [--other MICROSECONDS]
 *
 * UDP: datagrams of the MTU, at most 64 without an answer, the receiver answers each eighth: what a reliable connection
 * cannot do without. `--poll send` waits for the send queue's completions alone, so that the engine takes the answers;
 * `both` polls the receive queue too, as message libraries do. --depth is how many messages are under way; with 1 each
 * waits for the one before it. --other: how often the process whose memory is written or read looks at its own queue, 0
 * being never; what it is busy with meanwhile must not matter. One line a round: elapsed and processor time of each (of
 * both processes), and their ratios; the processor's is the steadier one on a machine that does other things too. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 64, ANSWER_EACH = 8, QUEUE = 64, BUFFER = 16 << 20, HEADER = 40, LIMIT_MS = 60000 };

struct options {
    size_t size, messages, mtu, depth;
    int rounds;
    long other;
    enum ibv_wr_opcode how;
    bool both;
};

struct address {
    uint32_t qpn, rkey;
    uint64_t memory;
    uint16_t lid;
};

struct side {
    bool sends;
    int peer; /* a stream socket to the other process */
    int udp;
    char *memory;
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp;
    struct address other;
};

static void die(const char *what)
{
    fprintf(stderr, "rc_stream: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Processor time of this process so far, all threads. */
static double processor(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell(const struct side *s, const void *what, size_t length)
{
    if (write(s->peer, what, length) != (ssize_t)length)
        die("writing to the other process");
}

static void hear(const struct side *s, void *what, size_t length)
{
    if (recv(s->peer, what, length, MSG_WAITALL) != (ssize_t)length)
        die("reading from the other process");
}

static void meet(const struct side *s)
{
    char byte = 0;
    tell(s, &byte, 1);
    hear(s, &byte, 1);
}

static void open_udp(struct side *s)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}, other;
    socklen_t length = sizeof own;
    int bytes = BUFFER;
    s->udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (setsockopt(s->udp, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
        setsockopt(s->udp, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    if (bind(s->udp, (struct sockaddr *)&own, sizeof own) || getsockname(s->udp, (struct sockaddr *)&own, &length))
        die("a UDP socket");
    tell(s, &own, sizeof own);
    hear(s, &other, sizeof other);
    if (connect(s->udp, (struct sockaddr *)&other, sizeof other))
        die("connecting UDP sockets");
}

static void await_udp(const struct side *s)
{
    struct pollfd wait = {.fd = s->udp, .events = POLLIN};
    if (poll(&wait, 1, LIMIT_MS) != 1)
        die("a datagram was lost on the loopback; is net.core.rmem_max very small?");
}

static void send_udp(const struct side *s, const struct options *o, uint64_t count)
{
    uint64_t answered = 0;
    for (uint64_t sent = 0; sent < count || answered < count;) {
        while (sent < count && sent - answered < WINDOW) {
            if (send(s->udp, s->memory, o->mtu + HEADER, 0) < 0)
                die("a UDP send");
            sent++;
        }
        await_udp(s);
        while (recv(s->udp, &answered, sizeof answered, MSG_DONTWAIT) > 0)
            ;
    }
}

static void receive_udp(const struct side *s, const struct options *o, uint64_t count)
{
    for (uint64_t got = 0; got < count;) {
        await_udp(s);
        while (got < count && recv(s->udp, s->memory, o->mtu + HEADER, MSG_DONTWAIT) > 0)
            if (++got % ANSWER_EACH == 0 || got == count)
                if (send(s->udp, &got, sizeof got, 0) < 0)
                    die("a UDP answer");
    }
}

static enum ibv_mtu mtu_code(size_t bytes)
{
    enum ibv_mtu code = IBV_MTU_256;
    while (128u << code < bytes)
        code++;
    return code;
}

static void open_rc(struct side *s, const struct options *o)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    int count = 0;
    struct ibv_port_attr port;
    struct ibv_device **devices = ibv_get_device_list(&count);
    if (!devices || !count || !(s->context = ibv_open_device(devices[0])) || ibv_query_port(s->context, 1, &port))
        die("opening a verbs device");
    ibv_free_device_list(devices);
    s->pd = ibv_alloc_pd(s->context);
    s->send_cq = ibv_create_cq(s->context, 4 * QUEUE, NULL, NULL, 0);
    s->recv_cq = ibv_create_cq(s->context, 4 * QUEUE, NULL, NULL, 0);
    s->mr = s->pd ? ibv_reg_mr(s->pd, s->memory, o->size, access) : NULL;
    struct ibv_qp_init_attr init = {
        .send_cq = s->send_cq,
        .recv_cq = s->recv_cq,
        .qp_type = IBV_QPT_RC,
        .cap = {.max_send_wr = QUEUE, .max_recv_wr = QUEUE, .max_send_sge = 1, .max_recv_sge = 1}};
    if (!s->send_cq || !s->recv_cq || !s->mr || !(s->qp = ibv_create_qp(s->pd, &init)))
        die("ibv_create_qp");
    struct address own = {s->qp->qp_num, s->mr->rkey, (uintptr_t)s->memory, port.lid};
    tell(s, &own, sizeof own);
    hear(s, &s->other, sizeof s->other);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = access,
                               .path_mtu = mtu_code(o->mtu),
                               .dest_qp_num = s->other.qpn,
                               .max_dest_rd_atomic = 4,
                               .min_rnr_timer = 1,
                               .ah_attr = {.dlid = s->other.lid, .port_num = 1},
                               .timeout = 18,
                               .retry_cnt = 7,
                               .rnr_retry = 7,
                               .max_rd_atomic = 4};
    if (ibv_modify_qp(s->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        die("ibv_modify_qp to INIT");
    attr.qp_state = IBV_QPS_RTR;
    if (ibv_modify_qp(s->qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
        die("ibv_modify_qp to RTR");
    attr.qp_state = IBV_QPS_RTS;
    if (ibv_modify_qp(s->qp, &attr,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        die("ibv_modify_qp to RTS");
}

static size_t completions(struct ibv_cq *cq)
{
    struct ibv_wc wc[16];
    int n = ibv_poll_cq(cq, 16, wc);
    for (int i = 0; i < n; i++)
        if (wc[i].status != IBV_WC_SUCCESS) {
            fprintf(stderr, "rc_stream: a work request ended with %s\n", ibv_wc_status_str(wc[i].status));
            exit(1);
        }
    if (n < 0)
        die("ibv_poll_cq");
    return (size_t)n;
}

static void send_rc(struct side *s, const struct options *o)
{
    size_t posted = 0, done = 0;
    struct ibv_sge sge = {(uintptr_t)s->memory, (uint32_t)o->size, s->mr->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = o->how,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {s->other.memory, s->other.rkey}},
                       *bad;
    while (done < o->messages) {
        for (; posted < o->messages && posted - done < o->depth; posted++)
            if (ibv_post_send(s->qp, &wr, &bad))
                die("ibv_post_send");
        done += completions(s->send_cq);
        if (o->both)
            completions(s->recv_cq);
    }
}

static void post_receive(struct side *s, const struct options *o)
{
    struct ibv_sge sge = {(uintptr_t)s->memory, (uint32_t)o->size, s->mr->lkey};
    struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
    if (ibv_post_recv(s->qp, &wr, &bad))
        die("ibv_post_recv");
}

/* Looks at its queue from time to time until the sender is ready. */
static void be_busy(struct side *s, const struct options *o)
{
    struct pollfd done = {.fd = s->peer, .events = POLLIN};
    struct timespec pause = {.tv_nsec = o->other * 1000};
    while (!ppoll(&done, 1, o->other ? &pause : NULL, NULL))
        completions(s->recv_cq);
}

/* Receives sends only: RDMA writes and reads need nothing from the program. */
static void receive_rc(struct side *s, const struct options *o)
{
    size_t got = 0;
    while (got < o->messages)
        for (size_t n = completions(s->recv_cq); n; n--)
            if (++got + QUEUE <= o->messages)
                post_receive(s, o);
}

struct cost {
    double elapsed, processor;
};

/* What was done since `start`, by both processes; they meet here. */
static struct cost since(const struct side *s, struct cost start)
{
    struct cost own = {now() - start.elapsed, processor() - start.processor}, other;
    tell(s, &own, sizeof own);
    hear(s, &other, sizeof other);
    own.processor += other.processor;
    return own;
}

static struct cost begin(const struct side *s)
{
    meet(s);
    return (struct cost){now(), processor()};
}

static void measure(struct side *s, const struct options *o)
{
    uint64_t datagrams = o->messages * ((o->size + o->mtu - 1) / o->mtu);
    struct cost start = begin(s);
    if (s->sends)
        send_udp(s, o, datagrams);
    else
        receive_udp(s, o, datagrams);
    struct cost udp = since(s, start);
    if (!s->sends && o->how == IBV_WR_SEND)
        for (size_t i = 0; i < QUEUE && i < o->messages; i++)
            post_receive(s, o);
    start = begin(s);
    if (s->sends)
        send_rc(s, o);
    else if (o->how == IBV_WR_SEND)
        receive_rc(s, o);
    else
        be_busy(s, o);
    struct cost rc = since(s, start);
    if (!s->sends)
        return;
    double megabytes = (double)o->size * (double)o->messages / 1e6;
    printf("elapsed: udp %.0f MB/s, rc %.0f MB/s, %.3f ms a message, ratio %.2f   processor: udp %.2f, rc %.2f ms a "
           "MB, ratio %.2f\n",
           megabytes / udp.elapsed, megabytes / rc.elapsed, rc.elapsed * 1e3 / (double)o->messages,
           rc.elapsed / udp.elapsed, udp.processor * 1e3 / megabytes, rc.processor * 1e3 / megabytes,
           rc.processor / udp.processor);
    fflush(stdout);
}

static struct options parse(int argc, char **argv)
{
    static const struct option known[] = {{"size", 1, 0, 's'},   {"messages", 1, 0, 'm'}, {"mtu", 1, 0, 'u'},
                                          {"rounds", 1, 0, 'r'}, {"how", 1, 0, 'h'},      {"depth", 1, 0, 'd'},
                                          {"other", 1, 0, 'o'},  {"poll", 1, 0, 'p'},     {0}};
    struct options o = {.size = 100000,
                        .messages = 1000,
                        .mtu = 4096,
                        .depth = QUEUE,
                        .rounds = 3,
                        .how = IBV_WR_RDMA_WRITE,
                        .both = true};
    int which;
    bool wrong = false;
    while ((which = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (which) {
        case 's':
            o.size = strtoul(optarg, NULL, 10);
            break;
        case 'm':
            o.messages = strtoul(optarg, NULL, 10);
            break;
        case 'u':
            o.mtu = strtoul(optarg, NULL, 10);
            break;
        case 'd':
            o.depth = strtoul(optarg, NULL, 10);
            break;
        case 'o':
            o.other = atol(optarg);
            break;
        case 'r':
            o.rounds = atoi(optarg);
            break;
        case 'h':
            o.how = *optarg == 's' ? IBV_WR_SEND : *optarg == 'r' ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
            break;
        case 'p':
            o.both = *optarg == 'b';
            break;
        default:
            wrong = true;
        }
    }
    if (wrong || !o.size || o.size > 1u << 30 || !o.messages || !o.depth || o.depth > QUEUE || o.rounds < 1 ||
        o.other < 0 || o.other > 999999 || o.mtu < 256 || o.mtu > 4096 || o.mtu & (o.mtu - 1)) {
        fprintf(stderr,
                "usage: rc_stream [--size BYTES] [--messages N] [--mtu 256|512|1024|2048|4096] [--rounds N] [--how "
                "write|send|read] "
                "[--poll send|both] [--depth 1-%d] [--other MICROSECONDS]\n",
                QUEUE);
        exit(64);
    }
    return o;
}

int main(int argc, char **argv)
{
    struct options o = parse(argc, argv);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
        die("socketpair");
    pid_t child = fork(); /* before any verb: each has a device of its own */
    if (child < 0)
        die("fork");
    if (!child)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(pair[child ? 1 : 0]);
    struct side s = {.sends = child, .peer = pair[child ? 0 : 1]};
    s.memory = aligned_alloc(4096, (o.size + HEADER + 8191) & ~4095ul);
    if (!s.memory)
        die("aligned_alloc");
    memset(s.memory, 1, o.size + HEADER);
    open_udp(&s);
    open_rc(&s, &o);
    for (int round = 0; round < o.rounds; round++)
        measure(&s, &o);
    int status = 0;
    if (child && (waitpid(child, &status, 0) != child || status))
        die("the other process");
    return 0;
}
