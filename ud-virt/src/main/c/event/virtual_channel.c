/* Completion channels. An event is either the device's or raised by us, because a checkpoint took the
 * completion for which the job sleeps. */
#include "virtual.h"
#include "agent-client/control.h"
#include "common/system_calls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static void close_descriptors(struct v_channel *channel)
{
    if (channel->channel.fd >= 0)
        close(channel->channel.fd);
    if (channel->raise_fd >= 0)
        close(channel->raise_fd);
}

static int open_descriptors(struct v_channel *channel)
{
    struct epoll_event event = {.events = EPOLLIN};
    channel->channel.fd = epoll_create1(EPOLL_CLOEXEC);
    channel->raise_fd = system_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (channel->channel.fd < 0 || channel->raise_fd < 0)
        return -1;
    if (epoll_ctl(channel->channel.fd, EPOLL_CTL_ADD, channel->raise_fd, &event))
        return -1;
    virtual_make_nonblocking(channel->real->fd);
    return virtual_watch(channel->channel.fd, channel->real->fd, &channel->watching);
}

static struct ibv_comp_channel *create(struct ibv_context *context)
{
    struct v_channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->real = lower_device->create_comp_channel(context_of(context)->real);
    if (!channel->real) {
        free(channel);
        return NULL;
    }
    channel->channel.context = context;
    if (open_descriptors(channel)) {
        int saved = errno;
        close_descriptors(channel);
        lower_device->destroy_comp_channel(channel->real);
        free(channel);
        errno = saved;
        return NULL;
    }
    pthread_mutex_lock(&virtual_mutex);
    list_append(&context_of(context)->channels, &channel->link);
    pthread_mutex_unlock(&virtual_mutex);
    return &channel->channel;
}

struct ibv_comp_channel *virtual_create_comp_channel(struct ibv_context *context)
{
    if (!gate_enter())
        return NULL;
    struct ibv_comp_channel *channel = create(context);
    gate_leave();
    return channel;
}

int virtual_destroy_comp_channel(struct ibv_comp_channel *virtual)
{
    struct v_channel *channel = (struct v_channel *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = virtual->refcnt ? EBUSY : 0;
    if (!error && !is_closed(virtual->context)) {
        virtual_unwatch(virtual->fd, channel->real->fd, &channel->watching);
        error = lower_device->destroy_comp_channel(channel->real);
    }
    if (!error) {
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&channel->link);
        pthread_mutex_unlock(&virtual_mutex);
        close_descriptors(channel);
        free(channel);
    }
    gate_leave();
    return error;
}

static void signal_raised(struct v_channel *channel)
{
    uint64_t one = 1;
    if (write(channel->raise_fd, &one, sizeof one) != sizeof one)
        control_log("completion channel %d: raise: %s", channel->channel.fd, strerror(errno));
}

void virtual_raise(struct v_cq *cq)
{
    __atomic_add_fetch(&cq->raised, 1, __ATOMIC_RELEASE);
    signal_raised((struct v_channel *)cq->cq.channel);
}

/* A checkpoint has taken completions from a queue that is armed, and the device has told of no event. Those that came
 * after the job had asked have one, and it may sleep for it. Those that were there before have none: the job polls once
 * more after it has asked (ibv_req_notify_cq(3)), and to perftest each event is a message. No device says which they
 * are, but the job shows it: what it polls first needs no event. */
void virtual_raise_for_stash(struct v_cq *cq)
{
    __atomic_store_n(&cq->told_of_stash, 1, __ATOMIC_RELEASE);
    signal_raised((struct v_channel *)cq->cq.channel);
}

/* What is there for this queue. An event for its stash is the one that the queue was armed for. */
static int is_raised(struct v_cq *cq)
{
    return __atomic_load_n(&cq->raised, __ATOMIC_ACQUIRE) || (__atomic_load_n(&cq->told_of_stash, __ATOMIC_ACQUIRE) &&
                                                              __atomic_load_n(&cq->stash_count, __ATOMIC_ACQUIRE));
}

static void take_one(struct v_cq *cq)
{
    if (__atomic_load_n(&cq->raised, __ATOMIC_ACQUIRE)) {
        __atomic_sub_fetch(&cq->raised, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_store_n(&cq->told_of_stash, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&cq->armed, 0, __ATOMIC_RELAXED);
    }
}

/* The eventfd is emptied first, and filled again while there are more. Takes one event when `taken` is not NULL. */
static void look_for_raised(struct v_channel *channel, struct v_cq **taken)
{
    uint64_t raised;
    if (read(channel->raise_fd, &raised, sizeof raised) != sizeof raised)
        return;
    pthread_mutex_lock(&virtual_mutex);
    FOR_EACH(struct v_cq, link, cq, &context_of(channel->channel.context)->cqs)
    {
        if (cq->cq.channel != &channel->channel || !is_raised(cq))
            continue;
        if (taken && !*taken)
            take_one(*taken = cq);
        if (is_raised(cq) && (!taken || *taken)) {
            signal_raised(channel);
            break;
        }
    }
    pthread_mutex_unlock(&virtual_mutex);
}

void virtual_stash_is_empty(struct v_cq *cq)
{
    if (__atomic_exchange_n(&cq->told_of_stash, 0, __ATOMIC_ACQ_REL))
        look_for_raised((struct v_channel *)cq->cq.channel, NULL);
}

static struct v_cq *take_event(struct v_channel *channel)
{
    struct ibv_cq *real;
    void *virtual;
    struct v_cq *cq = NULL;
    look_for_raised(channel, &cq);
    if (cq)
        return cq;
    if (lower_device->get_cq_event(channel->real, &real, &virtual))
        return NULL;
    lower_device->ack_cq_events(real, 1);
    /* not for one raised by us: the queue may be armed again since */
    __atomic_store_n(&((struct v_cq *)virtual)->armed, 0, __ATOMIC_RELAXED);
    return virtual;
}

unsigned virtual_keep_cq_events(struct v_channel *channel)
{
    struct ibv_cq *real;
    void *virtual;
    unsigned kept = 0;
    for (; !lower_device->get_cq_event(channel->real, &real, &virtual); kept++) {
        lower_device->ack_cq_events(real, 1);
        __atomic_store_n(&((struct v_cq *)virtual)->armed, 0, __ATOMIC_RELAXED);
        virtual_raise(virtual);
    }
    return kept;
}

int virtual_get_cq_event(struct ibv_comp_channel *virtual, struct ibv_cq **cq_out, void **cq_context)
{
    for (;;) {
        if (!gate_enter())
            return -1;
        struct v_cq *cq = take_event((struct v_channel *)virtual);
        int error = errno;
        if (cq) {
            __atomic_add_fetch(&cq->events_delivered, 1, __ATOMIC_RELAXED);
            *cq_out = &cq->cq;
            *cq_context = cq->cq.cq_context;
        }
        gate_leave();
        if (cq)
            return 0;
        errno = error;
        if (error != EAGAIN || virtual_wait(virtual->fd))
            return -1;
    }
}

void virtual_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += count;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}
