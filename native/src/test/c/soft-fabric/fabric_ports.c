/* Several devices, and several ports of each: UDCKPT_SOFT_DEVICES=2 UDCKPT_SOFT_PORTS=2. */
#include "fabric_at.h"
#include <sys/stat.h>

static void addresses(void)
{
    uint16_t first = 0;
    __be64 guids[DEVICES];
    for (int d = 0; d < DEVICES; d++) {
        struct ibv_context *context = open_number(d);
        struct ibv_device_attr device;
        struct stat status;
        char path[128];
        union ibv_gid gid;
        EQUAL(0, ibv_query_device(context, &device));
        EQUAL(PORTS, device.phys_port_cnt);
        guids[d] = device.node_guid;
        EQUAL(d, ibv_get_device_index(context->device));
        snprintf(path, sizeof path, "/dev/infiniband/%s", context->device->dev_name);
        EQUAL(0, stat(path, &status));
        for (int p = 1; p <= PORTS; p++) {
            struct ibv_port_attr port = port_of(context, p);
            if (!first)
                first = port.lid;
            EQUAL(first + d * PORTS + p - 1, port.lid);
            gid = gid_of(context, p);
            CHECK((be64toh(gid.global.interface_id) & 0xffff) == port.lid);
        }
        struct ibv_port_attr none;
        EQUAL(EINVAL, ibv_query_port(context, PORTS + 1, &none));
        EQUAL(-1, ibv_query_gid(context, PORTS + 1, 0, &gid));
        struct ibv_gid_entry table[8];
        EQUAL(PORTS, ibv_query_gid_table(context, table, 8, 0));
        EQUAL(2, table[1].port_num);
        EQUAL(0, ibv_close_device(context));
    }
    CHECK(guids[0] != guids[1]);
}

static void everyPortReachesEveryPort(void)
{
    struct at *ends[ALL];
    for (int i = 0; i < ALL; i++)
        ends[i] = make_at(open_number(i / PORTS), i % PORTS + 1, IBV_QPT_UD);
    for (int from = 0; from < ALL; from++)
        for (int to = 0; to < ALL; to++)
            for (int global = 0; global < 2; global++)
                deliver(ends[from], ends[to], global, (unsigned)(from * 16 + to * 2 + global));
}

static void aDeviceOpenedTwice(void)
{
    struct at *one = make_at(open_number(0), 2, IBV_QPT_UD), *two = make_at(open_number(0), 2, IBV_QPT_UD);
    CHECK(one->context != two->context);
    deliver(one, two, 1, 3);
    deliver(two, one, 1, 4);
    EQUAL(0, ibv_destroy_qp(one->qp));
    deliver(two, two, 0, 5);
}

static void aSleeperAtTheSecondPort(void)
{
    struct at *to = make_at(open_number(0), 2, IBV_QPT_UD), *from = make_at(open_number(1), 1, IBV_QPT_UD);
    struct ibv_cq *cq;
    void *context;
    for (int solicited = 0; solicited < 2; solicited++) {
        receive_at(to);
        EQUAL(0, ibv_req_notify_cq(to->cq, solicited));
        send_from(from, port_of(to->context, 2).lid, to->qp->qp_num, NULL, 9);
        EQUAL(0, ibv_get_cq_event(to->channel, &cq, &context));
        ibv_ack_cq_events(cq, 1);
        check_arrival(to, from, 9);
    }
}

/* A queue pair is at one port at a time, and may change it by way of RESET. */
static void aQueuePairMoves(void)
{
    struct ibv_context *context = open_number(0);
    struct at *mover = make_at(context, 1, IBV_QPT_UD), *other = make_at(context, 1, IBV_QPT_UD);
    uint32_t number = mover->qp->qp_num;
    for (int round = 0; round < 3; round++)
        for (int port = 2; port >= 1; port--) {
            struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
            EQUAL(0, ibv_modify_qp(mover->qp, &attr, IBV_QP_STATE));
            EQUAL(0, init_at(mover->qp, port));
            EQUAL(0, to_rtr(mover->qp));
            EQUAL(0, to_rts(mover->qp));
            mover->port = port;
            EQUAL(number, mover->qp->qp_num);
            deliver(other, mover, 0, (unsigned)port);
            deliver(mover, other, 1, (unsigned)port);
            receive_at(mover);
            send_from(other, port_of(context, 3 - port).lid, number, NULL, 7); /* where it is not */
            CHECK(stays_empty(mover->cq));
        }
    EQUAL(EINVAL, init_at(make_at(context, 1, IBV_QPT_UD)->qp, PORTS + 1));
    struct ibv_ah_attr nowhere = {.dlid = 1, .port_num = PORTS + 1};
    CHECK(!ibv_create_ah(other->pd, &nowhere));
    EQUAL(EINVAL, errno);
}

static void connectionsBetweenPorts(void)
{
    struct at *one = make_at(open_number(0), 2, IBV_QPT_RC), *two = make_at(open_number(1), 2, IBV_QPT_RC);
    connect_to(one, two);
    connect_to(two, one);
    receive_at(two);
    fill(one->memory + 2048, 100, 77);
    struct ibv_sge sge = {(uintptr_t)one->memory + 2048, 100, one->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 2,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;
    struct ibv_wc wc;
    EQUAL(0, ibv_post_send(one->qp, &wr, &bad));
    EQUAL(1, poll_for(two->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
    CHECK(is_filled(two->memory, 100, 77));
    EQUAL(1, poll_for(one->cq, 1, &wc));
    EQUAL(IBV_WC_SUCCESS, wc.status);
}

int main(int argc, char **argv)
{
    static const struct fabric_case cases[] = {
        {"addresses", addresses},
        {"everyPortReachesEveryPort", everyPortReachesEveryPort},
        {"aDeviceOpenedTwice", aDeviceOpenedTwice},
        {"aSleeperAtTheSecondPort", aSleeperAtTheSecondPort},
        {"aQueuePairMoves", aQueuePairMoves},
        {"connectionsBetweenPorts", connectionsBetweenPorts},
        {NULL, NULL},
    };
    return run_cases(argc, argv, cases);
}
