/* The calls that set connections up and take them down, and the timers that repeat what was not answered. */
#include "cm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_REPEAT_MS = 100, /* doubled with each repeat up to the next */
    LONGEST_REPEAT_MS = 2000,
    REPEATS = 15, /* about 25 s in all */
    RETRIES = 7,  /* what a program without rdma_conn_param gets */
    LISTENER_AGAIN_MS = 10,
    FULL_AGAIN_MS = 1,
};

long cm_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

void cm_repeat(struct cm_id *id, long first_ms)
{
    id->repeats = 0;
    id->deadline_ms = cm_now_ms() + (first_ms ? first_ms : FIRST_REPEAT_MS);
    cm_wake();
}

void cm_settle(struct cm_id *id)
{
    id->deadline_ms = 0;
}

void cm_fill(struct cm_message *message, struct cm_id *id, enum cm_kind kind, const void *data, size_t length)
{
    memset(message, 0, sizeof *message);
    message->magic = CM_MAGIC;
    message->kind = (uint16_t)kind;
    message->connection = id->connection;
    message->peer_connection = id->peer.connection;
    message->service = *cm_service_endpoint();
    cm_port_address(&message->data);
    message->data.qpn = id->id.qp ? id->id.qp->qp_num : id->parameters.qp_num;
    message->psn = id->psn;
    message->qkey = id->qkey;
    message->port_space = (uint32_t)id->id.ps;
    message->responder_resources = id->parameters.responder_resources;
    message->initiator_depth = id->parameters.initiator_depth;
    message->flow_control = id->parameters.flow_control;
    message->retry_count = id->parameters.retry_count;
    message->rnr_retry_count = id->parameters.rnr_retry_count;
    message->srq = id->parameters.srq;
    message->mtu = (uint8_t)cm_active_mtu();
    memcpy(&message->source, &id->id.route.addr.src_storage, sizeof message->source);
    memcpy(&message->destination, &id->id.route.addr.dst_storage, sizeof message->destination);
    if (length > CM_PRIVATE_MAX)
        length = CM_PRIVATE_MAX;
    if (data)
        memcpy(message->private_data, data, length);
    message->private_length = (uint16_t)(data ? length : 0);
}

/* What a missing answer means for the program. */
static void give_up(struct cm_id *id)
{
    cm_settle(id);
    switch (id->state) {
    case CM_CONNECTING:
        id->state = CM_RESOLVED;
        cm_deliver(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
        break;
    case CM_ACCEPTED:
        id->state = CM_CLOSED;
        cm_deliver(id, NULL, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL);
        break;
    case CM_CLOSING: /* the peer is gone: the connection is over all the same */
        id->state = CM_CLOSED;
        cm_deliver(id, NULL, RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT, NULL);
        break;
    default:
        break;
    }
}

long cm_timers(void)
{
    long now = cm_now_ms(), next = -1;
    for (struct cm_id *id = cm_all(); id; id = id->next) {
        if (!id->deadline_ms)
            continue;
        if (id->deadline_ms <= now && !cm_may_send()) { /* so many at once: this does not count as a repeat */
            if (next < 0 || next > FULL_AGAIN_MS)
                next = FULL_AGAIN_MS;
            continue;
        }
        if (id->deadline_ms <= now) {
            if (id->repeats++ == REPEATS) {
                give_up(id);
                continue;
            }
            long wait = (long)FIRST_REPEAT_MS << id->repeats;
            id->deadline_ms = now + (wait < LONGEST_REPEAT_MS ? wait : LONGEST_REPEAT_MS);
            cm_send(&id->last, &id->peer.service);
        }
        if (next < 0 || id->deadline_ms - now < next)
            next = id->deadline_ms - now;
    }
    return next;
}

static uint8_t at_most(int wanted, int most)
{
    return (uint8_t)(wanted < most ? wanted : most);
}

/* Whether librdmacm takes them: it looks in RDMA_PS_TCP alone. */
static int acceptable(const struct cm_id *id, const struct rdma_conn_param *given)
{
    if (id->id.ps != RDMA_PS_TCP)
        return 1;
    if (!given)
        return id->id.qp != NULL;
    return (given->responder_resources == RDMA_MAX_RESP_RES ||
            given->responder_resources <= cm_max_responder_resources()) &&
           (given->initiator_depth == RDMA_MAX_INIT_DEPTH || given->initiator_depth <= cm_max_initiator_depth());
}

static uint8_t private_length(const struct rdma_conn_param *given)
{
    return given && given->private_data ? given->private_data_len : 0;
}

/* What the messages of the InfiniBand CM have room for: 3 bits for a retry count, which the kernel's cm fills with 7
 * for more; one bit for flow control; 24 bits for a number of a queue pair. A queue pair of the id has its own number
 * and receive queue. */
static void take_parameters(struct cm_id *id, const struct rdma_conn_param *given, int responder_resources,
                            int initiator_depth)
{
    const struct rdma_conn_param none = {.responder_resources = RDMA_MAX_RESP_RES,
                                         .initiator_depth = RDMA_MAX_INIT_DEPTH,
                                         .retry_count = RETRIES,
                                         .rnr_retry_count = RETRIES};
    const struct ibv_qp *qp = id->id.qp;
    id->parameters = given ? *given : none;
    if (id->parameters.responder_resources == RDMA_MAX_RESP_RES)
        id->parameters.responder_resources = at_most(responder_resources, cm_max_responder_resources());
    if (id->parameters.initiator_depth == RDMA_MAX_INIT_DEPTH)
        id->parameters.initiator_depth = at_most(initiator_depth, cm_max_initiator_depth());
    id->parameters.retry_count = at_most(id->parameters.retry_count, RETRIES);
    id->parameters.rnr_retry_count = at_most(id->parameters.rnr_retry_count, RETRIES);
    id->parameters.flow_control &= 1;
    id->parameters.srq = qp ? qp->srq != NULL : id->parameters.srq != 0;
    id->parameters.qp_num &= 0xffffff;
    id->psn = (uint32_t)cm_new_connection() & 0xffffff;
}

/* As cm_lookup, but a listener may be replaced: the resolution of addresses and paths takes a real fabric
 * milliseconds, here none, and programs rely on it. perftest's server (-R) replaces its listener while the client is
 * already on the way to the new one, and a client that is rejected then crashes (perftest 4.5 goes on with ids that it
 * has freed). The agent says for how long (CmDirectory). No lock is held, so a checkpoint does not wait for this. */
static enum cm_found find_listener(struct cm_id *id, struct cm_endpoint *service)
{
    const struct timespec pause = {.tv_nsec = LISTENER_AGAIN_MS * 1000000L};
    enum cm_found found;
    while ((found = cm_lookup(id, service)) == CM_NOBODY_YET)
        nanosleep(&pause, NULL);
    return found;
}

static void ask(struct cm_id *id, enum cm_kind kind, const struct rdma_conn_param *given,
                const struct cm_endpoint *service)
{
    take_parameters(id, given, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
    id->retry_count = id->parameters.retry_count;
    id->rnr_retry_count = id->parameters.rnr_retry_count; /* until the answer says another */
    id->state = CM_CONNECTING;
    if (!service) { /* nobody listens: told as the InfiniBand CM of that host would */
        const struct cm_message answer = {.kind = CM_REJ, .reason = CM_REASON_NO_SERVICE};
        cm_rejected(id, &answer);
        return;
    }
    id->peer = (struct cm_peer){.service = *service};
    cm_fill(&id->last, id, kind, given ? given->private_data : NULL, private_length(given));
    cm_send(&id->last, service);
    cm_repeat(id, 0);
}

EXPORT int rdma_connect(struct rdma_cm_id *public, struct rdma_conn_param *given)
{
    struct cm_id *id = cm_of(public);
    struct cm_endpoint service;
    if (!public)
        return cm_fail(EINVAL);
    enum cm_kind kind = cm_is_datagram(id) ? CM_SIDR_REQ : CM_REQ;
    if (!acceptable(id, given) || private_length(given) > cm_private_size(kind, cm_is_datagram(id)) ||
        !public->route.num_paths)
        return cm_fail(EINVAL);
    if (cm_service_start())
        return -1;
    enum cm_found found = find_listener(id, &service);
    if (found == CM_NOT_ASKED)
        return -1;
    pthread_mutex_lock(&cm_mutex);
    int wrong = id->state != CM_RESOLVED;
    if (!wrong)
        ask(id, kind, given, found == CM_FOUND ? &service : NULL);
    pthread_mutex_unlock(&cm_mutex);
    if (wrong)
        return cm_fail(EINVAL);
    return id->owns_channel ? cm_wait(public) : 0;
}

static int accept_datagrams(struct cm_id *id, const struct rdma_conn_param *given)
{
    take_parameters(id, given, 0, 0);
    cm_fill(&id->last, id, CM_SIDR_REP, given ? given->private_data : NULL, private_length(given));
    id->state = CM_CONNECTED; /* told again when the question comes again */
    cm_send(&id->last, &id->peer.service);
    return 0;
}

/* What the program leaves open is what was asked for: the reads of the other side are our responses. The queue pair
 * retries as often as the request says; the program's rnr_retry_count is for the other side's (rdma_accept(3)). */
static int accept_connection(struct cm_id *id, const struct rdma_conn_param *given)
{
    const struct cm_message *request = &id->request;
    take_parameters(id, given, request->initiator_depth, request->responder_resources);
    id->retry_count = request->retry_count;
    id->rnr_retry_count = request->rnr_retry_count;
    int error = id->id.qp ? cm_qp_connect(id) : 0;
    if (error)
        return error;
    cm_fill(&id->last, id, CM_REP, given ? given->private_data : NULL, private_length(given));
    id->state = CM_ACCEPTED;
    cm_send(&id->last, &id->peer.service);
    cm_repeat(id, 0);
    return 0;
}

EXPORT int rdma_accept(struct rdma_cm_id *public, struct rdma_conn_param *given)
{
    struct cm_id *id = cm_of(public);
    if (!public)
        return cm_fail(EINVAL);
    int datagrams = cm_is_datagram(id);
    if ((!public->qp && !given) || !acceptable(id, given) ||
        private_length(given) > cm_private_size(datagrams ? CM_SIDR_REP : CM_REP, datagrams))
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    int error = id->state != CM_REQUESTED ? EINVAL
                : datagrams               ? accept_datagrams(id, given)
                                          : accept_connection(id, given);
    if (!error && id->listener)
        id->listener->pending--;
    pthread_mutex_unlock(&cm_mutex);
    if (error)
        return cm_fail(error);
    return id->owns_channel && !datagrams ? cm_wait(public) : 0;
}

EXPORT int rdma_reject(struct rdma_cm_id *public, const void *data, uint8_t length)
{
    struct cm_id *id = cm_of(public);
    if (!public || (data && length > cm_private_size(CM_REJ, cm_is_datagram(id))))
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    int wrong = id->state != CM_REQUESTED && id->state != CM_RESPONDED;
    if (!wrong) {
        if (id->state == CM_REQUESTED && id->listener)
            id->listener->pending--;
        cm_fill(&id->last, id, CM_REJ, data, length); /* also what a repeated request is answered with */
        id->last.reason = CM_REASON_PROGRAM;
        id->state = CM_CLOSED;
        cm_send(&id->last, &id->peer.service);
    }
    pthread_mutex_unlock(&cm_mutex);
    return wrong ? cm_fail(EINVAL) : 0;
}

EXPORT int rdma_establish(struct rdma_cm_id *public)
{
    struct cm_id *id = cm_of(public);
    struct cm_message ready;
    if (!public)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    int wrong = id->state != CM_RESPONDED;
    if (!wrong) {
        id->state = CM_CONNECTED;
        cm_fill(&ready, id, CM_RTU, NULL, 0);
        cm_send(&ready, &id->peer.service);
    }
    pthread_mutex_unlock(&cm_mutex);
    return wrong ? cm_fail(EINVAL) : 0;
}

/* 0, or an errno when there never was a connection. */
static int close_connection(struct cm_id *id)
{
    switch (id->state) {
    case CM_CONNECTED:
    case CM_ACCEPTED:
    case CM_RESPONDED:
        if (cm_is_datagram(id))
            return 0; /* nobody was connected */
        cm_fill(&id->last, id, CM_DREQ, NULL, 0);
        id->state = CM_CLOSING;
        cm_send(&id->last, &id->peer.service);
        cm_repeat(id, 0);
        return 0;
    case CM_CONNECTING:
    case CM_CLOSING:
    case CM_CLOSED:
        return 0;
    default:
        return EINVAL;
    }
}

/* librdmacm modifies the queue pair first, whatever the connection's state is. */
EXPORT int rdma_disconnect(struct rdma_cm_id *public)
{
    struct cm_id *id = cm_of(public);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    if (!public || !public->verbs)
        return cm_fail(EINVAL);
    int error = public->qp ? ibv_modify_qp(public->qp, &attr, IBV_QP_STATE) : 0;
    if (error)
        return cm_fail(error);
    pthread_mutex_lock(&cm_mutex);
    error = close_connection(id);
    /* DISCONNECTED is on its way, or is there already because the other side was first */
    int wait = id->owns_channel && (id->state == CM_CLOSING || ((struct cm_channel *)public->channel)->first);
    pthread_mutex_unlock(&cm_mutex);
    if (error)
        return cm_fail(error);
    return wait ? cm_wait(public) : 0;
}

/* A program tells that data came before the RTU did: the connection stands. */
EXPORT int rdma_notify(struct rdma_cm_id *public, enum ibv_event_type event)
{
    struct cm_id *id = cm_of(public);
    if (!public)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    if (event == IBV_EVENT_COMM_EST && id->state == CM_ACCEPTED) {
        cm_settle(id);
        id->state = CM_CONNECTED;
        cm_deliver(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
    }
    pthread_mutex_unlock(&cm_mutex);
    return 0;
}
