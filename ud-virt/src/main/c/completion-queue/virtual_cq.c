/* Completion queues and their stash. */
#include "virtual.h"
#include "data-path/generic_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct v_cq *make_cq(struct v_context *context, int cqe, struct v_channel *channel, int vector)
{
    struct v_cq *cq = calloc(1, sizeof *cq);
    if (!cq)
        return NULL;
    cq->real = lower_device->create_cq(context->real, cqe, cq, channel ? channel->real : NULL, vector);
    if (!cq->real) {
        free(cq);
        return NULL;
    }
    cq->poll = context->has_windows ? generic_poll_noted : virtual_moved ? generic_poll_translated : generic_poll_plain;
    cq->vector = vector;
    cq->wanted = cqe;
    cq->cq.context = &context->verbs.context;
    cq->cq.cqe = cq->real->cqe;
    pthread_mutex_init(&cq->cq.mutex, NULL);
    pthread_cond_init(&cq->cq.cond, NULL);
    pthread_mutex_init(&cq->stash_mutex, NULL);
    return cq;
}

struct ibv_cq *virtual_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                 struct ibv_comp_channel *channel, int vector)
{
    if (!gate_enter())
        return NULL;
    struct v_cq *cq = make_cq(context_of(context), cqe, (struct v_channel *)channel, vector);
    if (cq) {
        cq->cq.channel = channel;
        cq->cq.cq_context = cq_context;
        pthread_mutex_lock(&virtual_mutex);
        if (channel)
            channel->refcnt++;
        list_append(&context_of(context)->cqs, &cq->link);
        pthread_mutex_unlock(&virtual_mutex);
    }
    gate_leave();
    return cq ? &cq->cq : NULL;
}

int virtual_resize_cq(struct ibv_cq *virtual, int cqe)
{
    struct v_cq *cq = (struct v_cq *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = cqe < (int)__atomic_load_n(&cq->stash_count, __ATOMIC_RELAXED) ? EINVAL
                : lower_device->resize_cq ? lower_device->resize_cq(cq->real, cqe + cq->reserved)
                                          : EOPNOTSUPP;
    if (!error) {
        cq->wanted = cqe;
        virtual->cqe = cq->real->cqe - cq->reserved;
    }
    gate_leave();
    return error;
}

int virtual_destroy_cq(struct ibv_cq *virtual)
{
    struct v_cq *cq = (struct v_cq *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = is_closed(virtual->context) ? 0 : lower_device->destroy_cq(cq->real);
    if (!error) {
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&cq->link);
        if (virtual->channel)
            virtual->channel->refcnt--;
        pthread_mutex_unlock(&virtual_mutex);
        virtual_withdraw_events(context_of(virtual->context), virtual);
    }
    gate_leave();
    if (error)
        return error;
    virtual_unstashed(cq->stash_count);
    virtual_wait_acknowledged(&virtual->mutex, &virtual->cond, &virtual->comp_events_completed, &cq->events_delivered);
    virtual_wait_acknowledged(&virtual->mutex, &virtual->cond, &virtual->async_events_completed, &cq->async_delivered);
    free(cq->stash);
    free(cq);
    return 0;
}

int virtual_req_notify_cq(struct ibv_cq *virtual, int solicited_only)
{
    struct v_cq *cq = (struct v_cq *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    /* perhaps no longer, and the event waits to be read */
    if (__atomic_load_n(&cq->armed, __ATOMIC_RELAXED) && virtual->channel)
        virtual_keep_cq_events((struct v_channel *)virtual->channel);
    if (!solicited_only || !__atomic_load_n(&cq->armed, __ATOMIC_RELAXED))
        __atomic_store_n(&cq->armed, solicited_only ? 1 : 2, __ATOMIC_RELAXED);
    int error = lower_device->req_notify_cq(cq->real, solicited_only);
    gate_leave();
    return error;
}

uint32_t virtual_stashed;

void virtual_unstashed(uint32_t count)
{
    if (count && !__atomic_sub_fetch(&virtual_stashed, count, __ATOMIC_ACQ_REL))
        gate_nothing_stashed();
}

/* Called with the gate closed only, so no poller looks. */
int virtual_stash(struct v_cq *cq, const struct ibv_wc *wc, int count)
{
    if (cq->stash_next && cq->stash_count)
        memmove(cq->stash, cq->stash + cq->stash_next, cq->stash_count * sizeof *wc);
    cq->stash_next = 0;
    if (cq->stash_count + count > cq->stash_capacity) {
        uint32_t capacity = 2 * (cq->stash_count + count);
        struct ibv_wc *bigger = realloc(cq->stash, capacity * sizeof *wc);
        if (!bigger)
            return ENOMEM;
        cq->stash = bigger;
        cq->stash_capacity = capacity;
    }
    memcpy(cq->stash + cq->stash_count, wc, count * sizeof *wc);
    cq->stash_count += count;
    __atomic_fetch_add(&virtual_stashed, count, __ATOMIC_RELAXED);
    return 0;
}

/* The queue pair is destroyed or reset: its completions go with it, as on the device. */
void virtual_unstash_qp(struct v_cq *cq, uint32_t qpn)
{
    pthread_mutex_lock(&cq->stash_mutex);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cq->stash_count; i++) {
        const struct ibv_wc *wc = &cq->stash[cq->stash_next + i];
        if (wc->qp_num != qpn)
            cq->stash[cq->stash_next + kept++] = *wc;
    }
    virtual_unstashed(cq->stash_count - kept);
    __atomic_store_n(&cq->stash_count, kept, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&cq->stash_mutex);
    if (!kept)
        virtual_stash_is_empty(cq);
}
