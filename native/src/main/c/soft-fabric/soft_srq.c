#include "soft_srq.h"
#include "soft_event.h"
#include "soft_objects.h"
#include "soft_receive.h"
#include "soft_rq.h"
#include "soft_xrc.h"
#include <errno.h>
#include <stdlib.h>

struct ibv_srq *soft_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    if (!init->attr.max_wr || init->attr.max_wr > SOFT_MAX_WR || init->attr.max_sge > SOFT_MAX_SGE) {
        errno = EINVAL;
        return NULL;
    }
    struct soft_srq *srq = calloc(1, sizeof *srq);
    if (!srq || soft_rq_init(&srq->rq, pd, init->attr.max_wr, init->attr.max_sge)) {
        free(srq);
        errno = ENOMEM;
        return NULL;
    }
    srq->base.context = pd->context;
    srq->base.srq_context = init->srq_context;
    srq->base.pd = pd;
    pthread_mutex_init(&srq->base.mutex, NULL);
    pthread_cond_init(&srq->base.cond, NULL);
    atomic_fetch_add(&soft_pd_of(pd)->users, 1);
    soft_add(soft_context_of(pd->context), &srq->object, SOFT_SRQ);
    return &srq->base;
}

int soft_modify_srq(struct ibv_srq *base, struct ibv_srq_attr *attr, int mask)
{
    struct soft_srq *srq = soft_srq_of(base);
    if (mask & ~IBV_SRQ_LIMIT) /* resizing is not among the device's capabilities */
        return EINVAL;
    if (mask & IBV_SRQ_LIMIT) {
        if (attr->srq_limit > srq->rq.size)
            return EINVAL;
        soft_lock(&srq->rq.lock);
        srq->limit = attr->srq_limit;
        soft_unlock(&srq->rq.lock);
    }
    return 0;
}

int soft_query_srq(struct ibv_srq *base, struct ibv_srq_attr *attr)
{
    struct soft_srq *srq = soft_srq_of(base);
    *attr = (struct ibv_srq_attr){.max_wr = srq->rq.size, .max_sge = srq->rq.max_sge, .srq_limit = srq->limit};
    return 0;
}

int soft_destroy_srq(struct ibv_srq *base)
{
    struct soft_srq *srq = soft_srq_of(base);
    if (srq->members)
        return EBUSY;
    if (srq->domain)
        soft_xrc_remove(srq);
    soft_event_withdraw(soft_context_of(base->context), base);
    pthread_mutex_lock(&base->mutex);
    while (base->events_completed != srq->events_delivered)
        pthread_cond_wait(&base->cond, &base->mutex);
    pthread_mutex_unlock(&base->mutex);
    atomic_fetch_sub(&soft_pd_of(base->pd)->users, 1);
    soft_remove(soft_context_of(base->context), &srq->object);
    soft_rq_free(&srq->rq);
    free(srq);
    return 0;
}

int soft_post_srq_recv(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct soft_srq *srq = soft_srq_of(base);
    soft_lock(&srq->rq.lock);
    if (soft_rq_empty(&srq->rq)) /* see soft_post_recv */
        for (struct soft_qp *qp = srq->members; qp; qp = qp->srq_next)
            if (atomic_load_explicit(&qp->receives, memory_order_relaxed))
                soft_discard(qp);
    int status = soft_rq_post(&srq->rq, wr, bad);
    soft_unlock(&srq->rq.lock);
    return status;
}

void soft_srq_attach(struct soft_srq *srq, struct soft_qp *qp)
{
    soft_lock(&srq->rq.lock);
    qp->srq_next = srq->members;
    srq->members = qp;
    soft_unlock(&srq->rq.lock);
}

void soft_srq_detach(struct soft_srq *srq, struct soft_qp *qp)
{
    soft_lock(&srq->rq.lock);
    for (struct soft_qp **at = &srq->members; *at; at = &(*at)->srq_next)
        if (*at == qp) {
            *at = qp->srq_next;
            break;
        }
    soft_unlock(&srq->rq.lock);
}
