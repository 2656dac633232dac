/* Around a snapshot: completions move into memory that the image holds, descriptors of the device leave
 * the job's epoll sets. All with the gate closed. */
#include "virtual.h"
#include "virtual_checkpoint.h"
#include "agent-client/control.h"
#include "queue-pair/transport.h"
#include <errno.h>
#include <time.h>

enum { BATCH = 64 };

static int drain_cq(struct v_cq *cq, unsigned *moved)
{
    struct ibv_wc wc[BATCH];
    int got;
    while ((got = virtual_poll_real(cq, BATCH, wc)) > 0) {
        if (virtual_stash(cq, wc, got))
            return ENOMEM;
        cq->drained += got;
        *moved += got;
    }
    cq->failed |= got < 0; /* it has overflowed: the next incarnation's does not work either */
    return 0;
}

/* What an overflow has swallowed never comes. */
static int sends_pending(const struct v_context *context)
{
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    for (uint32_t i = 0; qp->sends && !((struct v_cq *)qp->qp.send_cq)->failed && i <= qp->send_mask; i++)
        if (send_work(qp, i)->state == WORK_SEND)
            return 1;
    return 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Asking for events can take datagrams in, and taking completions can raise events: until neither does. */
static int drain_cqs(struct v_context *context, unsigned *moved)
{
    unsigned events;
    do {
        events = 0;
        FOR_EACH(struct v_cq, link, cq, &context->cqs)
        if (drain_cq(cq, moved))
            return ENOMEM;
        FOR_EACH(struct v_channel, link, channel, &context->channels)
        events += virtual_keep_cq_events(channel);
    } while (events);
    return virtual_keep_events(context);
}

static int drain_context(struct v_context *context, int64_t deadline, unsigned *moved)
{
    struct timespec pause = {0, 20000};
    for (;;) {
        int pending = sends_pending(context);
        int error = drain_cqs(context, moved);
        if (error || !pending)
            return error;
        if (now_ms() > deadline)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
}

/* A device puts a queue pair into an error state by itself: the state to rebuild is the device's. */
static int learn_states(struct v_context *context)
{
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr init;
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    {
        if (context->gone) { /* nobody answers any more */
            qp->qp.state = IBV_QPS_ERR;
            continue;
        }
        int error = lower_device->query_qp(qp->real, &attributes, IBV_QP_STATE, &init);
        if (error)
            return error;
        qp->qp.state = attributes.qp_state;
    }
    return 0;
}

int virtual_take_completions(unsigned *moved)
{
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    if (drain_cqs(context, moved))
        return ENOMEM;
    return 0;
}

int virtual_drain(int timeout_ms, unsigned *moved)
{
    int64_t deadline = now_ms() + timeout_ms;
    unsigned waiting;
    /* in no time, when the agent has asked for it before */
    int unsettled = virtual_connections()->settle(timeout_ms, &waiting);
    if (unsettled)
        return unsettled;
    virtual_connections()->park();
    virtual_free_retired_routes();
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    {
        int error = drain_context(context, deadline, moved);
        if (!error)
            error = learn_states(context);
        if (!error)
            error = virtual_learn_limits(context);
        if (error)
            return error;
        virtual_unwatch(context->verbs.context.async_fd, context->real->async_fd, &context->watching);
        FOR_EACH(struct v_channel, link, channel, &context->channels)
        virtual_unwatch(channel->channel.fd, channel->real->fd, &channel->watching);
    }
    return 0;
}

int virtual_resume(void)
{
    virtual_connections()->resume();
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    {
        virtual_watch(context->verbs.context.async_fd, context->real->async_fd, &context->watching);
        FOR_EACH(struct v_channel, link, channel, &context->channels)
        virtual_watch(channel->channel.fd, channel->real->fd, &channel->watching);
        /* A device may tell of an event later than its completion can be polled. */
        FOR_EACH(struct v_cq, link, cq, &context->cqs)
        {
            if (cq->armed == 2 && cq->drained && cq->cq.channel)
                virtual_raise_for_stash(cq);
            cq->drained = 0;
        }
    }
    virtual_connections()->replay();
    return __atomic_load_n(&virtual_stashed, __ATOMIC_RELAXED) > 0;
}
