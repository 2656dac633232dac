/* A real device as a lower device: the operations of libibverbs and its provider, called beneath our own functions. */
#include "real_device.h"
#include "real_library.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The addresses of this machine's devices are their own. */
static int configure(const struct device_config *config)
{
    return real_library() ? 0 : errno;
}

static struct ibv_context *open_device(struct ibv_device *device)
{
    return REAL_CALL(real_library()->ibv_open_device(device));
}

static int close_device(struct ibv_context *context)
{
    return REAL_CALL(real_library()->ibv_close_device(context));
}

static int query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    return REAL_CALL(real_library()->ibv_query_device(context, attr));
}

/* As verbs.h does it: a context's own operation first, since the exported function knows the old structure only. */
static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    struct verbs_context *extended = verbs_get_ctx_op(context, query_port);
    memset(attr, 0, size);
    if (extended)
        return REAL_CALL(extended->query_port(context, port, attr, size));
    return REAL_CALL(real_library()->ibv_query_port(context, port, (struct _compat_ibv_port_attr *)attr));
}

static int query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    return REAL_CALL(real_library()->ibv_query_gid(context, port, index, gid));
}

static int query_gid_entry(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
    return REAL_CALL(real_library()->_ibv_query_gid_ex(context, port, index, entry, 0, sizeof *entry));
}

static int query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    return REAL_CALL(real_library()->ibv_query_pkey(context, port, index, pkey));
}

static int get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    return REAL_CALL(real_library()->ibv_get_async_event(context, event));
}

static void ack_async_event(struct ibv_async_event *event)
{
    real_library()->ibv_ack_async_event(event);
}

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
    return REAL_CALL(real_library()->ibv_alloc_pd(context));
}

static int dealloc_pd(struct ibv_pd *pd)
{
    return REAL_CALL(real_library()->ibv_dealloc_pd(pd));
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
    struct ibv_mr *mr = REAL_CALL(real_library()->ibv_reg_mr_iova2(pd, addr, length, iova, access));
    if (mr)
        real_region_add(mr, addr, length, access);
    return mr;
}

static int dereg_mr(struct ibv_mr *mr)
{
    /* before: another thread's new region may have the same struct at once. The agent looks only when no thread is in
     * a verb. */
    struct udckpt_device_region region = real_region_remove(mr);
    int error = REAL_CALL(real_library()->ibv_dereg_mr(mr));
    if (error)
        real_region_restore(mr, region);
    return error;
}

/* Operations of a context's provider; libibverbs has no functions for them. */
static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    if (!pd->context->ops.alloc_mw) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return REAL_CALL(pd->context->ops.alloc_mw(pd, type));
}

static int dealloc_mw(struct ibv_mw *mw)
{
    return REAL_CALL(mw->context->ops.dealloc_mw(mw));
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    return REAL_CALL(abs(mw->context->ops.bind_mw(qp, mw, bind)));
}

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                struct ibv_comp_channel *channel, int vector)
{
    return REAL_CALL(real_library()->ibv_create_cq(context, cqe, cq_context, channel, vector));
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
    return REAL_CALL(real_library()->ibv_resize_cq(cq, cqe));
}

static int destroy_cq(struct ibv_cq *cq)
{
    return REAL_CALL(real_library()->ibv_destroy_cq(cq));
}

static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    return REAL_CALL(real_library()->ibv_get_cq_event(channel, cq, cq_context));
}

static void ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    real_library()->ibv_ack_cq_events(cq, count);
}

/* The paths of data do not call what libibverbs exports: no sign. */
static int poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc)
{
    return cq->context->ops.poll_cq(cq, count, wc);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    return cq->context->ops.req_notify_cq(cq, solicited_only);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    return REAL_CALL(real_library()->ibv_create_srq(pd, attr));
}

static int modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    return REAL_CALL(real_library()->ibv_modify_srq(srq, attr, mask));
}

static int query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    return REAL_CALL(real_library()->ibv_query_srq(srq, attr));
}

static int destroy_srq(struct ibv_srq *srq)
{
    return REAL_CALL(real_library()->ibv_destroy_srq(srq));
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    return REAL_CALL(real_library()->ibv_create_qp(pd, attr));
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    return REAL_CALL(real_library()->ibv_modify_qp(qp, attr, mask));
}

static int query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    return REAL_CALL(real_library()->ibv_query_qp(qp, attr, mask, init));
}

static int destroy_qp(struct ibv_qp *qp)
{
    return REAL_CALL(real_library()->ibv_destroy_qp(qp));
}

/* rxe's provider (rdma-core 44) gives errors of posting with a minus sign; ibv_post_send(3) has them positive. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return abs(qp->context->ops.post_send(qp, wr, bad));
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return abs(qp->context->ops.post_recv(qp, wr, bad));
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return abs(srq->context->ops.post_srq_recv(srq, wr, bad));
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    return REAL_CALL(real_library()->ibv_create_ah(pd, attr));
}

static int destroy_ah(struct ibv_ah *ah)
{
    return REAL_CALL(real_library()->ibv_destroy_ah(ah));
}

static int attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return REAL_CALL(real_library()->ibv_attach_mcast(qp, gid, lid));
}

static int detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    return REAL_CALL(real_library()->ibv_detach_mcast(qp, gid, lid));
}

const struct verbs_device real_device = {
    .kind = "real",
    .configure = configure,
    .get_device_list = real_get_device_list,
    .free_device_list = real_free_device_list,
    .open_device = open_device,
    .close_device = close_device,
    .query_device = query_device,
    .query_port = query_port,
    .query_gid = query_gid,
    .query_gid_entry = query_gid_entry,
    .query_pkey = query_pkey,
    .get_async_event = get_async_event,
    .ack_async_event = ack_async_event,
    .alloc_pd = alloc_pd,
    .dealloc_pd = dealloc_pd,
    .reg_mr = reg_mr,
    .dereg_mr = dereg_mr,
    .alloc_mw = alloc_mw,
    .dealloc_mw = dealloc_mw,
    .bind_mw = bind_mw,
    .create_comp_channel = real_create_comp_channel,
    .destroy_comp_channel = real_destroy_comp_channel,
    .create_cq = create_cq,
    .resize_cq = resize_cq,
    .destroy_cq = destroy_cq,
    .get_cq_event = get_cq_event,
    .ack_cq_events = ack_cq_events,
    .poll_cq = poll_cq,
    .req_notify_cq = req_notify_cq,
    .create_srq = create_srq,
    .modify_srq = modify_srq,
    .query_srq = query_srq,
    .destroy_srq = destroy_srq,
    .post_srq_recv = post_srq_recv,
    .create_qp = create_qp,
    .modify_qp = modify_qp,
    .query_qp = query_qp,
    .destroy_qp = destroy_qp,
    .post_send = post_send,
    .post_recv = post_recv,
    .create_ah = create_ah,
    .destroy_ah = destroy_ah,
    .attach_mcast = attach_mcast,
    .detach_mcast = detach_mcast,
    .owned_fds = real_owned_fds,
    .owned_ranges = real_owned_ranges,
    .forget = real_forget,
};
