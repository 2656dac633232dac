#include "soft_channel.h"
#include "soft_cq.h"
#include "soft_fault.h"
#include "soft_multicast.h"
#include "soft_objects.h"
#include "common/system_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct ibv_comp_channel *soft_create_comp_channel(struct ibv_context *context)
{
    struct soft_channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->base.context = context;
    channel->base.fd = epoll_create1(EPOLL_CLOEXEC);
    channel->event_fd = system_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    channel->last = &channel->first;
    struct epoll_event raised = {.events = EPOLLIN, .data.ptr = NULL};
    if (channel->base.fd < 0 || channel->event_fd < 0 ||
        epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, channel->event_fd, &raised)) {
        int error = errno;
        close(channel->base.fd);
        close(channel->event_fd);
        free(channel);
        errno = error;
        return NULL;
    }
    soft_add(soft_context_of(context), &channel->object, SOFT_CHANNEL);
    return &channel->base;
}

int soft_destroy_comp_channel(struct ibv_comp_channel *base)
{
    struct soft_channel *channel = soft_channel_of(base);
    if (base->refcnt)
        return EBUSY;
    soft_remove(soft_context_of(base->context), &channel->object);
    close(base->fd);
    close(channel->event_fd);
    free(channel);
    return 0;
}

void soft_channel_join(struct soft_channel *channel, struct soft_cq *cq)
{
    soft_lock(&channel->lock);
    channel->base.refcnt++;
    cq->member_next = channel->members;
    channel->members = cq;
    soft_unlock(&channel->lock);
}

/* The descriptors are ours: they fail only when the program closed what it did not open. */
static void complain(const char *what)
{
    fprintf(stderr,
            "udckpt: soft0: completion channel: %s: %s: a waiting thread may not wake up; does the program close "
            "descriptors that it did not open?\n",
            what, strerror(errno));
}

static void signal_fd(struct soft_channel *channel)
{
    uint64_t one = 1;
    if (write(channel->event_fd, &one, sizeof one) < 0 && errno != EAGAIN) /* EAGAIN: it is readable already */
        complain("write");
}

static void clear_fd(struct soft_channel *channel)
{
    uint64_t value;
    if (read(channel->event_fd, &value, sizeof value) < 0 && errno != EAGAIN)
        complain("read");
}

/* Also withdraws the CQ's undelivered events, as the kernel does when a CQ is destroyed. */
void soft_channel_leave(struct soft_channel *channel, struct soft_cq *cq)
{
    soft_lock(&channel->lock);
    for (struct soft_cq **at = &channel->members; *at; at = &(*at)->member_next)
        if (*at == cq) {
            *at = cq->member_next;
            break;
        }
    channel->last = &channel->first;
    while (*channel->last) {
        if (*channel->last == cq)
            *channel->last = cq->event_next;
        else
            channel->last = &(*channel->last)->event_next;
    }
    if (cq->events_pending && !channel->first)
        clear_fd(channel);
    channel->base.refcnt--;
    soft_unlock(&channel->lock);
    while (atomic_load(&cq->visitors)) /* a thread in soft_get_cq_event still looks at it */
        sched_yield();
}

int soft_channel_watch(struct soft_channel *channel, struct soft_qp *qp)
{
    struct epoll_event off = {.events = EPOLLONESHOT, .data.ptr = qp->recv_cq};
    if (epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, qp->socket, &off))
        return errno;
    if (qp->doorbell >= 0 && epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, qp->doorbell, &off))
        return errno;
    return 0;
}

int soft_channel_watch_group(struct soft_channel *channel, struct soft_group *group)
{
    struct epoll_event off = {.events = EPOLLONESHOT, .data.ptr = group->qp->recv_cq};
    return epoll_ctl(channel->base.fd, EPOLL_CTL_ADD, group->socket, &off) ? errno : 0;
}

void soft_channel_raise(struct soft_cq *cq)
{
    struct soft_channel *channel = soft_channel_of(cq->base.channel);
    soft_lock(&channel->lock);
    if (!cq->events_pending++) {
        if (!channel->first)
            signal_fd(channel);
        cq->event_next = NULL;
        *channel->last = cq;
        channel->last = &cq->event_next;
    }
    soft_unlock(&channel->lock);
}

/* The next raised event's CQ, or NULL. */
static struct soft_cq *take_event(struct soft_channel *channel)
{
    soft_lock(&channel->lock);
    struct soft_cq *cq = channel->first;
    if (cq) {
        channel->first = cq->event_next;
        if (!channel->first)
            channel->last = &channel->first;
        if (--cq->events_pending) { /* more of the same: to the end of the line */
            cq->event_next = NULL;
            *channel->last = cq;
            channel->last = &cq->event_next;
        } else if (!channel->first) {
            clear_fd(channel);
        }
        pthread_mutex_lock(&cq->base.mutex);
        cq->events_delivered++;
        pthread_mutex_unlock(&cq->base.mutex);
    }
    soft_unlock(&channel->lock);
    return cq;
}

static void watch(struct soft_cq *cq, int fd)
{
    struct epoll_event on = {.events = EPOLLIN | EPOLLONESHOT, .data.ptr = cq};
    if (epoll_ctl(cq->base.channel->fd, EPOLL_CTL_MOD, fd, &on))
        complain("epoll_ctl");
}

/* Groups have no doorbell: also who waits for solicited datagrams looks at each. */
static void arm_groups(struct soft_cq *cq, struct soft_qp *qp)
{
    for (struct soft_group *group = qp->groups; group; group = group->next) {
        if (!group->armed)
            watch(cq, group->socket);
        group->armed = true;
    }
}

/* Lets the sockets wake the channel, as far as they do not yet. receive_lock is held. */
static void arm_sockets(struct soft_cq *cq, int armed)
{
    for (unsigned i = 0; i < cq->receiver_count; i++) {
        struct soft_qp *qp = cq->receivers[i];
        if (qp->rc)
            continue; /* the engine takes its packets, and raises the event */
        arm_groups(cq, qp);
        if (armed == SOFT_ARMED_SOLICITED && qp->doorbell >= 0) {
            if (!qp->doorbell_armed)
                watch(cq, qp->doorbell);
            qp->doorbell_armed = true;
        } else {
            if (!qp->socket_armed)
                watch(cq, qp->socket);
            qp->socket_armed = true;
        }
    }
}

static void drain_doorbells(struct soft_cq *cq)
{
    char byte;
    for (unsigned i = 0; i < cq->receiver_count; i++)
        if (cq->receivers[i]->doorbell >= 0)
            while (recv(cq->receivers[i]->doorbell, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0)
                ;
}

int soft_req_notify_cq(struct ibv_cq *base, int solicited_only)
{
    struct soft_cq *cq = soft_cq_of(base);
    if (!base->channel)
        return 0; /* allowed, and without effect: no channel is there to be woken */
    if (unlikely(soft_context_of(base->context)->config.reorder > 0))
        soft_fault_flush(cq);
    soft_lock(&cq->receive_lock);
    /* Old rings go before the CQ is armed: what arrives from here on rings again, and what came
     * before is found by the poll that must follow (ibv_req_notify_cq(3)). */
    if (solicited_only)
        drain_doorbells(cq);
    int unarmed = SOFT_UNARMED;
    if (solicited_only) /* does not weaken an earlier request for any completion */
        atomic_compare_exchange_strong(&cq->armed, &unarmed, SOFT_ARMED_SOLICITED);
    else
        atomic_store(&cq->armed, SOFT_ARMED_ANY);
    arm_sockets(cq, solicited_only ? SOFT_ARMED_SOLICITED : SOFT_ARMED_ANY);
    soft_unlock(&cq->receive_lock);
    return 0;
}

void soft_channel_rearm(struct soft_cq *cq)
{
    soft_lock(&cq->receive_lock);
    int armed = atomic_load(&cq->armed);
    if (armed != SOFT_UNARMED)
        arm_sockets(cq, armed);
    soft_unlock(&cq->receive_lock);
}

/* A socket of this CQ woke the channel. If the CQ is still armed, take the datagrams in; should none
 * of them be what it is armed for, wait for the next one. */
static void arrived(struct soft_channel *channel, struct soft_cq *cq)
{
    soft_lock(&channel->lock);
    struct soft_cq *member = channel->members;
    while (member && member != cq)
        member = member->member_next;
    if (member)
        atomic_fetch_add(&cq->visitors, 1);
    soft_unlock(&channel->lock);
    if (!member)
        return; /* destroyed since epoll_wait named it */
    struct soft_context *context = soft_context_of(cq->base.context);
    soft_lock(&cq->receive_lock);
    for (unsigned i = 0; i < cq->receiver_count; i++) {
        struct soft_qp *qp = cq->receivers[i];
        qp->socket_armed = qp->doorbell_armed = false;
        for (struct soft_group *group = qp->groups; group; group = group->next)
            group->armed = false;
    }
    if (atomic_load(&cq->armed) != SOFT_UNARMED) {
        drain_doorbells(cq);
        soft_cq_take_in(cq);
        int armed = atomic_load(&cq->armed);
        if (armed != SOFT_UNARMED)
            arm_sockets(cq, armed);
    }
    soft_unlock(&cq->receive_lock);
    soft_settle(context);
    atomic_fetch_sub(&cq->visitors, 1);
}

int soft_get_cq_event(struct ibv_comp_channel *base, struct ibv_cq **cq, void **cq_context)
{
    struct soft_channel *channel = soft_channel_of(base);
    for (;;) {
        struct soft_cq *raised = take_event(channel);
        if (raised) {
            *cq = &raised->base;
            *cq_context = raised->base.cq_context;
            return 0;
        }
        int flags = fcntl(base->fd, F_GETFL);
        if (flags < 0)
            return -1;
        struct epoll_event event[8];
        int n = epoll_wait(base->fd, event, 8, flags & O_NONBLOCK ? 0 : -1);
        if (n == 0)
            errno = EAGAIN;
        /* read(2), which a real channel sleeps in, is restarted after a signal (SA_RESTART), and
         * epoll_wait never is: go on by ourselves. */
        if (n == 0 || (n < 0 && errno != EINTR))
            return -1;
        for (int i = 0; i < n; i++)
            if (event[i].data.ptr)
                arrived(channel, event[i].data.ptr);
    }
}

void soft_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    if (!count)
        return;
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += count;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}
