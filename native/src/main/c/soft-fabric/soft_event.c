#include "soft_event.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void soft_event_post(struct soft_context *context, struct ibv_async_event event)
{
    struct soft_async *entry = malloc(sizeof *entry);
    uint64_t one = 1;
    if (!entry) {
        fprintf(stderr, "udckpt: out of memory: the asynchronous event \"%d\" of soft0 is lost\n", event.event_type);
        return;
    }
    *entry = (struct soft_async){.event = event};
    soft_lock(&context->async_lock);
    *context->async_last = entry;
    context->async_last = &entry->next;
    soft_unlock(&context->async_lock);
    if (write(context->verbs.context.async_fd, &one, sizeof one) != sizeof one)
        perror("udckpt: soft0: asynchronous event descriptor");
}

/* Where the number of events handed out about the object is kept; NULL when it tells of a port or of the device. */
static unsigned *delivered(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        return &soft_cq_of(event->element.cq)->async_delivered;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        return &soft_srq_of(event->element.srq)->events_delivered;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
        return NULL;
    default:
        return &soft_qp_of(event->element.qp)->events_delivered;
    }
}

int soft_get_async_event(struct ibv_context *base, struct ibv_async_event *event)
{
    struct soft_context *context = soft_context_of(base);
    for (;;) {
        uint64_t one;
        if (read(base->async_fd, &one, sizeof one) != sizeof one)
            return -1; /* EAGAIN when the descriptor is non-blocking, as with a real device */
        soft_lock(&context->async_lock);
        struct soft_async *entry = context->async_first;
        if (entry) {
            *event = entry->event;
            unsigned *count = delivered(event);
            if (count)
                ++*count;
            if (!(context->async_first = entry->next))
                context->async_last = &context->async_first;
        }
        soft_unlock(&context->async_lock);
        if (entry) { /* else it was withdrawn with its object */
            free(entry);
            return 0;
        }
    }
}

void soft_event_withdraw(struct soft_context *context, const void *element)
{
    soft_lock(&context->async_lock);
    context->async_last = &context->async_first;
    while (*context->async_last) {
        struct soft_async *entry = *context->async_last;
        if (delivered(&entry->event) && entry->event.element.cq == element) {
            *context->async_last = entry->next;
            free(entry);
        } else {
            context->async_last = &entry->next;
        }
    }
    soft_unlock(&context->async_lock);
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
    pthread_mutex_lock(mutex);
    (*completed)++;
    pthread_cond_signal(cond);
    pthread_mutex_unlock(mutex);
}

void soft_ack_async_event(struct ibv_async_event *event)
{
    if (!delivered(event))
        return;
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
        struct ibv_cq *cq = event->element.cq;
        acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed);
        break;
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
        struct ibv_srq *srq = event->element.srq;
        acknowledge(&srq->mutex, &srq->cond, &srq->events_completed);
        break;
    }
    default: {
        struct ibv_qp *qp = event->element.qp;
        acknowledge(&qp->mutex, &qp->cond, &qp->events_completed);
    }
    }
}
