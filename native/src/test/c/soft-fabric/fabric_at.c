#include "fabric_at.h"

struct ibv_context *open_number(int number)
{
    int count;
    struct ibv_device **list = ibv_get_device_list(&count);
    CHECK(list);
    EQUAL(DEVICES, count);
    struct ibv_context *context = ibv_open_device(list[number]);
    CHECK(context);
    ibv_free_device_list(list);
    return context;
}

struct ibv_port_attr port_of(struct ibv_context *context, int port)
{
    struct ibv_port_attr attr;
    EQUAL(0, ibv_query_port(context, (uint8_t)port, &attr));
    return attr;
}

union ibv_gid gid_of(struct ibv_context *context, int port)
{
    union ibv_gid gid;
    EQUAL(0, ibv_query_gid(context, (uint8_t)port, 0, &gid));
    return gid;
}

int init_at(struct ibv_qp *qp, int port)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)port, .qkey = QKEY};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
}

struct at *make_at(struct ibv_context *context, int port, enum ibv_qp_type type)
{
    struct at *at = calloc(1, sizeof *at);
    CHECK(at);
    at->context = context;
    at->port = port;
    CHECK(at->pd = ibv_alloc_pd(context));
    CHECK(at->channel = ibv_create_comp_channel(context));
    CHECK(at->cq = ibv_create_cq(context, 64, NULL, at->channel, 0));
    CHECK(at->mr = ibv_reg_mr(at->pd, at->memory, sizeof at->memory, IBV_ACCESS_LOCAL_WRITE));
    struct ibv_qp_init_attr init = {.send_cq = at->cq, .recv_cq = at->cq, .qp_type = type, .cap = {16, 16, 1, 1, 0}};
    CHECK(at->qp = ibv_create_qp(at->pd, &init));
    if (type == IBV_QPT_UD) {
        EQUAL(0, init_at(at->qp, port));
        EQUAL(0, to_rtr(at->qp));
        EQUAL(0, to_rts(at->qp));
    }
    return at;
}

void receive_at(struct at *at)
{
    struct ibv_sge sge = {(uintptr_t)at->memory, 1024, at->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = 1, .sg_list = &sge, .num_sge = 1}, *bad;
    EQUAL(0, ibv_post_recv(at->qp, &wr, &bad));
}

/* Sends "seed" to a LID and number, with a GRH when `gid` is given. */
void send_from(struct at *from, uint16_t lid, uint32_t qpn, const union ibv_gid *gid, unsigned seed)
{
    struct ibv_ah_attr attr = {.dlid = lid, .port_num = (uint8_t)from->port, .is_global = gid != NULL};
    if (gid)
        attr.grh.dgid = *gid;
    struct ibv_ah *ah = ibv_create_ah(from->pd, &attr);
    CHECK(ah);
    char *text = from->memory + 2048;
    fill(text, 100, seed);
    struct ibv_sge sge = {(uintptr_t)text, 100, from->mr->lkey};
    struct ibv_send_wr wr = {.wr_id = 2,
                             .sg_list = &sge,
                             .num_sge = 1,
                             .opcode = IBV_WR_SEND,
                             .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
                             .wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = QKEY}},
                       *bad;
    struct ibv_wc wc;
    EQUAL(0, ibv_post_send(from->qp, &wr, &bad));
    EQUAL(1, poll_for(from->cq, 1, &wc));
    EQUAL(2, wc.wr_id);
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(0, ibv_destroy_ah(ah));
}

void check_arrival(struct at *to, struct at *from, unsigned seed)
{
    struct ibv_wc wc;
    EQUAL(1, poll_for(to->cq, 1, &wc));
    EQUAL(1, wc.wr_id);
    EQUAL(IBV_WC_SUCCESS, wc.status);
    EQUAL(to->qp->qp_num, wc.qp_num);
    EQUAL(from->qp->qp_num, wc.src_qp);
    EQUAL(port_of(from->context, from->port).lid, wc.slid);
    CHECK(is_filled(to->memory + GRH, 100, seed));
    if (wc.wc_flags & IBV_WC_GRH) {
        union ibv_gid own = gid_of(to->context, to->port), other = gid_of(from->context, from->port);
        struct ibv_grh *grh = (struct ibv_grh *)to->memory;
        CHECK(!memcmp(&own, &grh->dgid, sizeof own));
        CHECK(!memcmp(&other, &grh->sgid, sizeof other));
    }
}

void deliver(struct at *from, struct at *to, int global, unsigned seed)
{
    union ibv_gid gid = gid_of(to->context, to->port);
    receive_at(to);
    send_from(from, port_of(to->context, to->port).lid, to->qp->qp_num, global ? &gid : NULL, seed);
    check_arrival(to, from, seed);
}

void connect_to(struct at *own, struct at *peer)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = (uint8_t)own->port};
    EQUAL(0, ibv_modify_qp(own->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_1024,
        .dest_qp_num = peer->qp->qp_num,
        .min_rnr_timer = 12,
        .ah_attr = {.dlid = port_of(peer->context, peer->port).lid, .port_num = (uint8_t)own->port}};
    EQUAL(0, ibv_modify_qp(own->qp, &attr,
                           IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};
    EQUAL(0, ibv_modify_qp(own->qp, &attr,
                           IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                               IBV_QP_MAX_QP_RD_ATOMIC));
    struct ibv_qp_init_attr init;
    EQUAL(0, ibv_query_qp(own->qp, &attr, IBV_QP_PORT | IBV_QP_AV, &init));
    EQUAL(own->port, attr.port_num);
    EQUAL(own->port, attr.ah_attr.port_num);
}
