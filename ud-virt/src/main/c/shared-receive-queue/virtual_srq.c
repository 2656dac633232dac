/* Shared receive queues. Their outstanding receives are recorded, or asked of the device on the fused path, as a queue
 * pair's are. */
#include "virtual.h"
#include "data-path/fused_path.h"
#include <errno.h>
#include <stdlib.h>

/* The device's queue of this incarnation; NULL with errno. An XRC one is called by its number for ever, as peers do. */
static struct ibv_srq *make_real(const struct v_srq *srq, const struct v_pd *pd, struct ibv_srq_init_attr *wanted)
{
    if (!srq->domain)
        return lower_device->create_srq(pd->real, wanted);
    if (lower_device->create_xrc_srq)
        return lower_device->create_xrc_srq(pd->real, wanted, srq->domain->real, srq->cq->real, srq->number);
    errno = EOPNOTSUPP;
    return NULL;
}

static int is_taken(const struct v_context *context, uint32_t number)
{
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    if (srq->number == number)
        return 1;
    return 0;
}

/* Peers may still name one that is gone, also when incarnations lie between: so the count goes on over restarts. */
static uint32_t next_number(struct v_context *context)
{
    pthread_mutex_lock(&virtual_mutex);
    do
        context->last_queue_number = (context->last_queue_number + 1) & 0xffffff;
    while (!context->last_queue_number || is_taken(context, context->last_queue_number));
    uint32_t number = context->last_queue_number;
    pthread_mutex_unlock(&virtual_mutex);
    return number;
}

static int fill(struct v_srq *srq, struct v_pd *pd, struct ibv_srq_init_attr *wanted)
{
    struct ibv_srq_init_attr real = *wanted;
    real.srq_context = srq;
    if (srq->domain)
        srq->number = next_number(context_of(pd->pd.context));
    srq->real = make_real(srq, pd, &real);
    if (!srq->real)
        return errno;
    wanted->attr = real.attr;
    srq->wanted = *wanted;
    srq->srq.context = pd->pd.context;
    srq->srq.srq_context = wanted->srq_context;
    srq->srq.pd = &pd->pd;
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    if (virtual_fused_path())
        return 0;
    if (!virtual_make_receives(&srq->receives, real.attr.max_wr, real.attr.max_sge)) {
        virtual_name_receives(&srq->receives, NUMBER_OF_SHARED);
        return 0;
    }
    lower_device->destroy_srq(srq->real);
    return ENOMEM;
}

static struct v_srq *create(struct ibv_pd *pd, struct ibv_srq_init_attr *wanted, struct ibv_pd *domain,
                            struct ibv_cq *cq)
{
    struct v_srq *srq = calloc(1, sizeof *srq);
    if (srq) {
        srq->domain = (struct v_pd *)domain;
        srq->cq = (struct v_cq *)cq;
    }
    int error = srq ? fill(srq, (struct v_pd *)pd, wanted) : ENOMEM;
    if (error) {
        free(srq);
        errno = error;
        return NULL;
    }
    pd_used(pd, 1);
    if (domain)
        pd_used(domain, 1);
    pthread_mutex_lock(&virtual_mutex);
    list_append(&context_of(pd->context)->srqs, &srq->link);
    pthread_mutex_unlock(&virtual_mutex);
    return srq;
}

struct ibv_srq *virtual_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *wanted)
{
    if (!lower_device->create_srq) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    if (!gate_enter())
        return NULL;
    struct v_srq *srq = create(pd, wanted, NULL, NULL);
    gate_leave();
    return srq ? &srq->srq : NULL;
}

struct ibv_srq *virtual_create_xrc_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *wanted, struct ibv_pd *domain,
                                       struct ibv_cq *cq, uint32_t number)
{
    if (number) {
        errno = EINVAL;
        return NULL;
    }
    if (!gate_enter())
        return NULL;
    struct v_srq *srq = create(pd, wanted, domain, cq);
    gate_leave();
    return srq ? &srq->srq : NULL;
}

int virtual_srq_number(struct ibv_srq *virtual, uint32_t *number)
{
    const struct v_srq *srq = (const struct v_srq *)virtual;
    *number = srq->number;
    return srq->domain ? 0 : EINVAL;
}

/* The capability to be resized is not told, so nobody may ask for it (ibv_modify_srq(3)). */
int virtual_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attributes, int mask)
{
    if (mask & ~IBV_SRQ_LIMIT)
        return EINVAL;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = lower_device->modify_srq(((struct v_srq *)srq)->real, attributes, mask);
    gate_leave();
    return error;
}

int virtual_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attributes)
{
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = lower_device->query_srq(((struct v_srq *)srq)->real, attributes);
    if (!error) {
        attributes->max_wr = ((struct v_srq *)srq)->wanted.attr.max_wr;
        attributes->max_sge = ((struct v_srq *)srq)->wanted.attr.max_sge;
    }
    gate_leave();
    return error;
}

int virtual_destroy_srq(struct ibv_srq *virtual)
{
    struct v_srq *srq = (struct v_srq *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = is_closed(virtual->context) ? 0 : lower_device->destroy_srq(srq->real);
    if (!error) {
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&srq->link);
        pthread_mutex_unlock(&virtual_mutex);
        virtual_withdraw_events(context_of(virtual->context), virtual);
        pd_used(virtual->pd, -1);
        if (srq->domain)
            pd_used(&srq->domain->pd, -1);
    }
    gate_leave();
    if (error)
        return error;
    virtual_wait_acknowledged(&virtual->mutex, &virtual->cond, &virtual->events_completed, &srq->async_delivered);
    if (virtual_nobody_reads_records()) {
        free(srq->receives.works);
        free(srq);
    }
    return 0;
}

/* Whether the low-water mark is still armed is the device's to know. Returns 0 or an errno. */
int virtual_learn_limits(struct v_context *context)
{
    FOR_EACH(struct v_srq, link, srq, &context->srqs)
    {
        struct ibv_srq_attr now;
        int error = lower_device->query_srq(srq->real, &now);
        if (error)
            return error;
        srq->limit = now.srq_limit;
    }
    return 0;
}

int virtual_rebuild_srq(struct v_srq *srq)
{
    struct ibv_srq_init_attr wanted = srq->wanted;
    wanted.srq_context = srq;
    wanted.attr.srq_limit = 0;
    srq->real = make_real(srq, (struct v_pd *)srq->srq.pd, &wanted);
    return srq->real ? 0 : -1;
}

int virtual_refill_srq(struct v_srq *srq)
{
    struct ibv_srq_attr limit = {.srq_limit = srq->limit};
    struct receiver to = {.srq = srq->real, .ring = &srq->receives};
    if (virtual_fused_path() ? virtual_repost_kept(&srq->kept, &to) : virtual_repost_receives(&to))
        return -1;
    errno = srq->limit ? lower_device->modify_srq(srq->real, &limit, IBV_SRQ_LIMIT) : 0;
    return errno ? -1 : 0;
}
