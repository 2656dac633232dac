/* Asynchronous events: the device's, and those that a checkpoint took from it before they were handed out, which come
 * first. The job's descriptor is an epoll set of the device's and of an eventfd for the latter. */
#include "virtual.h"
#include "agent-client/control.h"
#include "common/system_calls.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

struct v_async {
    struct ibv_async_event event;
    struct v_async *next;
};

int virtual_open_async(struct v_context *context)
{
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = context->verbs.context.async_fd = epoll_create1(EPOLL_CLOEXEC);
    context->raise_fd = system_eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    context->events_last = &context->events;
    if (epoll < 0 || context->raise_fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, context->raise_fd, &event))
        return errno;
    virtual_make_nonblocking(context->real->async_fd);
    return virtual_watch(epoll, context->real->async_fd, &context->watching) ? errno : 0;
}

void virtual_close_async(struct v_context *context)
{
    if (context->verbs.context.async_fd >= 0)
        close(context->verbs.context.async_fd);
    if (context->raise_fd >= 0)
        close(context->raise_fd);
    while (context->events) {
        struct v_async *next = context->events->next;
        free(context->events);
        context->events = next;
    }
}

/* From the device's object to the job's. Port and device events carry a number or nothing; WQ objects are never
 * made. */
static void virtualize(struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        event->element.cq = event->element.cq->cq_context;
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        event->element.qp = event->element.qp->qp_context;
        break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        event->element.srq = event->element.srq->srq_context;
        break;
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_WQ_FATAL:
        break;
    }
}

/* Where it is counted that the job was told and has acknowledged: delivered or completed; NULL for events of no
 * object. */
struct acknowledgement {
    pthread_mutex_t *mutex;
    pthread_cond_t *cond;
    uint32_t *completed, *delivered;
};

static struct acknowledgement acknowledgement_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: {
        struct v_cq *cq = (struct v_cq *)event->element.cq;
        return (struct acknowledgement){&cq->cq.mutex, &cq->cq.cond, &cq->cq.async_events_completed,
                                        &cq->async_delivered};
    }
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {
        struct v_qp *qp = (struct v_qp *)event->element.qp;
        return (struct acknowledgement){&qp->qp.mutex, &qp->qp.cond, &qp->qp.events_completed, &qp->async_delivered};
    }
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: {
        struct v_srq *srq = (struct v_srq *)event->element.srq;
        return (struct acknowledgement){&srq->srq.mutex, &srq->srq.cond, &srq->srq.events_completed,
                                        &srq->async_delivered};
    }
    default:
        return (struct acknowledgement){0};
    }
}

/* Returns 0 or ENOMEM. */
static int keep(struct v_context *context, const struct ibv_async_event *event)
{
    uint64_t one = 1;
    struct v_async *kept = calloc(1, sizeof *kept);
    if (!kept)
        return ENOMEM;
    kept->event = *event;
    if (!context->events && write(context->raise_fd, &one, sizeof one) != sizeof one)
        control_log("asynchronous events: write to descriptor %d: %s", context->raise_fd, strerror(errno));
    *context->events_last = kept;
    context->events_last = &kept->next;
    return 0;
}

/* What the job believes of a port from now on. */
static void believe(struct v_context *context, const struct ibv_async_event *event)
{
    unsigned bit = 1u << (event->element.port_num - 1);
    if (event->event_type == IBV_EVENT_PORT_ERR)
        context->ports_down |= bit;
    if (event->event_type == IBV_EVENT_PORT_ACTIVE)
        context->ports_down &= ~bit;
}

/* A port of this incarnation may be several of the job's: each is told. Returns 0 when there is none, -1 without
 * memory. */
static int spread(struct v_context *context, struct ibv_async_event *event)
{
    const struct v_identity *identity = context->identity;
    struct ibv_async_event first = *event, next = *event;
    int found = 0;
    for (unsigned i = 0; i < identity->port_count; i++) {
        if (!identity->ports[i].usable || identity->ports[i].now.number != event->element.port_num)
            continue;
        next.element.port_num = identity->ports[i].number;
        believe(context, &next);
        if (found++ && keep(context, &next))
            return -1;
        if (found == 1)
            first = next;
    }
    *event = first;
    return found;
}

static int tells_of_port(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
        return 1;
    default:
        return 0;
    }
}

/* The real event is acknowledged at once, so that a real object can be destroyed whatever the job does. */
static int take_real_or_repeated(struct v_context *context, struct ibv_async_event *event)
{
    for (;;) {
        int result = lower_device->get_async_event(context->real, event);
        if (result)
            return result;
        struct ibv_async_event real = *event;
        virtualize(event);
        lower_device->ack_async_event(&real);
        context->gone |= event->event_type == IBV_EVENT_DEVICE_FATAL;
        int ports = tells_of_port(event) ? spread(context, event) : 1;
        if (ports < 0) {
            errno = ENOMEM;
            return -1;
        }
        if (ports)
            return 0;
    }
}

/* In a new incarnation: what has changed for the job since it was last told. Returns 0 or ENOMEM. */
int virtual_tell_ports(struct v_context *context)
{
    context->gone = 0;
    for (unsigned i = 0; i < context->identity->port_count; i++) {
        const struct v_port *port = &context->identity->ports[i];
        struct ibv_async_event event = {.event_type = port->now.active ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR,
                                        .element.port_num = port->number};
        int believed_down = context->ports_down >> i & 1;
        if (!port->usable || believed_down != port->now.active)
            continue;
        believe(context, &event);
        if (keep(context, &event))
            return ENOMEM;
    }
    return 0;
}

static int take_real(struct v_context *context, struct ibv_async_event *event)
{
    for (;;) {
        int result = take_real_or_repeated(context, event);
        if (result || event->event_type != IBV_EVENT_QP_LAST_WQE_REACHED)
            return result;
        struct v_qp *qp = (struct v_qp *)event->element.qp;
        if (!qp->repeats_last)
            return 0;
        qp->repeats_last = 0; /* the job was told in the incarnation in which it happened */
    }
}

static int take_kept(struct v_context *context, struct ibv_async_event *event)
{
    uint64_t raised;
    struct v_async *first = context->events;
    if (!first)
        return 0;
    *event = first->event;
    context->events = first->next;
    if (!first->next) {
        context->events_last = &context->events;
        if (read(context->raise_fd, &raised, sizeof raised) < 0 && errno != EAGAIN)
            control_log("asynchronous events: read of descriptor %d: %s", context->raise_fd, strerror(errno));
    }
    free(first);
    return 1;
}

static int take_event(struct v_context *context, struct ibv_async_event *event)
{
    pthread_mutex_lock(&virtual_mutex);
    int result = take_kept(context, event) ? 0 : take_real(context, event);
    if (!result) {
        struct acknowledgement told = acknowledgement_of(event);
        if (told.delivered)
            ++*told.delivered;
    }
    pthread_mutex_unlock(&virtual_mutex);
    return result;
}

int virtual_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    for (;;) {
        if (!gate_enter())
            return -1;
        int result = take_event(context_of(context), event);
        int error = errno;
        gate_leave();
        if (result == 0)
            return 0;
        errno = error;
        if (error != EAGAIN || virtual_wait(context->async_fd))
            return -1;
    }
}

void virtual_ack_async_event(struct ibv_async_event *event)
{
    struct acknowledgement told = acknowledgement_of(event);
    if (!told.completed)
        return;
    pthread_mutex_lock(told.mutex);
    ++*told.completed;
    pthread_cond_signal(told.cond);
    pthread_mutex_unlock(told.mutex);
}

/* Called with the gate closed: what the device has to tell moves into memory. Returns 0 or ENOMEM. */
int virtual_keep_events(struct v_context *context)
{
    struct ibv_async_event event;
    while (!take_real(context, &event))
        if (keep(context, &event))
            return ENOMEM;
    return 0;
}

/* The object is gone before the job was told. */
void virtual_withdraw_events(struct v_context *context, const void *element)
{
    uint64_t raised;
    if (is_closed(&context->verbs.context))
        return; /* with all that it had to tell */
    pthread_mutex_lock(&virtual_mutex);
    context->events_last = &context->events;
    while (*context->events_last) {
        struct v_async *kept = *context->events_last;
        if (acknowledgement_of(&kept->event).delivered && kept->event.element.cq == element) {
            *context->events_last = kept->next;
            free(kept);
        } else {
            context->events_last = &kept->next;
        }
    }
    if (!context->events && read(context->raise_fd, &raised, sizeof raised) < 0 && errno != EAGAIN)
        control_log("asynchronous events: read of descriptor %d: %s", context->raise_fd, strerror(errno));
    pthread_mutex_unlock(&virtual_mutex);
}

void virtual_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond, const uint32_t *completed,
                               const uint32_t *delivered)
{
    pthread_mutex_lock(mutex);
    while (*completed != __atomic_load_n(delivered, __ATOMIC_RELAXED))
        pthread_cond_wait(cond, mutex);
    pthread_mutex_unlock(mutex);
}
