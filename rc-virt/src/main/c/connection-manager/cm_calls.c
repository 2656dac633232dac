/* Ids from their making to their end, before they are connected: addresses, routes, options. */
#include "cm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* rdma_listen(3): the most that the system allows; net.rdma_ucm.max_backlog of the kernel, if nobody has set it. */
enum { MAX_BACKLOG = 1024 };

static socklen_t address_length(const struct sockaddr *address)
{
    return address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
           : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                            : 0;
}

int cm_create(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context, enum rdma_port_space ps,
              enum ibv_qp_type type)
{
    if (ps == RDMA_PS_IPOIB)
        return cm_refuse("rdma_create_id of RDMA_PS_IPOIB", "no IPoIB interface exists; use RDMA_PS_UDP");
    if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP && ps != RDMA_PS_IB)
        return cm_fail(EINVAL);
    if (!cm_device()) /* as rdma_create_id fails where there is no device */
        return -1;
    struct rdma_event_channel *own = channel ? NULL : rdma_create_event_channel();
    if (!channel && !own)
        return -1;
    struct cm_id *id = cm_make_id(channel ? channel : own, context, ps, type);
    if (!id) {
        if (own)
            rdma_destroy_event_channel(own);
        return cm_fail(ENOMEM);
    }
    id->owns_channel = own != NULL;
    pthread_mutex_lock(&cm_mutex);
    cm_link(id);
    pthread_mutex_unlock(&cm_mutex);
    *out = &id->id;
    return 0;
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **out, void *context,
                          enum rdma_port_space ps)
{
    if (!out)
        return cm_fail(EINVAL);
    return cm_create(channel, out, context, ps, ps == RDMA_PS_IPOIB || ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
}

/* Requests that nobody will take any more are rejected, so that the other side need not wait for its time-out. */
static void end_under_mutex(struct cm_id *id)
{
    if (id->state == CM_REQUESTED) {
        cm_fill(&id->last, id, CM_REJ, NULL, 0);
        id->last.reason = CM_REASON_PROGRAM;
        cm_send(&id->last, &id->peer.service);
        if (id->listener)
            id->listener->pending--;
    } else if (id->state == CM_CONNECTED || id->state == CM_ACCEPTED || id->state == CM_RESPONDED) {
        if (!cm_is_datagram(id)) {
            cm_fill(&id->last, id, CM_DREQ, NULL, 0);
            cm_send(&id->last, &id->peer.service);
        }
    }
    cm_settle(id);
    cm_unlink(id);
    cm_forget_events(id);
    while (id->events > 0)
        pthread_cond_wait(&cm_acknowledged, &cm_mutex);
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *public)
{
    struct cm_id *id = cm_of(public);
    if (!public)
        return cm_fail(EINVAL);
    if (public->event) {
        rdma_ack_cm_event(public->event);
        public->event = NULL;
    }
    cm_release(id);
    pthread_mutex_lock(&cm_mutex);
    end_under_mutex(id);
    pthread_mutex_unlock(&cm_mutex);
    if (id->owns_channel)
        rdma_destroy_event_channel(public->channel);
    cm_forget_groups(id);
    free(id->listen_attributes);
    free(public->route.path_rec);
    free(id);
    return 0;
}

static void take_device(struct cm_id *id)
{
    id->id.verbs = cm_device_if_open();
    id->id.port_num = cm_port();
    id->id.pd = id->id.pd ? id->id.pd : cm_default_pd(); /* rdma_reg_msgs(3) takes it before there is a queue pair */
}

static int is_any(const struct sockaddr *address)
{
    static const struct in6_addr any6;
    return address->sa_family == AF_INET
               ? ((const struct sockaddr_in *)address)->sin_addr.s_addr == 0
               : !memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, &any6, sizeof any6);
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *public, struct sockaddr *address)
{
    struct cm_id *id = cm_of(public);
    if (!public || !address || !address_length(address) || id->state != CM_IDLE)
        return cm_fail(EINVAL);
    if (cm_service_start())
        return -1;
    memcpy(&public->route.addr.src_storage, address, address_length(address));
    if (cm_reserve(id, 0)) {
        int error = errno;
        memset(&public->route.addr.src_storage, 0, sizeof public->route.addr.src_storage);
        return cm_fail(error);
    }
    if (!is_any(address)) /* bound to an address is bound to its device */
        take_device(id);
    id->state = CM_BOUND;
    return 0;
}

/* The address that this machine would use towards the destination: the routing table's answer, with no packet sent. */
static int choose_source(struct rdma_addr *addr)
{
    socklen_t length = address_length(&addr->dst_addr);
    __be16 port = addr->src_sin.sin_port;
    int fd = socket(addr->dst_addr.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return errno;
    struct sockaddr_storage wanted = addr->dst_storage;
    if (!((struct sockaddr_in *)&wanted)->sin_port)
        ((struct sockaddr_in *)&wanted)->sin_port = htons(9); /* connect(2) wants one */
    int error =
        connect(fd, (struct sockaddr *)&wanted, length) || getsockname(fd, &addr->src_addr, &length) ? errno : 0;
    close(fd);
    if (port)
        addr->src_sin.sin_port = port; /* else the socket's, which is free to be taken as any */
    return error;
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *public, struct sockaddr *source, struct sockaddr *destination,
                             int timeout_ms)
{
    struct cm_id *id = cm_of(public);
    if (!public || !destination || !address_length(destination) || (id->state != CM_IDLE && id->state != CM_BOUND))
        return cm_fail(EINVAL);
    if (source && !address_length(source))
        return cm_fail(EINVAL);
    if (id->state == CM_IDLE && source && rdma_bind_addr(public, source))
        return -1;
    if (id->state == CM_BOUND && public->route.addr.src_addr.sa_family != destination->sa_family)
        return cm_fail(EINVAL);
    if (cm_service_start())
        return -1;
    struct rdma_addr *addr = &public->route.addr;
    memcpy(&addr->dst_storage, destination, address_length(destination));
    int error = !addr->src_addr.sa_family || is_any(&addr->src_addr) ? choose_source(addr) : 0;
    pthread_mutex_lock(&cm_mutex);
    if (error) {
        cm_deliver(id, NULL, RDMA_CM_EVENT_ADDR_ERROR, -error, NULL);
    } else {
        take_device(id);
        memcpy(addr->addr.ibaddr.sgid.raw, cm_service_endpoint()->gid, sizeof addr->addr.ibaddr.sgid.raw);
        addr->addr.ibaddr.pkey = htons(0xffff);
        id->state = CM_RESOLVED;
        cm_deliver(id, NULL, RDMA_CM_EVENT_ADDR_RESOLVED, 0, NULL);
    }
    pthread_mutex_unlock(&cm_mutex);
    return id->owns_channel ? cm_wait(public) : 0;
}

/* The subnet is flat: every resolved address has a route. */
EXPORT int rdma_resolve_route(struct rdma_cm_id *public, int timeout_ms)
{
    struct cm_id *id = cm_of(public);
    if (!public || id->state != CM_RESOLVED || public->route.num_paths)
        return cm_fail(EINVAL);
    struct ibv_sa_path_rec *path = calloc(1, sizeof *path);
    if (!path)
        return cm_fail(ENOMEM);
    path->pkey = htons(0xffff);
    path->mtu = (uint8_t)cm_active_mtu();
    path->slid = htons(cm_service_endpoint()->lid);
    memcpy(path->sgid.raw, cm_service_endpoint()->gid, sizeof path->sgid.raw);
    pthread_mutex_lock(&cm_mutex);
    public->route.path_rec = path;
    public->route.num_paths = 1;
    cm_deliver(id, NULL, RDMA_CM_EVENT_ROUTE_RESOLVED, 0, NULL);
    pthread_mutex_unlock(&cm_mutex);
    return id->owns_channel ? cm_wait(public) : 0;
}

EXPORT int rdma_listen(struct rdma_cm_id *public, int backlog)
{
    struct cm_id *id = cm_of(public);
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (!public)
        return cm_fail(EINVAL);
    if (id->state == CM_IDLE && rdma_bind_addr(public, (struct sockaddr *)&any))
        return -1;
    if (id->state != CM_BOUND)
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    id->backlog = backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
    id->state = CM_LISTENING; /* before anyone can find it */
    pthread_mutex_unlock(&cm_mutex);
    if (cm_reserve(id, 1)) {
        int error = errno;
        pthread_mutex_lock(&cm_mutex);
        id->state = CM_BOUND;
        pthread_mutex_unlock(&cm_mutex);
        return cm_fail(error);
    }
    return 0;
}

EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return id->route.addr.src_sin.sin_port;
}

EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return id->route.addr.dst_sin.sin_port;
}

EXPORT struct ibv_context **rdma_get_devices(int *count)
{
    struct ibv_context *context = cm_device();
    struct ibv_context **list = context ? calloc(2, sizeof *list) : NULL;
    if (list)
        list[0] = context;
    if (count)
        *count = list ? 1 : 0;
    return list;
}

EXPORT void rdma_free_devices(struct ibv_context **list)
{
    free(list);
}

EXPORT int rdma_set_option(struct rdma_cm_id *public, int level, int name, void *value, size_t length)
{
    struct cm_id *id = cm_of(public);
    if (!public || !value)
        return cm_fail(EINVAL);
    if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH)
        return cm_refuse("rdma_set_option(RDMA_OPTION_IB)", "use rdma_resolve_route to find paths");
    if (level != RDMA_OPTION_ID)
        return cm_fail(ENOSYS);
    switch (name) {
    case RDMA_OPTION_ID_TOS: /* nothing here has a type of service */
        return length == sizeof(uint8_t) ? 0 : cm_fail(EINVAL);
    case RDMA_OPTION_ID_AFONLY: /* each family has its own ports */
        if (length != sizeof(int) || (id->state != CM_IDLE && id->state != CM_BOUND))
            return cm_fail(EINVAL);
        id->family_only = *(int *)value;
        return 0;
    case RDMA_OPTION_ID_REUSEADDR:
        if (length != sizeof(int) || id->state == CM_LISTENING)
            return cm_fail(EINVAL);
        id->reuse_address = *(int *)value;
        return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT: /* 5 bits of the queue pair's; 0: no time-out (rdma_set_option(3)) */
        if (length != sizeof(uint8_t) || *(uint8_t *)value > 31 ||
            (public->qp_type != IBV_QPT_RC && public->qp_type != IBV_QPT_XRC_SEND))
            return cm_fail(EINVAL);
        id->ack_timeout = *(uint8_t *)value;
        return 0;
    default:
        return cm_fail(ENOSYS);
    }
}

EXPORT int rdma_migrate_id(struct rdma_cm_id *public, struct rdma_event_channel *channel)
{
    struct cm_id *id = cm_of(public);
    if (!public || (id->owns_channel && !channel))
        return cm_fail(EINVAL);
    struct rdma_event_channel *own = channel ? NULL : rdma_create_event_channel(), *old = public->channel;
    if (!channel && !own)
        return -1;
    if (public->event) {
        rdma_ack_cm_event(public->event);
        public->event = NULL;
    }
    pthread_mutex_lock(&cm_mutex);
    int owned = id->owns_channel;
    cm_move_events(id, channel ? channel : own);
    id->owns_channel = own != NULL;
    while (id->events > 0) /* rdma_migrate_id(3): returns when the old channel's are acknowledged */
        pthread_cond_wait(&cm_acknowledged, &cm_mutex);
    pthread_mutex_unlock(&cm_mutex);
    if (owned)
        rdma_destroy_event_channel(old);
    return 0;
}
