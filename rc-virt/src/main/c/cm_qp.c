/* Queue pairs of ids: made in INIT (RC) or RTS (UD), and brought to RTS when both sides know each other. */
#include "cm.h"
#include <errno.h>
#include <string.h>

enum {
    ACK_TIMEOUT = 14,   /* 4.096 us * 2^14 = 67 ms, the InfiniBand CM's usual packet lifetime */
    MIN_RNR_TIMER = 12, /* 0.64 ms */
    ACCESS = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
};

static int initialise_datagrams(struct cm_id *id)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = cm_port(), .qkey = id->qkey};
    int error = ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr.qp_state = IBV_QPS_RTR;
    if (!error)
        error = ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE);
    attr.qp_state = IBV_QPS_RTS;
    return error ? error : ibv_modify_qp(id->id.qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static void initial(struct ibv_qp_attr *attr, int *mask)
{
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = cm_port(), .qp_access_flags = ACCESS};
    *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

int cm_qp_initialise(struct cm_id *id)
{
    struct ibv_qp_attr attr;
    int mask;
    if (id->id.qp_type == IBV_QPT_UD)
        return initialise_datagrams(id);
    initial(&attr, &mask);
    return ibv_modify_qp(id->id.qp, &attr, mask);
}

static void ready_to_receive(struct cm_id *id, struct ibv_qp_attr *attr, int *mask, const struct cm_message *peer)
{
    int mtu = cm_active_mtu();
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                 .path_mtu = (enum ibv_mtu)(peer->mtu && peer->mtu < mtu ? peer->mtu : mtu),
                                 .dest_qp_num = peer->data.qpn,
                                 .rq_psn = peer->psn,
                                 .max_dest_rd_atomic = id->parameters.responder_resources,
                                 .min_rnr_timer = MIN_RNR_TIMER};
    cm_address(&peer->data, &attr->ah_attr);
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static void ready_to_send(struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                 .sq_psn = id->psn,
                                 .timeout = (uint8_t)(id->ack_timeout ? id->ack_timeout : ACK_TIMEOUT),
                                 .retry_cnt = id->parameters.retry_count,
                                 .rnr_retry = id->parameters.rnr_retry_count,
                                 .max_rd_atomic = id->parameters.initiator_depth};
    *mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
}

int cm_qp_connect(struct cm_id *id, const struct cm_message *peer)
{
    struct ibv_qp_attr attr;
    int mask;
    ready_to_receive(id, &attr, &mask, peer);
    int error = ibv_modify_qp(id->id.qp, &attr, mask);
    ready_to_send(id, &attr, &mask);
    return error ? error : ibv_modify_qp(id->id.qp, &attr, mask);
}

/* For a program that modifies its queue pair by itself: attr->qp_state says what it wants to reach. */
EXPORT int rdma_init_qp_attr(struct rdma_cm_id *public, struct ibv_qp_attr *attr, int *mask)
{
    struct cm_id *id = cm_of(public);
    if (!public || !attr || !mask)
        return cm_fail(EINVAL);
    const struct cm_message *peer = &id->request;
    switch (attr->qp_state) {
    case IBV_QPS_INIT:
        initial(attr, mask);
        return 0;
    case IBV_QPS_RTR:
        if (!peer->magic)
            return cm_fail(EINVAL); /* the peer has not answered yet */
        ready_to_receive(id, attr, mask, peer);
        return 0;
    case IBV_QPS_RTS:
        ready_to_send(id, attr, mask);
        return 0;
    default:
        return cm_fail(EINVAL);
    }
}

static int make_queues(struct cm_id *id, struct ibv_qp_init_attr *wanted)
{
    struct rdma_cm_id *public = &id->id;
    if (!wanted->send_cq) {
        if (!(public->send_cq_channel = ibv_create_comp_channel(public->verbs)) ||
            !(public->send_cq = ibv_create_cq(public->verbs, (int)wanted->cap.max_send_wr + 1, public, public->send_cq_channel, 0)))
            return -1;
        wanted->send_cq = public->send_cq;
        id->owns_cqs = 1;
    }
    if (!wanted->recv_cq) {
        if (!(public->recv_cq_channel = ibv_create_comp_channel(public->verbs)) ||
            !(public->recv_cq = ibv_create_cq(public->verbs, (int)wanted->cap.max_recv_wr + 1, public, public->recv_cq_channel, 0)))
            return -1;
        wanted->recv_cq = public->recv_cq;
        id->owns_cqs = 1;
    }
    return 0;
}

static void destroy_queues(struct cm_id *id)
{
    struct rdma_cm_id *public = &id->id;
    if (!id->owns_cqs)
        return;
    if (public->send_cq && ibv_destroy_cq(public->send_cq))
        cm_say("rdma_destroy_qp: its send CQ is busy and stays");
    if (public->send_cq_channel)
        ibv_destroy_comp_channel(public->send_cq_channel);
    if (public->recv_cq && ibv_destroy_cq(public->recv_cq))
        cm_say("rdma_destroy_qp: its receive CQ is busy and stays");
    if (public->recv_cq_channel)
        ibv_destroy_comp_channel(public->recv_cq_channel);
    public->send_cq = public->recv_cq = NULL;
    public->send_cq_channel = public->recv_cq_channel = NULL;
    id->owns_cqs = 0;
}

EXPORT int rdma_create_qp(struct rdma_cm_id *public, struct ibv_pd *pd, struct ibv_qp_init_attr *wanted)
{
    struct cm_id *id = cm_of(public);
    if (!public || !wanted || public->qp || !public->verbs)
        return cm_fail(EINVAL);
    if (wanted->qp_type != public->qp_type)
        return cm_fail(EINVAL);
    if (!pd && !(pd = public->pd ? public->pd : cm_default_pd()))
        return -1;
    public->pd = pd;
    if (public->srq && !wanted->srq)
        wanted->srq = public->srq;
    if (make_queues(id, wanted) || !(public->qp = ibv_create_qp(pd, wanted))) {
        int error = errno;
        destroy_queues(id);
        return cm_fail(error);
    }
    int error = cm_qp_initialise(id);
    if (error) {
        rdma_destroy_qp(public);
        return cm_fail(error);
    }
    return 0;
}

EXPORT int rdma_create_qp_ex(struct rdma_cm_id *public, struct ibv_qp_init_attr_ex *wanted)
{
    if (!wanted || wanted->comp_mask & ~(uint32_t)IBV_QP_INIT_ATTR_PD)
        return cm_refuse("rdma_create_qp_ex with extended attributes", "use ibv_create_qp_ex and rdma_establish");
    struct ibv_qp_init_attr plain = {.qp_context = wanted->qp_context,
                                     .send_cq = wanted->send_cq,
                                     .recv_cq = wanted->recv_cq,
                                     .srq = wanted->srq,
                                     .cap = wanted->cap,
                                     .qp_type = wanted->qp_type,
                                     .sq_sig_all = wanted->sq_sig_all};
    int result = rdma_create_qp(public, wanted->comp_mask & IBV_QP_INIT_ATTR_PD ? wanted->pd : NULL, &plain);
    wanted->cap = plain.cap;
    return result;
}

EXPORT void rdma_destroy_qp(struct rdma_cm_id *public)
{
    pthread_mutex_lock(&cm_mutex); /* the service thread may be about to connect it */
    struct ibv_qp *qp = public->qp;
    public->qp = NULL;
    pthread_mutex_unlock(&cm_mutex);
    if (qp && ibv_destroy_qp(qp))
        cm_say("rdma_destroy_qp: ibv_destroy_qp failed");
    destroy_queues(cm_of(public));
}

EXPORT int rdma_create_srq(struct rdma_cm_id *public, struct ibv_pd *pd, struct ibv_srq_init_attr *wanted)
{
    if (!public || !wanted || public->srq)
        return cm_fail(EINVAL);
    if (!pd && !(pd = public->pd ? public->pd : cm_default_pd()))
        return -1;
    public->srq = ibv_create_srq(pd, wanted);
    if (!public->srq)
        return -1;
    public->pd = pd;
    return 0;
}

EXPORT int rdma_create_srq_ex(struct rdma_cm_id *public, struct ibv_srq_init_attr_ex *wanted)
{
    if (!wanted || (wanted->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && wanted->srq_type != IBV_SRQT_BASIC))
        return cm_refuse("rdma_create_srq_ex of another type than basic", "XRC and tag matching are not virtualized");
    struct ibv_srq_init_attr plain = {.srq_context = wanted->srq_context, .attr = wanted->attr};
    int result = rdma_create_srq(public, wanted->comp_mask & IBV_SRQ_INIT_ATTR_PD ? wanted->pd : NULL, &plain);
    wanted->attr = plain.attr;
    return result;
}

EXPORT void rdma_destroy_srq(struct rdma_cm_id *public)
{
    if (public->srq && ibv_destroy_srq(public->srq))
        cm_say("rdma_destroy_srq: ibv_destroy_srq failed");
    public->srq = NULL;
}
