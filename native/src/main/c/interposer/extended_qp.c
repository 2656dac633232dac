/* ibv_create_qp_ex: the queue pair is the device's ordinary one; what it shall be able to do beyond that hangs on
 * it. */
#include "interposer.h"
#include "device/extended.h"
#include "real-device/real_library.h"

static int check(const struct ibv_qp_init_attr_ex *attr)
{
    const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
                           IBV_QP_INIT_ATTR_MAX_TSO_HEADER | IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH |
                           IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const char *only = "queue pairs have only ordinary send and receive queues";
    if (attr->comp_mask & ~known)
        return EINVAL;
    if (attr->comp_mask & (IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH))
        return interposer_refuse("ibv_create_qp_ex with receive-side scaling", only);
    if (attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER && attr->max_tso_header)
        return interposer_refuse("ibv_create_qp_ex with segmentation offload", only);
    if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags)
        return interposer_refuse("ibv_create_qp_ex with create_flags", only);
    return attr->comp_mask & (attr->qp_type == IBV_QPT_XRC_RECV ? IBV_QP_INIT_ATTR_XRCD : IBV_QP_INIT_ATTR_PD) ? 0
                                                                                                               : EINVAL;
}

struct ibv_qp *extended_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    int error = check(attr);
    if (error) {
        errno = error;
        return NULL;
    }
    /* The extended attributes begin with the plain ones: ibv_create_qp_ex in verbs.h relies on it too. */
    struct ibv_qp *qp = attr->qp_type == IBV_QPT_XRC_RECV ? interposer_create_target(attr)
                                                          : ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
    if (!qp || !(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
        return qp;
    error = extended_builder_make(qp, &attr->cap, attr->send_ops_flags);
    if (!error)
        return qp;
    top_device()->destroy_qp(qp);
    if (error == EOPNOTSUPP)
        interposer_refuse("ibv_create_qp_ex with these send operations",
                          "this type does not have them, or they are not checkpointed");
    errno = error;
    return NULL;
}

void extended_fill(struct ibv_context *context)
{
    if (!top_device()->extends || context->abi_compat != __VERBS_ABI_IS_EXTENDED)
        return;
    struct verbs_context *extended = verbs_get_ctx(context);
    extended->create_qp_ex = extended_create_qp;
    extended->create_cq_ex = extended_create_cq;
    extended->query_device_ex = extended_query_device;
}

/* Only queue pairs that were made with send operations can be posted to this way. */
EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    if (real_inside)
        return real_library()->ibv_qp_to_qp_ex(qp);
    struct extended_qp *extended = (struct extended_qp *)qp;
    return top_device()->extends && extended->builder ? &extended->ex : NULL;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct wr_builder *builder = top_device()->extends ? ((struct extended_qp *)qp)->builder : NULL;
    int error = CALL(destroy_qp, qp);
    if (!error)
        extended_builder_free(builder);
    return error;
}
