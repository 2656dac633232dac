#include "soft_qp.h"
#include "soft_channel.h"
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_fault.h"
#include "soft_objects.h"
#include "soft_rc.h"
#include "soft_receive.h"
#include "soft_rq.h"
#include "soft_socket.h"
#include "soft_srq.h"
#include "soft_tag.h"
#include "soft_trouble.h"
#include "soft_window.h"
#include "soft_xrc.h"
#include "device/qp_type.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* UCX 1.13 asks at each start, whatever transport was chosen, whether RC is there, by trying to make
 * the smallest queue pair: an answer without a remark is enough. */
static bool is_probe(const struct ibv_qp_cap *cap)
{
    return cap->max_send_wr == 1 && cap->max_recv_wr == 1 && cap->max_send_sge == 1 && cap->max_recv_sge == 1;
}

static int check(const struct ibv_qp_init_attr *init)
{
    static atomic_uint named; /* one line for each type */
    if (init->qp_type != IBV_QPT_UD && !qp_is_connected(init->qp_type)) {
        unsigned bit = 1u << ((unsigned)init->qp_type & 31);
        if (!is_probe(&init->cap) && !(atomic_fetch_or(&named, bit) & bit))
            fprintf(stderr,
                    "udckpt: ibv_create_qp is not supported for queue pairs of type %s: the soft fabric carries UD, "
                    "UC, RC and XRC\n",
                    qp_type_name(init->qp_type));
        return EOPNOTSUPP;
    }
    const struct ibv_qp_cap *cap = &init->cap;
    if (init->srq && (init->qp_type == IBV_QPT_XRC_SEND || init->qp_type == IBV_QPT_XRC_RECV))
        return EINVAL;
    if (!init->send_cq || !init->recv_cq || cap->max_send_wr > SOFT_MAX_WR || cap->max_send_sge > SOFT_MAX_SGE ||
        cap->max_inline_data > SOFT_MAX_INLINE ||
        (!init->srq && (cap->max_recv_wr > SOFT_MAX_WR || cap->max_recv_sge > SOFT_MAX_SGE)))
        return EINVAL;
    return 0;
}

static struct soft_qp *make(struct ibv_pd *pd, const struct ibv_qp_init_attr *init)
{
    struct soft_qp *qp = calloc(1, sizeof *qp);
    if (!qp)
        return NULL;
    qp->base.context = pd->context;
    qp->base.qp_context = init->qp_context;
    qp->base.pd = pd;
    qp->base.send_cq = init->send_cq;
    qp->base.recv_cq = init->recv_cq;
    qp->base.srq = init->srq;
    qp->base.state = IBV_QPS_RESET;
    qp->base.qp_type = init->qp_type;
    pthread_mutex_init(&qp->base.mutex, NULL);
    pthread_cond_init(&qp->base.cond, NULL);
    qp->send_cq = soft_cq_of(init->send_cq);
    qp->recv_cq = soft_cq_of(init->recv_cq);
    qp->srq = init->srq ? soft_srq_of(init->srq) : NULL;
    qp->rq = qp->srq ? &qp->srq->rq : &qp->own_rq;
    qp->signal_all = init->sq_sig_all;
    qp->cap = init->cap;
    /* An adapter's send queue entry has room for its scatter list, and takes as much inline data in its place, asked
     * for or not: rdma_xclient relies on it. */
    uint32_t list_bytes = init->cap.max_send_sge * (uint32_t)sizeof(struct ibv_sge);
    if (qp->cap.max_inline_data < list_bytes)
        qp->cap.max_inline_data = list_bytes;
    bool tagged = soft_context_of(pd->context)->config.tagged;
    qp->receive = qp_is_connected(init->qp_type) ? soft_rc_receive : tagged ? soft_receive_tagged : soft_receive;
    qp->receive_grouped = tagged ? soft_receive_grouped_tagged : soft_receive_grouped;
    qp->socket = qp->number_socket = qp->doorbell = -1;
    qp->lid = soft_context_of(pd->context)->config.lid;
    if (init->srq || init->qp_type == IBV_QPT_XRC_SEND || init->qp_type == IBV_QPT_XRC_RECV)
        qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
    if (init->qp_type == IBV_QPT_XRC_RECV)
        qp->cap.max_send_wr = qp->cap.max_send_sge = qp->cap.max_inline_data = 0;
    return qp;
}

/* A header with all that does not change between sends. */
void soft_fill_header(struct soft_qp *qp)
{
    const struct soft_context *context = soft_context_of(qp->base.context);
    qp->header = (struct soft_wire){
        .magic = soft_port_is_down(context, qp->lid - context->config.lid + 1u)
                     ? 0
                     : htonl(soft_wire_magic(&context->config)),
        .source_qpn = htonl(qp->base.qp_num),
        .source_lid = htons(qp->lid),
        .pkey = htons(SOFT_PKEY),
    };
}

/* A poll of either completion queue takes packets of a connection: answers to its sends come to the same socket. */
static int attach(struct soft_qp *qp)
{
    if (qp->rc && qp->rc->service == SOFT_XRC_TARGET)
        return soft_xrc_add_target(qp);
    int error = soft_cq_attach(qp->recv_cq, qp);
    if (error || !qp->rc || qp->send_cq == qp->recv_cq)
        return error;
    error = soft_cq_attach(qp->send_cq, qp);
    if (error)
        soft_cq_detach(qp->recv_cq, qp);
    return error;
}

static void detach(struct soft_qp *qp)
{
    if (qp->rc && qp->rc->service == SOFT_XRC_TARGET)
        soft_xrc_remove_target(qp);
    else
        soft_cq_detach(qp->recv_cq, qp);
    if (qp->rc && qp->send_cq != qp->recv_cq)
        soft_cq_detach(qp->send_cq, qp);
    if (qp->rc) {
        soft_rc_engine_remove(qp->rc);
        soft_rc_order_remove(qp->rc);
    }
}

struct ibv_qp *soft_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct soft_context *context = soft_context_of(pd->context);
    int error = atomic_load(&context->gone) ? EIO : check(init);
    struct soft_qp *qp = error ? NULL : make(pd, init);
    if (!qp) {
        errno = error ? error : ENOMEM;
        return NULL;
    }
    error = soft_rq_init(&qp->own_rq, pd, qp->cap.max_recv_wr, qp->cap.max_recv_sge);
    if (!error)
        error = soft_socket_open(qp);
    soft_tag_begin(qp);
    if (!error)
        error = soft_fault_init(qp);
    if (!error && qp_is_connected(init->qp_type))
        error = soft_rc_create(qp);
    qp->number = qp->base.qp_num; /* before the CQ knows the QP: another thread may be polling it */
    if (!error && init->recv_cq->channel && !qp->rc)
        error = soft_channel_watch(soft_channel_of(init->recv_cq->channel), qp);
    if (!error)
        error = attach(qp);
    if (error) {
        if (qp->rc)
            soft_rc_engine_remove(qp->rc);
        if (qp->socket >= 0)
            soft_socket_close(qp);
        soft_fault_free(qp->faults);
        soft_rq_free(&qp->own_rq);
        soft_rc_free(qp);
        free(qp);
        errno = error;
        return NULL;
    }
    soft_fill_header(qp);
    if (qp->rc)
        soft_rc_order_add(qp->rc);
    if (qp->srq)
        soft_srq_attach(qp->srq, qp);
    atomic_fetch_add(&qp->send_cq->users, 1);
    atomic_fetch_add(&qp->recv_cq->users, 1);
    atomic_fetch_add(&soft_pd_of(pd)->users, 1);
    init->cap = qp->cap;
    soft_add(context, &qp->object, SOFT_QP);
    return &qp->base;
}

int soft_query_qp(struct ibv_qp *base, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
    struct soft_qp *qp = soft_qp_of(base);
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = soft_state(base);
    if (!qp->rc)
        attr->path_mtu = IBV_MTU_4096;
    attr->cap = qp->cap;
    *init = (struct ibv_qp_init_attr){
        .qp_context = base->qp_context,
        .send_cq = base->send_cq,
        .recv_cq = base->recv_cq,
        .srq = base->srq,
        .cap = qp->cap,
        .qp_type = base->qp_type,
        .sq_sig_all = qp->signal_all,
    };
    return 0;
}

int soft_destroy_qp(struct ibv_qp *base)
{
    struct soft_qp *qp = soft_qp_of(base);
    struct soft_context *context = soft_context_of(base->context);
    if (SOFT_LOAD(qp->groups))
        return EBUSY; /* ibv_destroy_qp(3): while it is attached to a multicast group */
    detach(qp);
    if (qp->srq)
        soft_srq_detach(qp->srq, qp);
    soft_window_unbind_all(qp);
    soft_fault_release(qp);
    soft_remove(context, &qp->object);
    soft_socket_close(qp);
    soft_cq_clean(qp->recv_cq, qp->number);
    soft_cq_clean(qp->send_cq, qp->number);
    soft_event_withdraw(context, base);
    pthread_mutex_lock(&base->mutex);
    while (base->events_completed != qp->events_delivered)
        pthread_cond_wait(&base->cond, &base->mutex);
    pthread_mutex_unlock(&base->mutex);
    atomic_fetch_sub(&qp->send_cq->users, 1);
    atomic_fetch_sub(&qp->recv_cq->users, 1);
    atomic_fetch_sub(&soft_pd_of(base->pd)->users, 1);
    soft_fault_free(qp->faults);
    soft_tag_free(qp);
    soft_rq_free(&qp->own_rq);
    soft_rc_free(qp);
    free(qp);
    return 0;
}
