/* DiSNI's connection management: rdma_cm ids, their events and queue pairs (rdma_cm(7)). */
#include "disni.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

DISNI(jlong, createEventChannel)(JNIEnv *env, jobject self)
{
    struct rdma_event_channel *channel = rdma_create_event_channel();
    /* not blocking: a wait with a limit may find that another thread took the event */
    if (channel && fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK)) {
        int error = errno;
        rdma_destroy_event_channel(channel);
        channel = NULL;
        errno = error;
    }
    return disni_new(env, channel, "rdma_create_event_channel");
}

DISNI(jint, destroyEventChannel)(JNIEnv *env, jobject self, jlong channel)
{
    if (!disni_is(env, channel, "rdma_destroy_event_channel", "event channel"))
        return -1;
    rdma_destroy_event_channel(disni_object(channel));
    return 0;
}

DISNI(jlong, createId)(JNIEnv *env, jobject self, jlong channel, jshort port_space)
{
    struct rdma_cm_id *id = NULL;
    if (!disni_is(env, channel, "rdma_create_id", "event channel"))
        return -1;
    if (rdma_create_id(disni_object(channel), &id, NULL, (enum rdma_port_space)(uint16_t)port_space))
        id = NULL;
    return disni_new(env, id, "rdma_create_id");
}

DISNI(jint, destroyCmId)(JNIEnv *env, jobject self, jlong id)
{
    return disni_is(env, id, "rdma_destroy_id", "cm id") ? rdma_destroy_id(disni_object(id)) : -1;
}

DISNI(jint, destroyEp)(JNIEnv *env, jobject self, jlong id)
{
    if (!disni_is(env, id, "rdma_destroy_ep", "cm id"))
        return -1;
    rdma_destroy_ep(disni_object(id));
    return 0;
}

DISNI(jlong, createQP)
(JNIEnv *env, jobject self, jlong id, jlong pd, jlong send_cq, jlong receive_cq, jint type, jint send_wrs,
 jint receive_wrs, jint inline_bytes)
{
    static const char what[] = "rdma_create_qp";
    struct ibv_qp_init_attr attributes = {.send_cq = disni_object(send_cq),
                                          .recv_cq = disni_object(receive_cq),
                                          .qp_type = (enum ibv_qp_type)type,
                                          .cap = {.max_send_wr = (uint32_t)send_wrs,
                                                  .max_recv_wr = (uint32_t)receive_wrs,
                                                  .max_send_sge = DISNI_SEND_SGES,
                                                  .max_recv_sge = DISNI_SEND_SGES,
                                                  .max_inline_data = (uint32_t)inline_bytes}};
    if (!disni_is(env, id, what, "cm id") || !disni_is(env, pd, what, "protection domain") ||
        !disni_is(env, send_cq, what, "send CQ") || !disni_is(env, receive_cq, what, "receive CQ"))
        return -1;
    struct rdma_cm_id *cm = disni_object(id);
    return disni_new(env, rdma_create_qp(cm, disni_object(pd), &attributes) ? NULL : cm->qp, what);
}

/* The argument is a cm id, not a queue pair, as DiSNI calls it. */
DISNI(jint, destroyQP)(JNIEnv *env, jobject self, jlong id)
{
    if (!disni_is(env, id, "rdma_destroy_qp", "cm id"))
        return -1;
    struct rdma_cm_id *cm = disni_object(id);
    if (!cm->qp)
        return -1;
    rdma_destroy_qp(cm);
    return 0;
}

DISNI(void, bindAddr)(JNIEnv *env, jobject self, jlong id, jlong address)
{
    if (disni_is(env, id, "rdma_bind_addr", "cm id") && rdma_bind_addr(disni_object(id), disni_object(address)))
        disni_throw(env, "rdma_bind_addr", errno);
}

DISNI(void, listen)(JNIEnv *env, jobject self, jlong id, jint backlog)
{
    if (disni_is(env, id, "rdma_listen", "cm id") && rdma_listen(disni_object(id), backlog))
        disni_throw(env, "rdma_listen", errno);
}

/* DiSNI hands an address of port 0 over as "no source": rdma_resolve_addr(3) takes NULL for that. */
DISNI(void, resolveAddr)(JNIEnv *env, jobject self, jlong id, jlong source, jlong destination, jint timeout_ms)
{
    static const char what[] = "rdma_resolve_addr";
    if (!disni_is(env, id, what, "cm id") || !disni_is(env, destination, what, "destination"))
        return;
    if (rdma_resolve_addr(disni_object(id), NULL, disni_object(destination), timeout_ms))
        disni_throw(env, what, errno);
}

DISNI(void, resolveRoute)(JNIEnv *env, jobject self, jlong id, jint timeout_ms)
{
    if (disni_is(env, id, "rdma_resolve_route", "cm id") && rdma_resolve_route(disni_object(id), timeout_ms))
        disni_throw(env, "rdma_resolve_route", errno);
}

/* Both sides offer as many outstanding reads as the device has; rdma_connect(3) takes the smaller of the two. */
static int connection(JNIEnv *env, struct rdma_cm_id *id, jint retry, jint rnr_retry,
                      struct rdma_conn_param *parameters)
{
    struct ibv_device_attr device;
    int error = id->verbs ? ibv_query_device(id->verbs, &device) : ENODEV;
    if (error) {
        disni_throw(env, "ibv_query_device of a cm id", error);
        return error;
    }
    int depth = device.max_qp_rd_atom < 255 ? device.max_qp_rd_atom : 255;
    *parameters = (struct rdma_conn_param){.responder_resources = (uint8_t)depth,
                                           .initiator_depth = (uint8_t)depth,
                                           .retry_count = (uint8_t)retry,
                                           .rnr_retry_count = (uint8_t)rnr_retry};
    return 0;
}

DISNI(void, connect)(JNIEnv *env, jobject self, jlong id, jint retry, jint rnr_retry, jlong private_data, jbyte length)
{
    struct rdma_conn_param parameters;
    if (!disni_is(env, id, "rdma_connect", "cm id") || connection(env, disni_object(id), retry, rnr_retry, &parameters))
        return;
    parameters.private_data = disni_object(private_data);
    parameters.private_data_len = (uint8_t)length;
    if (rdma_connect(disni_object(id), &parameters))
        disni_throw(env, "rdma_connect", errno);
}

DISNI(void, accept)(JNIEnv *env, jobject self, jlong id, jint retry, jint rnr_retry)
{
    struct rdma_conn_param parameters;
    if (!disni_is(env, id, "rdma_accept", "cm id") || connection(env, disni_object(id), retry, rnr_retry, &parameters))
        return;
    if (rdma_accept(disni_object(id), &parameters))
        disni_throw(env, "rdma_accept", errno);
}

DISNI(jint, disconnect)(JNIEnv *env, jobject self, jlong id)
{
    return disni_is(env, id, "rdma_disconnect", "cm id") ? rdma_disconnect(disni_object(id)) : -1;
}

/* The next event's type, and its ids (or -1) at the two addresses; -1 when none came in time. It is acknowledged here,
 * since _ackCmEvent gets nothing that names it. */
DISNI(jint, getCmEvent)(JNIEnv *env, jobject self, jlong channel, jlong listen_id, jlong client_id, jint timeout_ms)
{
    struct rdma_cm_event *event;
    if (!disni_is(env, channel, "rdma_get_cm_event", "event channel"))
        return -1;
    struct rdma_event_channel *events = disni_object(channel);
    if (disni_await(events->fd, timeout_ms) <= 0 || rdma_get_cm_event(events, &event))
        return -1;
    *(jlong *)disni_object(listen_id) = event->listen_id ? (jlong)(intptr_t)event->listen_id : -1;
    *(jlong *)disni_object(client_id) = event->id ? (jlong)(intptr_t)event->id : -1;
    jint type = (jint)event->event;
    rdma_ack_cm_event(event);
    return type;
}

DISNI(jint, ackCmEvent)(JNIEnv *env, jobject self, jint event)
{
    return 0; /* see _getCmEvent */
}

/* DiSNI reads a sockaddr_in; librdmacm keeps room for any family. */
static jint copy_address(JNIEnv *env, const char *what, jlong id, jlong address, int peer)
{
    if (!disni_is(env, id, what, "cm id"))
        return -1;
    struct sockaddr *known = peer ? rdma_get_peer_addr(disni_object(id)) : rdma_get_local_addr(disni_object(id));
    memcpy(disni_object(address), known, sizeof(struct sockaddr_in));
    return 0;
}

DISNI(jint, getSrcAddr)(JNIEnv *env, jobject self, jlong id, jlong address)
{
    return copy_address(env, "rdma_get_local_addr", id, address, 0);
}

DISNI(jint, getDstAddr)(JNIEnv *env, jobject self, jlong id, jlong address)
{
    return copy_address(env, "rdma_get_peer_addr", id, address, 1);
}

/* -1: the id is not bound to a device yet. */
DISNI(jlong, getContext)(JNIEnv *env, jobject self, jlong id)
{
    if (!disni_is(env, id, "the context of a cm id", "cm id"))
        return -1;
    struct rdma_cm_id *cm = disni_object(id);
    return cm->verbs ? (jlong)(intptr_t)cm->verbs : -1;
}
