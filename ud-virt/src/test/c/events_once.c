/* events_once FILE, as the only rank of a job: sends itself datagrams and sleeps for their completions. It takes the
 * event of the first, asks for the next event, and says "ready" before it polls, as perftest (-e) does when a
 * checkpoint comes between the two. When the file is there, it polls: there is a completion. It was there when the next
 * event was asked for, so it has none: perftest takes each event for a message. The next datagram has one. */
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s is not so\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

enum { GRH = 40, BYTES = 8, RECEIVES = 4, QKEY = 7, ROOM = 16, QUIET_MS = 300, SOON_MS = 20000 };

static uint8_t memory[RECEIVES * (GRH + BYTES)];
static struct ibv_comp_channel *channel;
static struct ibv_cq *sent, *received;
static struct ibv_qp *qp;
static struct ibv_mr *region;
static struct ibv_ah *self;

static void make_ready(struct ibv_context *device, struct ibv_pd *pd)
{
    struct ibv_qp_init_attr init = {
        .send_cq = sent,
        .recv_cq = received,
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = RECEIVES, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    struct ibv_port_attr port;
    CHECK(qp = ibv_create_qp(pd, &init));
    CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY));
    attr.qp_state = IBV_QPS_RTR;
    CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    CHECK(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
    CHECK(!ibv_query_port(device, 1, &port));
    struct ibv_ah_attr address = {.dlid = port.lid, .port_num = 1};
    CHECK(self = ibv_create_ah(pd, &address));
}

static void post_receive(unsigned i)
{
    struct ibv_sge sge = {(uintptr_t)memory + i * (GRH + BYTES), GRH + BYTES, region->lkey};
    struct ibv_recv_wr wr = {.wr_id = i, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(!ibv_post_recv(qp, &wr, &bad));
}

static void post_send(void)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES, region->lkey};
    struct ibv_send_wr wr = {.sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .wr.ud = {.ah = self, .remote_qpn = qp->qp_num, .remote_qkey = QKEY}},
                       *bad;
    CHECK(!ibv_post_send(qp, &wr, &bad));
}

static int is_readable(int milliseconds)
{
    return poll(&(struct pollfd){.fd = channel->fd, .events = POLLIN}, 1, milliseconds);
}

static void take_event_and_ask_for_the_next(void)
{
    struct ibv_cq *cq;
    void *context;
    CHECK(is_readable(SOON_MS) == 1);
    CHECK(!ibv_get_cq_event(channel, &cq, &context) && cq == received);
    ibv_ack_cq_events(cq, 1);
    CHECK(!ibv_req_notify_cq(received, 0));
}

static int poll_one(void)
{
    struct ibv_wc done;
    int got = ibv_poll_cq(received, 1, &done);
    CHECK(got >= 0 && (!got || done.status == IBV_WC_SUCCESS));
    return got;
}

int main(int argc, char **argv)
{
    CHECK(argc == 2);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *device = list && *list ? ibv_open_device(*list) : NULL;
    CHECK(device);
    struct ibv_pd *pd = ibv_alloc_pd(device);
    CHECK(pd && (channel = ibv_create_comp_channel(device)));
    CHECK((sent = ibv_create_cq(device, ROOM, NULL, NULL, 0)));
    CHECK((received = ibv_create_cq(device, ROOM, NULL, channel, 0)));
    CHECK((region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, pd);
    for (unsigned i = 0; i < RECEIVES; i++)
        post_receive(i);
    CHECK(!ibv_req_notify_cq(received, 0));
    post_send();
    take_event_and_ask_for_the_next();
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK))
        usleep(10000);
    CHECK(poll_one() == 1);
    CHECK(is_readable(QUIET_MS) == 0);
    post_send();
    take_event_and_ask_for_the_next();
    CHECK(poll_one() == 1 && poll_one() == 0);
    CHECK(is_readable(QUIET_MS) == 0);
    puts("PASS");
    return 0;
}
