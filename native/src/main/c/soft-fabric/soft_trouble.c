#include "soft_trouble.h"
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_socket.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static struct soft_context *opened; /* all of this process */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void soft_trouble_opened(struct soft_context *context)
{
    pthread_mutex_lock(&mutex);
    for (struct soft_context *other = opened; other; other = other->next_opened)
        if (other->verbs.context.device == context->verbs.context.device)
            atomic_store(&context->ports_down, atomic_load(&other->ports_down));
    context->next_opened = opened;
    opened = context;
    pthread_mutex_unlock(&mutex);
}

void soft_trouble_closed(struct soft_context *context)
{
    pthread_mutex_lock(&mutex);
    for (struct soft_context **at = &opened; *at; at = &(*at)->next_opened)
        if (*at == context) {
            *at = context->next_opened;
            break;
        }
    pthread_mutex_unlock(&mutex);
}

bool soft_port_is_down(const struct soft_context *context, unsigned port)
{
    return atomic_load_explicit(&context->ports_down, memory_order_relaxed) >> port & 1;
}

/* What the kernel lets through to it, by the port's state as it is now. */
static int set_filter(struct soft_qp *qp)
{
    switch (soft_state(&qp->base)) {
    case IBV_QPS_RTR:
    case IBV_QPS_RTS:
    case IBV_QPS_SQE:
        return qp->rc ? soft_socket_accept_peer(qp, qp->attr.dest_qp_num, qp->attr.ah_attr.dlid)
                      : soft_socket_accept(qp);
    default:
        return 0;
    }
}

/* A header without the fabric's sign passes no filter: so nothing on the way of a send has to ask. */
static void set_link(struct soft_qp *qp)
{
    soft_fill_header(qp);
    if (qp->rc) {
        soft_lock(&qp->rc->lock);
        soft_rc_sign(qp->rc);
        soft_unlock(&qp->rc->lock);
    }
    if (set_filter(qp))
        perror("udckpt: soft fabric: the filter of a port that changes its state");
}

/* Returns false if a queue pair's mutex was taken: its holder, which changes the queue pair's state, may wait for the
 * context's lock. */
static bool set_all_links(struct soft_context *context, uint16_t lid)
{
    bool all = true;
    soft_lock(&context->lock);
    for (struct soft_object *o = context->objects.next; all && o != &context->objects; o = o->next) {
        struct soft_qp *qp = o->kind == SOFT_QP ? container_of(o, struct soft_qp, object) : NULL;
        if (!qp || qp->lid != lid)
            continue;
        all = !pthread_mutex_trylock(&qp->base.mutex);
        if (all) {
            set_link(qp);
            pthread_mutex_unlock(&qp->base.mutex);
        }
    }
    soft_unlock(&context->lock);
    return all;
}

static void set_links(struct soft_context *context, unsigned port, bool down)
{
    if (down)
        atomic_fetch_or(&context->ports_down, 1u << port);
    else
        atomic_fetch_and(&context->ports_down, ~(1u << port));
    while (!set_all_links(context, soft_port_lid(&context->config, port)))
        sched_yield();
}

static void kill_device(struct soft_context *context)
{
    atomic_store(&context->gone, true);
    soft_lock(&context->lock);
    for (struct soft_object *o = context->objects.next; o != &context->objects; o = o->next)
        if (o->kind == SOFT_QP)
            soft_qp_fail(container_of(o, struct soft_qp, object));
    soft_unlock(&context->lock);
    soft_settle(context);
}

static int happen(struct soft_context *context, enum ibv_event_type type, unsigned port)
{
    struct ibv_async_event event = {.event_type = type};
    switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
        kill_device(context);
        break;
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
        if (!soft_has_port(&context->verbs.context, port))
            return EINVAL;
        set_links(context, port, type == IBV_EVENT_PORT_ERR);
        event.element.port_num = (int)port;
        break;
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
        if (!soft_has_port(&context->verbs.context, port))
            return EINVAL;
        event.element.port_num = (int)port;
        break;
    default:
        return EINVAL; /* it tells of an object, and the object raises it itself */
    }
    soft_event_post(context, event);
    return 0;
}

__attribute__((visibility("default"))) int udckpt_soft_event(const char *device, enum ibv_event_type type,
                                                             unsigned port)
{
    int told = 0, error = 0;
    pthread_mutex_lock(&mutex);
    for (struct soft_context *context = opened; context && !error; context = context->next_opened)
        if (!strcmp(context->verbs.context.device->name, device)) {
            error = happen(context, type, port);
            told++;
        }
    pthread_mutex_unlock(&mutex);
    return error ? -error : told;
}
