/* Queue pairs of ids: made in INIT (connections) or RTS (datagrams), and brought to RTS when both sides know each
 * other. The attributes are those that the kernel's cm gives (cm_init_qp_*_attr), and librdmacm sets. */
#include "cm.h"
#include <errno.h>
#include <string.h>

enum {
    ACK_TIMEOUT = 14,  /* 4.096 us * 2^14 = 67 ms, the InfiniBand CM's usual packet lifetime */
    MIN_RNR_TIMER = 0, /* 655 ms */
    READS = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
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

/* The peer may write when it is known, and read when it said that it would. */
static void initial(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    const struct cm_message *peer = &id->request;
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = cm_port()};
    if (peer->magic)
        attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (peer->initiator_depth ? READS : 0);
    *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
}

int cm_qp_initialise(struct cm_id *id)
{
    struct ibv_qp_attr attr;
    int mask;
    if (cm_is_datagram(id))
        return initialise_datagrams(id);
    initial(id, &attr, &mask);
    return ibv_modify_qp(id->id.qp, &attr, mask);
}

static void ready_to_receive(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    const struct cm_message *peer = &id->request;
    int mtu = cm_active_mtu();
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
                                 .path_mtu = (enum ibv_mtu)(peer->mtu && peer->mtu < mtu ? peer->mtu : mtu),
                                 .dest_qp_num = peer->data.qpn,
                                 .rq_psn = peer->psn};
    cm_address(&peer->data, &attr->ah_attr);
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (id->id.qp_type == IBV_QPT_RC || id->id.qp_type == IBV_QPT_XRC_RECV) {
        attr->max_dest_rd_atomic = id->parameters.responder_resources;
        attr->min_rnr_timer = MIN_RNR_TIMER;
        *mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
}

static void ready_to_send(const struct cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    int sends = id->id.qp_type == IBV_QPT_RC || id->id.qp_type == IBV_QPT_XRC_SEND; /* and is answered */
    *attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = id->psn};
    *mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
    if (sends) {
        attr->retry_cnt = id->retry_count;
        attr->rnr_retry = id->rnr_retry_count;
        attr->max_rd_atomic = id->parameters.initiator_depth;
        *mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    if (sends || id->id.qp_type == IBV_QPT_XRC_RECV) {
        attr->timeout = (uint8_t)(id->ack_timeout >= 0 ? id->ack_timeout : ACK_TIMEOUT);
        *mask |= IBV_QP_TIMEOUT;
    }
}

/* From INIT to INIT first, for what the peer may do was not known when the queue pair was made. */
int cm_qp_connect(struct cm_id *id)
{
    struct ibv_qp_attr attr;
    int mask;
    initial(id, &attr, &mask);
    int error = ibv_modify_qp(id->id.qp, &attr, mask);
    ready_to_receive(id, &attr, &mask);
    if (!error)
        error = ibv_modify_qp(id->id.qp, &attr, mask);
    ready_to_send(id, &attr, &mask);
    return error ? error : ibv_modify_qp(id->id.qp, &attr, mask);
}

/* For a program that modifies its queue pair by itself: attr->qp_state says what it wants to reach. */
EXPORT int rdma_init_qp_attr(struct rdma_cm_id *public, struct ibv_qp_attr *attr, int *mask)
{
    struct cm_id *id = cm_of(public);
    if (!public || !attr || !mask)
        return cm_fail(EINVAL);
    if (cm_is_datagram(id)) { /* the same in each state */
        *attr = (struct ibv_qp_attr){.qp_state = attr->qp_state, .port_num = cm_port(), .qkey = id->qkey};
        *mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
        return 0;
    }
    switch (attr->qp_state) {
    case IBV_QPS_INIT:
        initial(id, attr, mask);
        return 0;
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
        if (!id->request.magic)
            return cm_fail(EINVAL); /* the peer has not answered yet */
        if (attr->qp_state == IBV_QPS_RTR)
            ready_to_receive(id, attr, mask);
        else
            ready_to_send(id, attr, mask);
        return 0;
    default:
        return cm_fail(EINVAL);
    }
}

/* Ids have one domain, as those of librdmacm have: a process's targets and shared queues find each other. */
static struct ibv_xrcd *xrc_domain(struct ibv_context *context)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct ibv_xrcd *domain;
    struct ibv_xrcd_init_attr attr = {
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
    pthread_mutex_lock(&mutex);
    if (!domain)
        domain = ibv_open_xrcd(context, &attr);
    struct ibv_xrcd *found = domain;
    pthread_mutex_unlock(&mutex);
    return found;
}

static int make_receive_queue(struct cm_id *id, uint32_t receives)
{
    struct rdma_cm_id *public = &id->id;
    if (!(public->recv_cq_channel = ibv_create_comp_channel(public->verbs)) ||
        !(public->recv_cq = ibv_create_cq(public->verbs, (int)receives + 1, public, public->recv_cq_channel, 0)))
        return -1;
    id->owns_cqs = 1;
    return 0;
}

static int make_queues(struct cm_id *id, struct ibv_qp_init_attr *wanted)
{
    struct rdma_cm_id *public = &id->id;
    int sends = public->qp_type != IBV_QPT_XRC_RECV,
        receives = public->qp_type != IBV_QPT_XRC_SEND && public->qp_type != IBV_QPT_XRC_RECV;
    if (!wanted->send_cq && sends) {
        if (!(public->send_cq_channel = ibv_create_comp_channel(public->verbs)) ||
            !(public->send_cq =
                  ibv_create_cq(public->verbs, (int)wanted->cap.max_send_wr + 1, public, public->send_cq_channel, 0)))
            return -1;
        wanted->send_cq = public->send_cq;
        id->owns_cqs = 1;
    }
    if (!wanted->recv_cq && receives) {
        if (make_receive_queue(id, wanted->cap.max_recv_wr))
            return -1;
        wanted->recv_cq = public->recv_cq;
    }
    return 0;
}

static void destroy_queues(struct cm_id *id)
{
    struct rdma_cm_id *public = &id->id;
    if (!id->owns_cqs)
        return;
    if (public->send_cq && ibv_destroy_cq(public->send_cq))
        cm_say("rdma_destroy_qp: its send CQ is busy and is kept");
    if (public->send_cq_channel)
        ibv_destroy_comp_channel(public->send_cq_channel);
    if (public->recv_cq && ibv_destroy_cq(public->recv_cq))
        cm_say("rdma_destroy_qp: its receive CQ is busy and is kept");
    if (public->recv_cq_channel)
        ibv_destroy_comp_channel(public->recv_cq_channel);
    public->send_cq = public->recv_cq = NULL;
    public->send_cq_channel = public->recv_cq_channel = NULL;
    id->owns_cqs = 0;
}

/* The extended attributes begin with the plain ones; only what those cannot say needs the extended call. */
static struct ibv_qp *make_queue_pair(struct rdma_cm_id *public, struct ibv_qp_init_attr_ex *wanted)
{
    if (wanted->comp_mask == IBV_QP_INIT_ATTR_PD)
        return ibv_create_qp(wanted->pd, (struct ibv_qp_init_attr *)wanted);
    return ibv_create_qp_ex(public->verbs, wanted);
}

EXPORT int rdma_create_qp_ex(struct rdma_cm_id *public, struct ibv_qp_init_attr_ex *wanted)
{
    struct cm_id *id = cm_of(public);
    if (!public || !wanted || public->qp || !public->verbs || wanted->qp_type != public->qp_type)
        return cm_fail(EINVAL);
    if (!(wanted->comp_mask & IBV_QP_INIT_ATTR_PD) || !wanted->pd) {
        wanted->pd = public->pd;
        wanted->comp_mask |= IBV_QP_INIT_ATTR_PD;
    }
    if (!wanted->pd || wanted->pd->context != public->verbs)
        return cm_fail(EINVAL);
    if (public->qp_type == IBV_QPT_XRC_RECV && (!(wanted->comp_mask & IBV_QP_INIT_ATTR_XRCD) || !wanted->xrcd)) {
        if (!(wanted->xrcd = xrc_domain(public->verbs)))
            return -1;
        wanted->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
    }
    if (public->srq && !wanted->srq && public->qp_type != IBV_QPT_XRC_RECV)
        wanted->srq = public->srq;
    if (make_queues(id, (struct ibv_qp_init_attr *)wanted) || !(public->qp = make_queue_pair(public, wanted))) {
        int error = errno;
        destroy_queues(id);
        return cm_fail(error);
    }
    public->pd = wanted->pd;
    int error = cm_qp_initialise(id);
    if (error) {
        rdma_destroy_qp(public);
        return cm_fail(error);
    }
    return 0;
}

EXPORT int rdma_create_qp(struct rdma_cm_id *public, struct ibv_pd *pd, struct ibv_qp_init_attr *wanted)
{
    struct ibv_qp_init_attr_ex extended = {0};
    if (!wanted)
        return cm_fail(EINVAL);
    memcpy(&extended, wanted, sizeof *wanted);
    extended.comp_mask = IBV_QP_INIT_ATTR_PD;
    extended.pd = pd;
    int result = rdma_create_qp_ex(public, &extended);
    memcpy(wanted, &extended, sizeof *wanted);
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
    if (!public->srq || public->qp_type != IBV_QPT_XRC_RECV) /* else its shared queue uses them */
        destroy_queues(cm_of(public));
}

EXPORT int rdma_create_srq(struct rdma_cm_id *public, struct ibv_pd *pd, struct ibv_srq_init_attr *wanted)
{
    if (!public || !wanted)
        return cm_fail(EINVAL);
    struct ibv_srq_init_attr_ex extended = {.srq_context = wanted->srq_context,
                                            .attr = wanted->attr,
                                            .pd = pd,
                                            .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
                                            .srq_type =
                                                public->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC};
    int result = rdma_create_srq_ex(public, &extended);
    wanted->attr = extended.attr;
    return result;
}

/* What the program leaves out for XRC is the domain of this process's ids, and a queue for the receives of this one. */
static int complete_for_xrc(struct cm_id *id, struct ibv_srq_init_attr_ex *wanted)
{
    if (!(wanted->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !wanted->xrcd)
        wanted->xrcd = xrc_domain(id->id.verbs);
    if (!(wanted->comp_mask & IBV_SRQ_INIT_ATTR_CQ))
        wanted->cq = NULL;
    if (wanted->xrcd && !wanted->cq && !make_receive_queue(id, wanted->attr.max_wr))
        wanted->cq = id->id.recv_cq;
    wanted->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
    return wanted->cq ? 0 : -1;
}

EXPORT int rdma_create_srq_ex(struct rdma_cm_id *public, struct ibv_srq_init_attr_ex *wanted)
{
    if (!public || !wanted || public->srq || !public->verbs)
        return cm_fail(EINVAL); /* not on a device yet */
    if (!(wanted->comp_mask & IBV_SRQ_INIT_ATTR_TYPE)) {
        wanted->srq_type = IBV_SRQT_BASIC;
        wanted->comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
    }
    if (!(wanted->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !wanted->pd) {
        wanted->pd = public->pd;
        wanted->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
    }
    if (!wanted->pd)
        return cm_fail(EINVAL);
    if (wanted->srq_type == IBV_SRQT_TM)
        return cm_refuse("rdma_create_srq_ex with tag matching", "the queue's tags are not virtualized");
    if ((wanted->srq_type == IBV_SRQT_XRC && complete_for_xrc(cm_of(public), wanted)) ||
        !(public->srq = ibv_create_srq_ex(public->verbs, wanted))) {
        int error = errno;
        if (!public->qp)
            destroy_queues(cm_of(public));
        return cm_fail(error);
    }
    public->pd = wanted->pd;
    return 0;
}

EXPORT void rdma_destroy_srq(struct rdma_cm_id *public)
{
    if (public->srq && ibv_destroy_srq(public->srq))
        cm_say("rdma_destroy_srq: ibv_destroy_srq failed");
    public->srq = NULL;
    if (!public->qp)
        destroy_queues(cm_of(public));
}
