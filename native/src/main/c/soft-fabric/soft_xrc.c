#include "soft_cq.h"
#include "soft_srq.h"
#include "soft_xrc.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* With xrc_lock held. */
static struct soft_srq *find(const struct soft_context *context, uint32_t number)
{
    struct soft_srq *srq = context->xrc_queues;
    while (srq && srq->number != number)
        srq = srq->next;
    return srq;
}

/* One of the target's domain. */
static struct soft_srq *find_for(const struct soft_rc *rc, uint32_t number)
{
    struct soft_srq *srq = find(soft_context_of(rc->qp->base.context), number);
    return srq && srq->domain == rc->qp->base.pd ? srq : NULL;
}

/* With xrc_lock held; 0: it is taken. */
static uint32_t choose_number(struct soft_context *context, uint32_t wanted)
{
    if (wanted)
        return find(context, wanted) ? 0 : wanted;
    do
        context->last_queue_number = (context->last_queue_number + 1) & 0xffffff;
    while (!context->last_queue_number || find(context, context->last_queue_number));
    return context->last_queue_number;
}

/* A poll of a shared queue's completion queue takes the packets of all targets of the domain: each target is attached
 * to each such completion queue. These two detach and attach all targets before *end; xrc_members is held. */
static void detach_targets(const struct soft_srq *srq, const struct soft_qp *end)
{
    for (struct soft_qp *qp = soft_context_of(srq->base.context)->xrc_targets; qp != end; qp = qp->target_next)
        if (qp->base.pd == srq->domain)
            soft_cq_detach(srq->cq, qp);
}

static int attach_targets(const struct soft_srq *srq)
{
    for (struct soft_qp *qp = soft_context_of(srq->base.context)->xrc_targets; qp; qp = qp->target_next)
        if (qp->base.pd == srq->domain && soft_cq_attach(srq->cq, qp)) {
            detach_targets(srq, qp);
            return ENOMEM;
        }
    return 0;
}

static void detach_from_queues(struct soft_qp *qp, const struct soft_srq *end)
{
    for (const struct soft_srq *srq = soft_context_of(qp->base.context)->xrc_queues; srq != end; srq = srq->next)
        if (srq->domain == qp->base.pd)
            soft_cq_detach(srq->cq, qp);
}

static int attach_to_queues(struct soft_qp *qp)
{
    for (const struct soft_srq *srq = soft_context_of(qp->base.context)->xrc_queues; srq; srq = srq->next)
        if (srq->domain == qp->base.pd && soft_cq_attach(srq->cq, qp)) {
            detach_from_queues(qp, srq);
            return ENOMEM;
        }
    return 0;
}

int soft_xrc_add_target(struct soft_qp *qp)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    soft_lock(&context->xrc_members);
    int error = attach_to_queues(qp);
    if (!error) {
        qp->target_next = context->xrc_targets;
        context->xrc_targets = qp;
    }
    soft_unlock(&context->xrc_members);
    return error;
}

void soft_xrc_remove_target(struct soft_qp *qp)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    soft_lock(&context->xrc_members);
    struct soft_qp **link = &context->xrc_targets;
    while (*link != qp)
        link = &(*link)->target_next;
    *link = qp->target_next;
    detach_from_queues(qp, NULL);
    soft_unlock(&context->xrc_members);
}

bool soft_xrc_is_armed(const struct soft_qp *target)
{
    struct soft_context *context = soft_context_of(target->base.context);
    bool armed = false;
    soft_lock(&context->xrc_lock);
    for (const struct soft_srq *srq = context->xrc_queues; srq; srq = srq->next)
        armed |= srq->domain == target->base.pd && atomic_load(&srq->cq->armed) != SOFT_UNARMED;
    soft_unlock(&context->xrc_lock);
    return armed;
}

/* With xrc_members held. Returns 0 or an errno. */
static int link_in(struct soft_context *context, struct soft_srq *srq, uint32_t wanted)
{
    soft_lock(&context->xrc_lock);
    srq->number = choose_number(context, wanted);
    if (srq->number) {
        srq->next = context->xrc_queues;
        context->xrc_queues = srq;
    }
    soft_unlock(&context->xrc_lock);
    return srq->number ? 0 : EADDRINUSE;
}

static int add(struct soft_srq *srq, struct ibv_pd *domain, struct soft_cq *cq, uint32_t wanted)
{
    struct soft_context *context = soft_context_of(domain->context);
    srq->domain = domain;
    srq->cq = cq;
    soft_lock(&context->xrc_members);
    int error = attach_targets(srq);
    if (!error && (error = link_in(context, srq, wanted)))
        detach_targets(srq, NULL);
    soft_unlock(&context->xrc_members);
    if (error) {
        srq->domain = NULL;
        return error;
    }
    atomic_fetch_add(&cq->users, 1);
    atomic_fetch_add(&soft_pd_of(domain)->users, 1);
    return 0;
}

struct ibv_srq *soft_create_xrc_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init, struct ibv_pd *domain,
                                    struct ibv_cq *cq, uint32_t number)
{
    struct ibv_srq *srq = soft_create_srq(pd, init);
    int error = srq ? add(soft_srq_of(srq), domain, soft_cq_of(cq), number) : 0;
    if (error) {
        soft_destroy_srq(srq);
        errno = error;
        return NULL;
    }
    return srq;
}

int soft_srq_number(struct ibv_srq *srq, uint32_t *number)
{
    *number = soft_srq_of(srq)->number;
    return soft_srq_of(srq)->domain ? 0 : EINVAL;
}

void soft_xrc_remove(struct soft_srq *srq)
{
    struct soft_context *context = soft_context_of(srq->base.context);
    soft_lock(&context->xrc_members);
    soft_lock(&context->xrc_lock);
    struct soft_srq **link = &context->xrc_queues;
    while (*link != srq)
        link = &(*link)->next;
    *link = srq->next;
    soft_unlock(&context->xrc_lock);
    detach_targets(srq, NULL);
    soft_unlock(&context->xrc_members);
    soft_rc_engine_pass(); /* it may have completions to tell to the queue's CQ */
    atomic_fetch_sub(&srq->cq->users, 1);
    atomic_fetch_sub(&soft_pd_of(srq->domain)->users, 1);
}

int soft_xrc_take_number(struct soft_rc *rc, const struct ibv_send_wr *wr)
{
    if (rc->tail - rc->head >= rc->qp->cap.max_send_wr)
        return ENOMEM;
    rc->srq_numbers[rc->tail & rc->mask] = wr->qp_type.xrc.remote_srqn;
    return 0;
}

void soft_xrc_extend(const struct soft_rc *rc, __be32 *number, const struct iovec *iov, unsigned count,
                     struct iovec *extended)
{
    *number = htonl(soft_xrc_number(rc, rc->cursor));
    extended[0] = iov[0];
    extended[1] = (struct iovec){number, sizeof *number};
    memcpy(&extended[2], &iov[1], (count - 1) * sizeof *iov);
}

/* With xrc_lock held. filled: the queue whose receive is flushed, should this packet end the connection. */
static void requested_of(struct soft_rc *rc, struct soft_srq *srq, const struct soft_srq *filled,
                         const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    rc->rq = &srq->rq;
    rc->srq = srq;
    rc->recv_cq = filled->cq;
    rc->pd = srq->base.pd;
    rc->srq_number = filled->number;
    soft_rc_requested(rc, header, payload, length);
    rc->rq = rc->qp->rq;
    rc->srq = NULL;
    rc->recv_cq = rc->qp->recv_cq;
    rc->pd = rc->qp->base.pd;
}

/* All packets of a message name one queue. Amid it another may be named by what was taken before and comes again. With
 * xrc_lock held; returns whether the packet is dealt with. */
__attribute__((noinline)) static bool requested_amid(struct soft_rc *rc, struct soft_srq *srq,
                                                     const struct soft_rc_wire *header, const char *payload,
                                                     uint32_t length)
{
    const struct soft_srq *filled = find_for(rc, rc->srq_number);
    if (soft_rc_psn(rc->expected, ntohl(header->psn)) == rc->expected)
        return false;
    rc->has_receive = filled;
    requested_of(rc, srq, filled ? filled : srq, header, payload, length);
    return true;
}

static void say_unknown(uint32_t number)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr,
                "udckpt: an XRC request names shared receive queue %u, which the target's domain does not have in "
                "this process\n",
                number);
}

void soft_xrc_requested(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    __be32 number;
    if (length < sizeof number)
        return; /* nothing that an initiator sends */
    memcpy(&number, payload, sizeof number);
    payload += sizeof number;
    length -= (uint32_t)sizeof number;
    soft_lock(&context->xrc_lock);
    struct soft_srq *srq = find_for(rc, ntohl(number));
    bool taken = srq;
    if (likely(srq && (!rc->has_receive || rc->srq_number == srq->number)))
        requested_of(rc, srq, srq, header, payload, length);
    else if (srq)
        taken = requested_amid(rc, srq, header, payload, length);
    soft_unlock(&context->xrc_lock);
    if (taken)
        return;
    if (!srq)
        say_unknown(ntohl(number));
    soft_rc_requested_of_nobody(rc, header); /* without the lock, which it needs to flush a receive */
}

bool soft_xrc_fills(const struct soft_rc *rc, const struct soft_srq *srq)
{
    return rc->service == SOFT_XRC_TARGET && rc->qp->base.pd == srq->domain && rc->srq_number == srq->number;
}

void soft_xrc_flush(struct soft_rc *rc, const struct ibv_wc *wc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    soft_lock(&context->xrc_lock);
    struct soft_srq *srq = find_for(rc, rc->srq_number);
    if (srq)
        soft_rc_push(rc, srq->cq, wc, true);
    soft_unlock(&context->xrc_lock);
}
