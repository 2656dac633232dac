#include "fabric_connect.h"
#include <arpa/inet.h>

enum { WAIT_SECONDS = 20 };

uint16_t own_lid(struct ibv_context *context)
{
    struct ibv_port_attr port;
    EQUAL(0, ibv_query_port(context, 1, &port));
    return port.lid;
}

static int or_else(int value, int other)
{
    return value ? value : other;
}

static unsigned access_of(struct pair_options o)
{
    return o.access ? o.access
                    : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                          IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
}

static struct end make(struct pair_options o, int with_srq)
{
    struct end end = {.size = o.size ? o.size : 1 << 20, .context = open_soft()};
    end.pd = ibv_alloc_pd(end.context);
    end.memory = aligned_alloc(4096, end.size);
    CHECK(end.pd && end.memory);
    memset(end.memory, 0, end.size);
    end.mr = ibv_reg_mr_iova2(end.pd, end.memory, end.size, (uintptr_t)end.memory, access_of(o));
    CHECK(end.mr);
    end.channel = o.with_channel ? ibv_create_comp_channel(end.context) : NULL;
    end.send_cq = ibv_create_cq(end.context, 4096, NULL, end.channel, 0);
    end.recv_cq = o.with_channel ? end.send_cq : ibv_create_cq(end.context, 4096, NULL, NULL, 0);
    CHECK(end.send_cq && end.recv_cq);
    struct ibv_srq_init_attr srq = {.attr = {.max_wr = (uint32_t)or_else(o.recv_wr, 128), .max_sge = 4}};
    if (with_srq)
        CHECK(end.srq = ibv_create_srq(end.pd, &srq));
    struct ibv_qp_init_attr init = {
        .send_cq = end.send_cq,
        .recv_cq = end.recv_cq,
        .srq = end.srq,
        .qp_type = o.unreliable ? IBV_QPT_UC : IBV_QPT_RC,
        .sq_sig_all = o.signal_all,
        .cap = {(uint32_t)or_else(o.send_wr, 128), (uint32_t)or_else(o.recv_wr, 128), 4, 4,
                (uint32_t)or_else(o.inline_data, 64)},
    };
    CHECK(end.qp = ibv_create_qp(end.pd, &init));
    return end;
}

int to_init_rc(struct ibv_qp *qp, unsigned access)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = access & ~(unsigned)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/* Where there are no LIDs (RoCE): this host's own GID, by FABRIC_GID or the first IPv4 one. */
static struct ibv_ah_attr address(struct ibv_qp *qp, uint16_t lid)
{
    const char *index = getenv("FABRIC_GID");
    struct ibv_ah_attr attr = {.dlid = lid, .port_num = 1};
    if (lid)
        return attr;
    attr.is_global = 1;
    attr.grh = (struct ibv_global_route){.sgid_index = (uint8_t)(index ? atoi(index) : 1), .hop_limit = 1};
    EQUAL(0, ibv_query_gid(qp->context, 1, attr.grh.sgid_index, &attr.grh.dgid));
    return attr;
}

int to_rtr_rc(struct ibv_qp *qp, uint32_t peer, uint16_t lid, struct pair_options o, uint32_t psn)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = o.mtu ? o.mtu : IBV_MTU_1024,
        .dest_qp_num = peer,
        .rq_psn = psn,
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = (uint8_t)or_else(o.min_rnr_timer, 1),
        .ah_attr = address(qp, lid),
    };
    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int to_rts_rc(struct ibv_qp *qp, struct pair_options o, uint32_t psn)
{
    struct ibv_qp_attr attr = {
        .qp_state = IBV_QPS_RTS,
        .sq_psn = psn,
        .timeout = (uint8_t)or_else(o.timeout, 14),
        .retry_cnt = 7,
        .rnr_retry = (uint8_t)(o.rnr_retry == 0  ? 7
                               : o.rnr_retry < 0 ? 0
                                                 : o.rnr_retry),
        .max_rd_atomic = (uint8_t)or_else(o.max_rd_atomic, 4),
    };
    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_MAX_QP_RD_ATOMIC);
}

int to_rtr_uc(struct ibv_qp *qp, uint32_t peer, uint16_t lid, struct pair_options o, uint32_t psn)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu = o.mtu ? o.mtu : IBV_MTU_1024,
                               .dest_qp_num = peer,
                               .rq_psn = psn,
                               .ah_attr = address(qp, lid)};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN);
}

int to_rts_uc(struct ibv_qp *qp, uint32_t psn)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .sq_psn = psn};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

int connect_qp(struct ibv_qp *qp, struct ibv_qp *peer, uint16_t lid, struct pair_options o, uint32_t send_psn,
               uint32_t receive_psn)
{
    if (o.unreliable) {
        int refused = to_rtr_uc(qp, peer->qp_num, lid, o, receive_psn);
        return refused ? refused : to_rts_uc(qp, send_psn);
    }
    int error = to_rtr_rc(qp, peer->qp_num, lid, o, receive_psn);
    return error ? error : to_rts_rc(qp, o, send_psn);
}

struct end_pair make_pair(struct pair_options o)
{
    struct end_pair p = {.a = make(o, 0), .b = make(o, o.with_srq)};
    EQUAL(0, to_init_rc(p.a.qp, access_of(o)));
    EQUAL(0, to_init_rc(p.b.qp, access_of(o)));
    if (!o.not_connected) {
        EQUAL(0, connect_qp(p.a.qp, p.b.qp, own_lid(p.b.context), o, o.psn, o.psn + 5));
        EQUAL(0, connect_qp(p.b.qp, p.a.qp, own_lid(p.a.context), o, o.psn + 5, o.psn));
    }
    return p;
}

int post(struct end *from, struct end *to, struct operation o)
{
    uint32_t first = o.halved ? o.length / 2 : o.length;
    struct ibv_sge sges[] = {sge_at(from, o.local, first), sge_at(from, o.local + first, o.length - first)};
    struct ibv_send_wr wr = {.wr_id = o.id,
                             .sg_list = sges,
                             .num_sge = o.halved ? 2 : 1,
                             .opcode = o.opcode,
                             .send_flags = o.flags,
                             .imm_data = htonl(o.immediate)},
                       *bad;
    uint64_t address = (uintptr_t)to->memory + o.remote;
    uint32_t rkey = o.rkey ? o.rkey : to->mr->rkey;
    if (o.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || o.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        wr.wr.atomic.remote_addr = address;
        wr.wr.atomic.rkey = rkey;
        wr.wr.atomic.compare_add = o.compare_add;
        wr.wr.atomic.swap = o.swap;
    } else {
        wr.wr.rdma.remote_addr = address;
        wr.wr.rdma.rkey = rkey;
    }
    return ibv_post_send(from->qp, &wr, &bad);
}

int await_wc(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += WAIT_SECONDS;
    int got = 0;
    do {
        int n = ibv_poll_cq(cq, count - got, wc + got);
        CHECK(n >= 0);
        got += n;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (got < count && now.tv_sec < end.tv_sec);
    return got;
}
