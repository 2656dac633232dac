/* What each message does to the id that it is for. Any of them may come twice, late or never. */
#include "cm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After an MRA, whose reason this is: the other side has heard us. Its program thinks, or has too many to think of, and
 * may have room soon. */
enum { PATIENT_MS = 5000, SOON_MS = 1000 };

static void answer(const struct cm_message *to, uint64_t connection, enum cm_kind kind, uint32_t reason)
{
    struct cm_message message = {.magic = CM_MAGIC,
                                 .kind = (uint16_t)kind,
                                 .connection = connection,
                                 .peer_connection = to->connection,
                                 .service = *cm_service_endpoint(),
                                 .port_space = to->port_space,
                                 .reason = reason};
    cm_send(&message, &to->service);
}

static void take_addresses(struct cm_id *id, const struct cm_message *request)
{
    memcpy(&id->id.route.addr.src_storage, &request->destination, sizeof request->destination);
    memcpy(&id->id.route.addr.dst_storage, &request->source, sizeof request->source);
}

/* The event's status: the reason of a rejection, or the status that a SIDR_REP has for it. */
static int status_of(const struct cm_id *id, const struct cm_message *rejection)
{
    if (!cm_is_datagram(id))
        return (int)rejection->reason;
    return rejection->reason == CM_REASON_NO_SERVICE ? CM_SIDR_NO_SERVICE : CM_SIDR_REJECTED;
}

static void new_request(const struct cm_message *request)
{
    struct cm_id *listener = cm_find_listener(request);
    if (!listener && cm_may_listen_soon(request))
        return; /* it was found while the last one was there; it asks again */
    if (!listener) {
        answer(request, 0, CM_REJ, CM_REASON_NO_SERVICE);
        return;
    }
    if (listener->pending >= listener->backlog) { /* the requester asks again, for as long as there is a listener */
        answer(request, 0, CM_MRA, SOON_MS);
        return;
    }
    struct cm_id *id = cm_make_id(listener->id.channel, listener->id.context, listener->id.ps, listener->id.qp_type);
    if (!id)
        return;
    id->id.verbs = cm_device_if_open();
    id->id.port_num = cm_port();
    id->id.pd = listener->id.pd ? listener->id.pd : cm_default_pd();
    id->listener = listener;
    id->peer = (struct cm_peer){.connection = request->connection, .service = request->service};
    id->request = *request;
    id->state = CM_REQUESTED;
    take_addresses(id, request);
    cm_link(id);
    listener->pending++;
    answer(request, id->connection, CM_MRA, PATIENT_MS);
    cm_deliver(id, listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, request);
}

static void requested(const struct cm_message *request)
{
    struct cm_id *id = cm_find_peer(request->connection, &request->service);
    if (!id)
        new_request(request);
    else if (id->state == CM_REQUESTED)
        answer(request, id->connection, CM_MRA, PATIENT_MS);
    else if (id->state == CM_ACCEPTED || id->last.kind == CM_REJ || id->last.kind == CM_SIDR_REP)
        cm_send(&id->last, &request->service);
}

/* A service that says no is unreachable, a connection rejected: rdma_get_cm_event(3). */
void cm_rejected(struct cm_id *id, const struct cm_message *message)
{
    if (id->state != CM_CONNECTING && id->state != CM_ACCEPTED && id->state != CM_RESPONDED)
        return;
    cm_settle(id);
    id->state = id->state == CM_CONNECTING ? CM_RESOLVED : CM_CLOSED;
    enum rdma_cm_event_type told = cm_is_datagram(id) ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_REJECTED;
    cm_deliver(id, NULL, told, status_of(id, message), message);
}

static void send_ready(struct cm_id *id)
{
    struct cm_message ready;
    cm_fill(&ready, id, CM_RTU, NULL, 0);
    cm_send(&ready, &id->peer.service);
}

static void replied(struct cm_id *id, const struct cm_message *reply)
{
    if (id->state == CM_CONNECTED) { /* the RTU got lost */
        send_ready(id);
        return;
    }
    if (id->state == CM_RESPONDED)
        answer(reply, id->connection, CM_MRA, SOON_MS);
    if (id->state != CM_CONNECTING)
        return;
    cm_settle(id);
    id->peer.connection = reply->connection;
    id->request = *reply;
    id->parameters.responder_resources = reply->initiator_depth;
    id->parameters.initiator_depth = reply->responder_resources;
    id->rnr_retry_count = reply->rnr_retry_count; /* rdma_accept(3): for the sends of the other side */
    if (!id->id.qp) {
        id->state = CM_RESPONDED;
        answer(reply, id->connection, CM_MRA, SOON_MS);
        cm_deliver(id, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, 0, reply);
        return;
    }
    int error = cm_qp_connect(id);
    if (error) {
        id->state = CM_CLOSED;
        cm_fill(&id->last, id, CM_REJ, NULL, 0);
        id->last.reason = CM_REASON_PROGRAM;
        cm_send(&id->last, &id->peer.service);
        cm_deliver(id, NULL, RDMA_CM_EVENT_CONNECT_ERROR, -error, reply);
        return;
    }
    id->state = CM_CONNECTED;
    send_ready(id);
    cm_deliver(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, reply);
}

static void found(struct cm_id *id, const struct cm_message *reply)
{
    if (id->state != CM_CONNECTING)
        return;
    cm_settle(id);
    id->peer.connection = reply->connection;
    id->state = CM_CONNECTED;
    cm_deliver(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, reply);
}

static void disconnected(struct cm_id *id, const struct cm_message *message)
{
    answer(message, id->connection, CM_DREP, 0);
    if (id->state != CM_CONNECTED && id->state != CM_ACCEPTED && id->state != CM_RESPONDED && id->state != CM_CLOSING)
        return;
    cm_settle(id);
    id->state = CM_CLOSED;
    cm_deliver(id, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
}

static void of_connection(struct cm_id *id, const struct cm_message *message)
{
    switch ((enum cm_kind)message->kind) {
    case CM_MRA:
        if (id->state == CM_CONNECTING || id->state == CM_ACCEPTED)
            cm_repeat(id, message->reason < PATIENT_MS ? message->reason : PATIENT_MS);
        break;
    case CM_REP:
        replied(id, message);
        break;
    case CM_RTU:
        if (id->state == CM_ACCEPTED) {
            cm_settle(id);
            id->state = CM_CONNECTED;
            cm_deliver(id, NULL, RDMA_CM_EVENT_ESTABLISHED, 0, NULL);
        }
        break;
    case CM_REJ:
        cm_rejected(id, message);
        break;
    case CM_DREQ:
        disconnected(id, message);
        break;
    case CM_DREP:
        if (id->state == CM_CLOSING) {
            cm_settle(id);
            id->state = CM_CLOSED;
            cm_deliver(id, NULL, RDMA_CM_EVENT_DISCONNECTED, 0, NULL);
        }
        break;
    case CM_SIDR_REP:
        found(id, message);
        break;
    case CM_REQ:
    case CM_SIDR_REQ:
        break;
    }
}

void cm_received(const struct cm_message *message)
{
    if (message->kind == CM_REQ || message->kind == CM_SIDR_REQ) {
        requested(message);
        return;
    }
    struct cm_id *id = cm_find(message->peer_connection);
    if (id)
        of_connection(id, message);
    else if (message->kind == CM_DREQ) /* destroyed here already: the other side need not wait */
        answer(message, 0, CM_DREP, 0);
    else if (message->kind == CM_REP)
        answer(message, 0, CM_REJ, CM_REASON_STALE);
}
