/* Completion channels, completion queues, shared receive queues, queue pairs. The functions that
 * post and poll are not here: programs call them through context->ops (verbs.h). */
#include "interposer.h"

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    return MAKE(create_comp_channel, context);
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    return CALL(destroy_comp_channel, channel);
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                    struct ibv_comp_channel *channel, int vector)
{
    return MAKE(create_cq, context, cqe, cq_context, channel, vector);
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
    return CALL(resize_cq, cq, cqe);
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
    return CALL(destroy_cq, cq);
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    return top_device()->get_cq_event ? top_device()->get_cq_event(channel, cq, cq_context)
                                      : (REFUSE("ibv_get_cq_event"), -1);
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    if (top_device()->ack_cq_events)
        top_device()->ack_cq_events(cq, count);
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    return MAKE(create_srq, pd, attr);
}

EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    return CALL(modify_srq, srq, attr, mask);
}

EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    return CALL(query_srq, srq, attr);
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
    return CALL(destroy_srq, srq);
}

/* An XRC initiator has no receives, so it may be made without a queue for them; and a target is not made in a
 * protection domain (ibv_create_qp_ex(3)). */
static struct ibv_qp *create_xrc(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct ibv_qp_init_attr complete = *attr;
    if (attr->qp_type == IBV_QPT_XRC_RECV) {
        errno = EINVAL;
        return NULL;
    }
    complete.recv_cq = attr->send_cq;
    struct ibv_qp *qp = MAKE(create_qp, pd, &complete);
    if (qp)
        attr->cap = complete.cap;
    return qp;
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    if (attr->qp_type == IBV_QPT_XRC_SEND || attr->qp_type == IBV_QPT_XRC_RECV)
        return create_xrc(pd, attr);
    return MAKE(create_qp, pd, attr);
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    return CALL(modify_qp, qp, attr, mask);
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    return CALL(query_qp, qp, attr, mask, init);
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    return 0;
}

EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    return interposer_lacks("ibv_set_ece", "vendor options of a connection are not checkpointed");
}

EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    return interposer_lacks("ibv_query_ece", "vendor options of a connection are not checkpointed");
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return CALL(attach_mcast, qp, gid, lid);
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return CALL(detach_mcast, qp, gid, lid);
}
