/* polls_once FILE, as the only rank of a job: sends itself a datagram, polls for nothing, and says "ready". When the
 * file is there, it sends another one and polls once: it gets all completions, also when a checkpoint has taken the
 * first ones from the device. A program that gets fewer than it has room for takes the queue for empty, and sleeps. */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s is not so\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

enum { GRH = 40, BYTES = 8, RECEIVES = 2, QKEY = 7, ROOM = 16 };

static uint8_t memory[RECEIVES * (GRH + BYTES)];
static struct ibv_qp *qp;
static struct ibv_mr *region;
static struct ibv_ah *self;

static void make_ready(struct ibv_context *device, struct ibv_cq *cq, struct ibv_pd *pd)
{
    struct ibv_qp_init_attr init = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_UD,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = 2, .max_recv_wr = RECEIVES, .max_send_sge = 1, .max_recv_sge = 1}};
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

static void post_receive(int i)
{
    struct ibv_sge sge = {(uintptr_t)memory + (unsigned)i * (GRH + BYTES), GRH + BYTES, region->lkey};
    struct ibv_recv_wr wr = {.wr_id = 100u + (unsigned)i, .sg_list = &sge, .num_sge = 1}, *bad;
    CHECK(!ibv_post_recv(qp, &wr, &bad));
}

static void post_send(uint64_t number)
{
    struct ibv_sge sge = {(uintptr_t)memory, BYTES, region->lkey};
    struct ibv_send_wr wr = {.wr_id = number,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .wr.ud = {.ah = self, .remote_qpn = qp->qp_num, .remote_qkey = QKEY}},
                       *bad;
    CHECK(!ibv_post_send(qp, &wr, &bad));
}

int main(int argc, char **argv)
{
    struct ibv_wc done[ROOM];
    uint64_t seen = 0;
    CHECK(argc == 2);
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *device = list && *list ? ibv_open_device(*list) : NULL;
    CHECK(device);
    struct ibv_pd *pd = ibv_alloc_pd(device);
    struct ibv_cq *cq = ibv_create_cq(device, ROOM, NULL, NULL, 0);
    CHECK(pd && cq && (region = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE)));
    make_ready(device, cq, pd);
    for (int i = 0; i < RECEIVES; i++)
        post_receive(i);
    post_send(1);
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK))
        usleep(10000);
    post_send(2);
    int got = ibv_poll_cq(cq, ROOM, done);
    for (int i = 0; i < got; i++) {
        CHECK(done[i].status == IBV_WC_SUCCESS);
        seen |= done[i].wr_id >= 100 ? 0x100ull << (done[i].wr_id - 100) : 1ull << done[i].wr_id;
    }
    if (got != 4 || seen != 0x306) {
        fprintf(stderr, "one poll: %d completions, %#lx\n", got, (unsigned long)seen);
        return 1;
    }
    puts("PASS");
    return 0;
}
