/* Event channels: a queue in memory, and an eventfd that is not zero while there is something in it, so that poll(2)
 * and the blocking of rdma_get_cm_event are the kernel's. It is no EFD_SEMAPHORE: older kernels do not show that flag,
 * and a restored one would lose it (docs/internals/capture.md). */
#include "cm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

pthread_cond_t cm_acknowledged = PTHREAD_COND_INITIALIZER;

EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct cm_channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return NULL;
    channel->channel.fd = eventfd(0, EFD_CLOEXEC);
    if (channel->channel.fd < 0) {
        free(channel);
        return NULL;
    }
    return &channel->channel;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *public)
{
    struct cm_channel *channel = (struct cm_channel *)public;
    pthread_mutex_lock(&cm_mutex);
    while (channel->first) {
        struct cm_event *event = channel->first;
        channel->first = event->next;
        free(event);
    }
    pthread_mutex_unlock(&cm_mutex);
    close(channel->channel.fd);
    free(channel);
}

/* What a program reads from an event: the counts as its own side sees them (rdma_get_cm_event(3)), and all of the
 * message's private data. A refusal has nothing else. */
static void describe(struct cm_event *event, struct cm_id *id, const struct cm_message *message)
{
    uint8_t length = cm_private_size((enum cm_kind)message->kind, cm_is_datagram(id));
    memcpy(event->private_data, message->private_data, sizeof event->private_data);
    if (cm_is_datagram(id)) {
        struct rdma_ud_param *ud = &event->event.param.ud;
        ud->private_data = length ? event->private_data : NULL;
        ud->private_data_len = length;
        if (message->kind == CM_REJ)
            return;
        ud->qp_num = message->data.qpn;
        ud->qkey = message->qkey;
        cm_address(&message->data, &ud->ah_attr);
        return;
    }
    struct rdma_conn_param *connection = &event->event.param.conn;
    connection->private_data = length ? event->private_data : NULL;
    connection->private_data_len = length;
    if (message->kind == CM_REJ)
        return;
    connection->responder_resources = message->initiator_depth;
    connection->initiator_depth = message->responder_resources;
    connection->flow_control = message->flow_control;
    connection->retry_count = message->kind == CM_REQ ? message->retry_count : 0; /* a REP has none */
    connection->rnr_retry_count = message->rnr_retry_count;
    connection->srq = message->srq;
    connection->qp_num = message->data.qpn;
}

static void signal_channel(struct cm_channel *channel)
{
    uint64_t one = 1;
    if (write(channel->channel.fd, &one, sizeof one) < 0) /* fails only when the program has closed it */
        cm_say("rdma_cm: event channel %d: %s", channel->channel.fd, strerror(errno));
}

static void append(struct cm_channel *channel, struct cm_event *event)
{
    event->next = NULL;
    if (channel->first)
        channel->last->next = event;
    else
        channel->first = event;
    channel->last = event;
    signal_channel(channel);
}

static struct cm_event *make_event(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
    struct cm_event *event = calloc(1, sizeof *event);
    if (!event) {
        cm_say("rdma_cm: no memory for an event; the connection will time out");
        return NULL;
    }
    event->event.id = &id->id;
    event->event.event = type;
    event->event.status = status;
    return event;
}

void cm_deliver(struct cm_id *id, struct cm_id *listener, enum rdma_cm_event_type type, int status,
                const struct cm_message *message)
{
    struct cm_event *event = make_event(id, type, status);
    if (!event)
        return;
    event->event.listen_id = listener ? &listener->id : NULL;
    if (message)
        describe(event, id, message);
    append((struct cm_channel *)(listener ? listener->id.channel : id->id.channel), event);
}

void cm_deliver_join(struct cm_id *id, struct cm_group *group)
{
    struct cm_event *event = make_event(id, RDMA_CM_EVENT_MULTICAST_JOIN, 0);
    if (!event)
        return;
    struct rdma_ud_param *ud = &event->event.param.ud;
    event->group = group;
    ud->private_data = group->context; /* rdma_join_multicast(3) */
    ud->qp_num = 0xffffff;             /* all members: InfiniBand specification volume 1, 10.5.2 */
    ud->qkey = id->qkey;
    ud->ah_attr.dlid = group->lid;
    ud->ah_attr.port_num = cm_port();
    ud->ah_attr.is_global = 1;
    ud->ah_attr.grh.dgid = group->gid;
    ud->ah_attr.grh.hop_limit = 1;
    append((struct cm_channel *)id->id.channel, event);
}

/* The queue is empty. A thread that has read the descriptor already checks the queue and waits again. */
static void quiet_channel(struct cm_channel *channel)
{
    uint64_t count;
    int flags = fcntl(channel->channel.fd, F_GETFL);
    fcntl(channel->channel.fd, F_SETFL, flags | O_NONBLOCK);
    if (read(channel->channel.fd, &count, sizeof count) < 0 && errno != EAGAIN)
        cm_say("rdma_cm: event channel %d: %s", channel->channel.fd, strerror(errno));
    fcntl(channel->channel.fd, F_SETFL, flags);
}

static int is_of(const struct cm_event *event, const struct cm_id *id, const struct cm_group *group)
{
    if (group && event->group != group)
        return 0;
    return (event->event.listen_id ? event->event.listen_id : event->event.id) == &id->id;
}

/* Takes the undelivered events of an id, or of a group of it, out of its channel, and returns them in their order. */
static struct cm_event *take_events(struct cm_id *id, const struct cm_group *group)
{
    struct cm_channel *channel = (struct cm_channel *)id->id.channel;
    struct cm_event **link = &channel->first, *last = NULL, *taken = NULL, **end = &taken;
    while (*link) {
        struct cm_event *event = *link;
        if (!is_of(event, id, group)) {
            last = event;
            link = &event->next;
            continue;
        }
        *link = event->next;
        event->next = NULL;
        *end = event;
        end = &event->next;
    }
    channel->last = last;
    if (!channel->first)
        quiet_channel(channel);
    return taken;
}

static void forget(struct cm_event *event)
{
    while (event) {
        struct cm_event *next = event->next;
        if (event->event.listen_id) { /* a request that nobody saw: its id is known to nobody else */
            struct cm_id *request = cm_of(event->event.id);
            cm_unlink(request);
            free(request);
        }
        free(event);
        event = next;
    }
}

void cm_forget_events(struct cm_id *id)
{
    forget(take_events(id, NULL));
}

void cm_forget_group_events(struct cm_id *id, const struct cm_group *group)
{
    forget(take_events(id, group));
}

void cm_move_events(struct cm_id *id, struct rdma_event_channel *to)
{
    struct cm_event *event = take_events(id, NULL);
    id->id.channel = to;
    while (event) {
        struct cm_event *next = event->next;
        append((struct cm_channel *)to, event);
        event = next;
    }
}

static struct cm_id *owner_of(const struct cm_event *event)
{
    return cm_of(event->event.listen_id ? event->event.listen_id : event->event.id);
}

static struct cm_event *take_first(struct cm_channel *channel)
{
    pthread_mutex_lock(&cm_mutex);
    struct cm_event *event = channel->first;
    if (event) { /* else the id that it was for is gone */
        channel->first = event->next;
        if (channel->first) /* the read has taken the sign of all of them */
            signal_channel(channel);
        owner_of(event)->events++;
        if (event->group)
            event->group->events++;
    }
    pthread_mutex_unlock(&cm_mutex);
    return event;
}

/* What librdmacm does to the queue pair when a program takes an event. */
static void act_on(struct cm_event *event)
{
    struct rdma_cm_id *id = event->event.id;
    struct ibv_qp_attr failed = {.qp_state = IBV_QPS_ERR};
    if (event->event.event == RDMA_CM_EVENT_REJECTED && id->qp && ibv_modify_qp(id->qp, &failed, IBV_QP_STATE))
        cm_say("rdma_cm: cannot move a rejected queue pair to the error state: %s", strerror(errno));
    if (event->event.event == RDMA_CM_EVENT_MULTICAST_JOIN &&
        (event->event.status = cm_group_joined(cm_of(id), event->group)))
        event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
}

/* The wait is read(2) on an eventfd, as librdmacm's is write(2) on a device: signals end both alike. */
EXPORT int rdma_get_cm_event(struct rdma_event_channel *public, struct rdma_cm_event **out)
{
    struct cm_channel *channel = (struct cm_channel *)public;
    uint64_t count;
    if (!channel || !out)
        return cm_fail(EINVAL);
    for (;;) {
        if (read(channel->channel.fd, &count, sizeof count) < 0)
            return -1; /* EAGAIN, EINTR */
        struct cm_event *event = take_first(channel);
        if (event) {
            act_on(event);
            *out = &event->event;
            return 0;
        }
    }
}

EXPORT int rdma_ack_cm_event(struct rdma_cm_event *public)
{
    struct cm_event *event = (struct cm_event *)public;
    if (!event)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    owner_of(event)->events--;
    if (event->group)
        event->group->events--;
    pthread_cond_broadcast(&cm_acknowledged);
    pthread_mutex_unlock(&cm_mutex);
    free(event);
    return 0;
}

/* As librdmacm's: whatever event is next is the answer, by its status. The program may look at it:
 * rdma_create_id(3). */
int cm_wait(struct rdma_cm_id *id)
{
    if (id->event) {
        rdma_ack_cm_event(id->event);
        id->event = NULL;
    }
    if (rdma_get_cm_event(id->channel, &id->event))
        return -1;
    int status = id->event->status;
    if (!status)
        return 0;
    return cm_fail(id->event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : status < 0 ? -status : status);
}

EXPORT const char *rdma_event_str(enum rdma_cm_event_type event)
{
    static const char *const names[] = {
        [RDMA_CM_EVENT_ADDR_RESOLVED] = "RDMA_CM_EVENT_ADDR_RESOLVED",
        [RDMA_CM_EVENT_ADDR_ERROR] = "RDMA_CM_EVENT_ADDR_ERROR",
        [RDMA_CM_EVENT_ROUTE_RESOLVED] = "RDMA_CM_EVENT_ROUTE_RESOLVED",
        [RDMA_CM_EVENT_ROUTE_ERROR] = "RDMA_CM_EVENT_ROUTE_ERROR",
        [RDMA_CM_EVENT_CONNECT_REQUEST] = "RDMA_CM_EVENT_CONNECT_REQUEST",
        [RDMA_CM_EVENT_CONNECT_RESPONSE] = "RDMA_CM_EVENT_CONNECT_RESPONSE",
        [RDMA_CM_EVENT_CONNECT_ERROR] = "RDMA_CM_EVENT_CONNECT_ERROR",
        [RDMA_CM_EVENT_UNREACHABLE] = "RDMA_CM_EVENT_UNREACHABLE",
        [RDMA_CM_EVENT_REJECTED] = "RDMA_CM_EVENT_REJECTED",
        [RDMA_CM_EVENT_ESTABLISHED] = "RDMA_CM_EVENT_ESTABLISHED",
        [RDMA_CM_EVENT_DISCONNECTED] = "RDMA_CM_EVENT_DISCONNECTED",
        [RDMA_CM_EVENT_DEVICE_REMOVAL] = "RDMA_CM_EVENT_DEVICE_REMOVAL",
        [RDMA_CM_EVENT_MULTICAST_JOIN] = "RDMA_CM_EVENT_MULTICAST_JOIN",
        [RDMA_CM_EVENT_MULTICAST_ERROR] = "RDMA_CM_EVENT_MULTICAST_ERROR",
        [RDMA_CM_EVENT_ADDR_CHANGE] = "RDMA_CM_EVENT_ADDR_CHANGE",
        [RDMA_CM_EVENT_TIMEWAIT_EXIT] = "RDMA_CM_EVENT_TIMEWAIT_EXIT",
    };
    return event < sizeof names / sizeof *names ? names[event] : "UNKNOWN EVENT";
}
