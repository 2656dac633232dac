#include "soft_multicast.h"
#include "soft_channel.h"
#include "soft_filter.h"
#include "soft_objects.h"
#include "soft_receive.h"
#include "soft_socket.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GROUPS_NETWORK 0xef000000u /* 239.0.0.0/8, of local scope: RFC 2365 */
#define FIRST_PORT 2048u
#define PORTS 60000u

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

struct soft_group_address soft_group_address(uint32_t network, const union ibv_gid *gid, uint16_t lid)
{
    uint64_t high, low;
    memcpy(&high, gid->raw, sizeof high);
    memcpy(&low, gid->raw + sizeof high, sizeof low);
    uint64_t place = mix(high ^ mix(low ^ mix((uint64_t)network << 16 | lid))),
             name = mix(place ^ 0x9e3779b97f4a7c15ull ^ low);
    return (struct soft_group_address){
        .to = {.sin_family = AF_INET,
               .sin_port = htons((uint16_t)(FIRST_PORT + (place >> 24) % PORTS)),
               .sin_addr.s_addr = htonl(GROUPS_NETWORK | (uint32_t)(place & 0xffffff))},
        .number = (uint32_t)name,
    };
}

void soft_address_group(const struct soft_ah *ah, uint32_t qpn, struct sockaddr_in *to, struct soft_wire *header)
{
    struct soft_group_address group =
        soft_group_address(soft_context_of(ah->base.context)->config.network, &ah->attr.grh.dgid, ah->attr.dlid);
    *to = group.to;
    header->destination_qpn = htonl(group.number);
    if (qpn != SOFT_MULTICAST_QPN)
        to->sin_port = 0; /* no member answers to another number */
}

/* A socket that only this group's datagrams reach: it is bound to the group's address, which others may be bound to as
 * well. */
static int open_socket(const struct soft_config *config, uint16_t lid, const struct soft_group_address *group)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, zero = 0;
    struct ip_mreqn membership = {.imr_multiaddr = group->to.sin_addr,
                                  .imr_address.s_addr = soft_host(config->network, lid)};
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) ||
                    bind(fd, (const struct sockaddr *)&group->to, sizeof group->to) ||
                    setsockopt(fd, IPPROTO_IP, IP_MULTICAST_ALL, &zero, sizeof zero) ||
                    setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership))) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    if (fd >= 0)
        soft_socket_enlarge(fd);
    return fd;
}

static struct soft_group **find(struct soft_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    struct soft_group **at = &qp->groups;
    while (*at && ((*at)->lid != lid || memcmp(&(*at)->gid, gid, sizeof *gid)))
        at = &(*at)->next;
    return at;
}

static int accept_group(struct soft_qp *qp, const struct soft_group *group)
{
    uint32_t network = soft_context_of(qp->base.context)->config.network;
    return soft_socket_accept_number(qp, group->socket, soft_group_address(network, &group->gid, group->lid).number);
}

int soft_multicast_accept(struct soft_qp *qp)
{
    int error = 0;
    for (struct soft_group *group = qp->groups; group && !error; group = group->next)
        error = accept_group(qp, group);
    return error;
}

int soft_multicast_refuse(struct soft_qp *qp)
{
    int error = 0;
    for (struct soft_group *group = qp->groups; group && !error; group = group->next)
        error = soft_filter_refuse(group->socket);
    return error;
}

static int open_group(struct soft_qp *qp, struct soft_group *group)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    struct soft_group_address address = soft_group_address(config->network, &group->gid, group->lid);
    group->socket = open_socket(config, qp->lid, &address);
    if (group->socket < 0)
        return errno;
    int error = atomic_load(&qp->receives) ? accept_group(qp, group) : soft_filter_refuse(group->socket);
    if (!error && qp->recv_cq->base.channel)
        error = soft_channel_watch_group(soft_channel_of(qp->recv_cq->base.channel), group);
    if (error)
        close(group->socket);
    return error;
}

/* A thread that receives holds one of these locks, or both. */
static void lock_receiving(struct soft_qp *qp)
{
    soft_lock(&qp->recv_cq->receive_lock);
    soft_lock(&qp->rq->lock);
}

static void unlock_receiving(struct soft_qp *qp)
{
    soft_unlock(&qp->rq->lock);
    soft_unlock(&qp->recv_cq->receive_lock);
}

static int attach(struct soft_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    if (*find(qp, gid, lid))
        return 0; /* ibv_attach_mcast(3): once is enough */
    struct soft_group *group = calloc(1, sizeof *group);
    if (!group)
        return ENOMEM;
    group->qp = qp;
    group->gid = *gid;
    group->lid = lid;
    int error = open_group(qp, group);
    if (error) {
        free(group);
        return error;
    }
    lock_receiving(qp);
    group->next = qp->groups;
    qp->groups = group;
    __atomic_store_n(&qp->receive, qp->receive_grouped, __ATOMIC_RELEASE);
    unlock_receiving(qp);
    soft_add(soft_context_of(qp->base.context), &group->object, SOFT_GROUP);
    if (qp->recv_cq->base.channel)
        soft_channel_rearm(qp->recv_cq);
    return 0;
}

int soft_attach_mcast(struct ibv_qp *base, const union ibv_gid *gid, uint16_t lid)
{
    if (base->qp_type != IBV_QPT_UD || !soft_is_multicast(gid, lid))
        return EINVAL;
    pthread_mutex_lock(&base->mutex);
    int error = attach(soft_qp_of(base), gid, lid);
    pthread_mutex_unlock(&base->mutex);
    return error;
}

int soft_detach_mcast(struct ibv_qp *base, const union ibv_gid *gid, uint16_t lid)
{
    struct soft_qp *qp = soft_qp_of(base);
    pthread_mutex_lock(&base->mutex);
    lock_receiving(qp);
    struct soft_group **at = find(qp, gid, lid), *group = *at;
    if (group)
        *at = group->next;
    unlock_receiving(qp);
    pthread_mutex_unlock(&base->mutex);
    if (!group)
        return EINVAL;
    soft_remove(soft_context_of(base->context), &group->object);
    close(group->socket);
    free(group);
    return 0;
}
