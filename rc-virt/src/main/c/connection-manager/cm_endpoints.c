/* rdma_create_ep and its kin: addresses by name, and ids that wait for their events by themselves. */
#include "cm.h"
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

static int copy_address(struct sockaddr **to, socklen_t *length, const struct sockaddr *from, socklen_t from_length)
{
    *to = malloc(from_length);
    if (!*to)
        return -1;
    memcpy(*to, from, from_length);
    *length = from_length;
    return 0;
}

static int is_ib_address(const struct rdma_addrinfo *hints)
{
    return hints && hints->ai_family == AF_IB;
}

static struct addrinfo as_addrinfo(const struct rdma_addrinfo *hints)
{
    struct addrinfo wanted = {.ai_family = hints->ai_family,
                              .ai_flags = (hints->ai_flags & RAI_PASSIVE ? AI_PASSIVE : 0) |
                                          (hints->ai_flags & RAI_NUMERICHOST ? AI_NUMERICHOST : 0)};
    if (hints->ai_qp_type)
        wanted.ai_socktype = hints->ai_qp_type == IBV_QPT_UD ? SOCK_DGRAM : SOCK_STREAM;
    if (hints->ai_port_space == RDMA_PS_TCP)
        wanted.ai_protocol = IPPROTO_TCP;
    else if (hints->ai_port_space == RDMA_PS_UDP || hints->ai_port_space == RDMA_PS_IPOIB)
        wanted.ai_protocol = IPPROTO_UDP;
    else if (hints->ai_port_space == RDMA_PS_IB && wanted.ai_socktype)
        wanted.ai_protocol = wanted.ai_socktype == SOCK_DGRAM ? IPPROTO_UDP : IPPROTO_TCP;
    return wanted;
}

/* The first that the name service knows, as librdmacm does. What the hints leave open is that of the address. Of the
 * flags, RAI_PASSIVE alone is an answer. */
static int fill(struct rdma_addrinfo *info, const struct addrinfo *found, const struct rdma_addrinfo *hints)
{
    int datagrams = found->ai_socktype == SOCK_DGRAM;
    info->ai_flags = found->ai_flags & AI_PASSIVE ? RAI_PASSIVE : 0;
    info->ai_family = found->ai_family;
    info->ai_qp_type = hints && hints->ai_qp_type ? hints->ai_qp_type : datagrams ? IBV_QPT_UD : IBV_QPT_RC;
    info->ai_port_space = hints && hints->ai_port_space       ? hints->ai_port_space
                          : found->ai_protocol == IPPROTO_UDP ? RDMA_PS_UDP
                                                              : RDMA_PS_TCP;
    if (info->ai_flags & RAI_PASSIVE)
        return copy_address(&info->ai_src_addr, &info->ai_src_len, found->ai_addr, found->ai_addrlen);
    return copy_address(&info->ai_dst_addr, &info->ai_dst_len, found->ai_addr, found->ai_addrlen);
}

/* Neither a node nor a service: the hints are the answer. */
static int repeat_hints(struct rdma_addrinfo *info, const struct rdma_addrinfo *hints)
{
    info->ai_flags = hints->ai_flags;
    info->ai_family = hints->ai_family;
    info->ai_qp_type = hints->ai_qp_type;
    info->ai_port_space = hints->ai_port_space;
    return hints->ai_dst_len
               ? copy_address(&info->ai_dst_addr, &info->ai_dst_len, hints->ai_dst_addr, hints->ai_dst_len)
               : 0;
}

static int look_up(const char *node, const char *service, const struct rdma_addrinfo *hints, struct rdma_addrinfo *info)
{
    struct addrinfo wanted, *found;
    if (hints)
        wanted = as_addrinfo(hints);
    int error = getaddrinfo(node, service, hints ? &wanted : NULL, &found);
    if (error)
        return error; /* an EAI_ number, as getaddrinfo(3) has it */
    int failed = fill(info, found, hints);
    freeaddrinfo(found);
    return failed ? cm_fail(ENOMEM) : 0;
}

/* rdma_getaddrinfo(3): node, service and hints may each be missing, but not all. */
EXPORT int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                            struct rdma_addrinfo **out)
{
    if (!out || (!node && !service && !hints))
        return cm_fail(EINVAL);
    if (is_ib_address(hints))
        return cm_refuse("rdma_getaddrinfo for addresses of AF_IB", "use IP addresses");
    struct rdma_addrinfo *info = calloc(1, sizeof *info);
    if (!info)
        return cm_fail(ENOMEM);
    int error = node || service ? look_up(node, service, hints, info) : repeat_hints(info, hints);
    if (!error && !info->ai_src_len && hints && hints->ai_src_len)
        error = copy_address(&info->ai_src_addr, &info->ai_src_len, hints->ai_src_addr, hints->ai_src_len);
    if (error) {
        rdma_freeaddrinfo(info);
        return error;
    }
    *out = info;
    return 0;
}

EXPORT void rdma_freeaddrinfo(struct rdma_addrinfo *info)
{
    while (info) {
        struct rdma_addrinfo *next = info->ai_next;
        free(info->ai_src_addr);
        free(info->ai_dst_addr);
        free(info->ai_src_canonname);
        free(info->ai_dst_canonname);
        free(info->ai_route);
        free(info->ai_connect);
        free(info);
        info = next;
    }
}

static int passive(struct rdma_cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd,
                   const struct ibv_qp_init_attr *wanted)
{
    if (rdma_bind_addr(id, info->ai_src_addr))
        return -1;
    if (pd)
        id->pd = pd;
    if (!wanted)
        return 0;
    struct ibv_qp_init_attr *kept = malloc(sizeof *kept);
    if (!kept)
        return -1;
    *kept = *wanted;
    kept->qp_type = id->qp_type;
    cm_of(id)->listen_attributes = kept;
    return 0;
}

static int active(struct rdma_cm_id *id, struct rdma_addrinfo *info, struct ibv_pd *pd, struct ibv_qp_init_attr *wanted)
{
    enum { TIMEOUT_MS = 2000 };
    if (rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, TIMEOUT_MS) || rdma_resolve_route(id, TIMEOUT_MS))
        return -1;
    if (wanted)
        wanted->qp_type = id->qp_type;
    return wanted ? rdma_create_qp(id, pd, wanted) : 0;
}

EXPORT int rdma_create_ep(struct rdma_cm_id **out, struct rdma_addrinfo *info, struct ibv_pd *pd,
                          struct ibv_qp_init_attr *wanted)
{
    struct rdma_cm_id *id;
    if (!out || !info)
        return cm_fail(EINVAL);
    if (cm_create(NULL, &id, NULL, (enum rdma_port_space)info->ai_port_space, (enum ibv_qp_type)info->ai_qp_type))
        return -1;
    int failed = info->ai_flags & RAI_PASSIVE ? passive(id, info, pd, wanted) : active(id, info, pd, wanted);
    if (failed) {
        int error = errno;
        rdma_destroy_ep(id);
        return cm_fail(error);
    }
    *out = id;
    return 0;
}

EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    if (id->srq)
        rdma_destroy_srq(id);
    rdma_destroy_id(id);
}

EXPORT int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **out)
{
    if (!listen || !out || cm_of(listen)->state != CM_LISTENING || !cm_of(listen)->owns_channel)
        return cm_fail(EINVAL);
    if (cm_wait(listen))
        return -1;
    if (listen->event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
        return cm_fail(EINVAL);
    struct rdma_cm_id *id = listen->event->id;
    struct ibv_qp_init_attr *wanted = cm_of(listen)->listen_attributes, attributes;
    if (wanted) {
        attributes = *wanted;
        if (rdma_create_qp(id, listen->pd, &attributes)) {
            int error = errno;
            rdma_ack_cm_event(listen->event);
            listen->event = NULL;
            rdma_destroy_id(id);
            return cm_fail(error);
        }
    }
    id->event = listen->event; /* with the request's private data */
    listen->event = NULL;
    struct rdma_event_channel *own = rdma_create_event_channel();
    if (!own) {
        rdma_destroy_ep(id);
        return -1;
    }
    pthread_mutex_lock(&cm_mutex);
    cm_move_events(cm_of(id), own);
    cm_of(id)->owns_channel = 1;
    pthread_mutex_unlock(&cm_mutex);
    *out = id;
    return 0;
}
