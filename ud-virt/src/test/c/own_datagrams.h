/* A queue pair that sends itself datagrams, for programs that look at its completions. */
#pragma once
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "line %d: %s is not so\n", __LINE__, #condition); \
            exit(1); \
        } \
    } while (0)

enum { GRH = 40, BYTES = 8, RECEIVES = 4, QKEY = 7, ROOM = 16 };

static uint8_t memory[RECEIVES * (GRH + BYTES)];
static struct ibv_qp *qp;
static struct ibv_mr *region;
static struct ibv_ah *self;

static void make_ready(struct ibv_context *device, struct ibv_pd *pd, struct ibv_cq *sent, struct ibv_cq *received)
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
