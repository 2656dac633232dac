/* Multicast groups of ids: an IP address stands for a MGID as IPoIB and RoCE have it, and the queue pair is attached
 * when the program takes the event (rdma_join_multicast(3)). Attachments are virtual objects, so a restart makes them
 * again. */
#include "cm.h"
#include "device/verbs_device.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The soft fabric has no subnet manager to give numbers out, and tells groups apart by their MGIDs. On Ethernet there
 * are none. */
enum { GROUP_LID = 0xc000 };

static const struct in6_addr any6 = IN6ADDR_ANY_INIT, loopback6 = IN6ADDR_LOOPBACK_INIT;

/* Any address has the subnet manager choose a group; the kernel's cm counts loopback addresses among them. */
static int is_any(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        uint32_t ip = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
        return !ip || ip >> 24 == 127;
    }
    const struct in6_addr *ip = &((const struct sockaddr_in6 *)address)->sin6_addr;
    return !memcmp(ip, &any6, sizeof any6) || !memcmp(ip, &loopback6, sizeof loopback6);
}

/* RFC 4391, 4: a signature for each family in bytes 2 and 3, the partition key, and the end of the address. rdma_cm's
 * own services have 0x01 in the signature's second byte. */
static void ib_group(const struct sockaddr *address, enum rdma_port_space space, union ibv_gid *gid)
{
    static const uint8_t prefix[6] = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff};
    memset(gid, 0, sizeof *gid);
    memcpy(gid->raw, prefix, sizeof prefix);
    if (address->sa_family == AF_INET) {
        memcpy(gid->raw + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
        gid->raw[12] &= 0x0f;
    } else {
        const uint8_t *ip = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
        if (ip[0] == 0xff && (ip[1] & 0xf0) == 0x10 && ip[2] == 0xa0 && ip[3] == 0x1b) { /* a MGID already */
            memcpy(gid->raw, ip, sizeof *gid);
            return;
        }
        gid->raw[2] = 0x60;
        memcpy(gid->raw + 6, ip + 6, 10);
    }
    if (space == RDMA_PS_UDP)
        gid->raw[3] = 0x01;
}

/* RoCE version 2: the address itself, IPv4 ones among IPv6 ones (RFC 4291, 2.5.5.2). */
static void ethernet_group(const struct sockaddr *address, union ibv_gid *gid)
{
    memset(gid, 0, sizeof *gid);
    if (address->sa_family == AF_INET6) {
        memcpy(gid->raw, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof *gid);
        return;
    }
    gid->raw[10] = gid->raw[11] = 0xff;
    memcpy(gid->raw + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
}

static size_t length_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
           : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                            : 0;
}

static int join(struct cm_id *id, const struct sockaddr *address, int receives, void *context)
{
    int ethernet = cm_link_layer() == IBV_LINK_LAYER_ETHERNET;
    if (!ethernet && !top_is_soft())
        return cm_refuse("rdma_join_multicast on an InfiniBand device",
                         "only the kernel may ask the subnet manager for a group");
    struct cm_group *group = calloc(1, sizeof *group);
    if (!group)
        return cm_fail(ENOMEM);
    memcpy(&group->address, address, length_of(address));
    group->receives = receives;
    group->context = context;
    if (ethernet) {
        ethernet_group(address, &group->gid);
    } else {
        ib_group(address, id->id.ps, &group->gid);
        group->lid = GROUP_LID;
    }
    pthread_mutex_lock(&cm_mutex);
    group->next = id->groups;
    id->groups = group;
    cm_deliver_join(id, group);
    pthread_mutex_unlock(&cm_mutex);
    return id->owns_channel ? cm_wait(&id->id) : 0;
}

static int join_checked(struct rdma_cm_id *public, const struct sockaddr *address, int receives, void *context)
{
    struct cm_id *id = cm_of(public);
    if (!public || !address || !length_of(address) || !cm_is_datagram(id) || !public->verbs ||
        (id->state != CM_BOUND && id->state != CM_RESOLVED))
        return cm_fail(EINVAL);
    if (is_any(address))
        return cm_refuse("rdma_join_multicast of any group", "give a multicast address");
    return join(id, address, receives, context);
}

EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
    return join_checked(id, address, 1, context);
}

EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *wanted, void *context)
{
    const uint32_t both = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    if (!wanted || wanted->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED)
        return cm_fail(wanted ? ENOTSUP : EINVAL);
    if ((wanted->comp_mask & both) != both || wanted->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
        return cm_fail(EINVAL);
    return join_checked(id, wanted->addr, wanted->join_flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
}

int cm_group_joined(struct cm_id *id, const struct cm_group *group)
{
    return id->id.qp && group->receives ? ibv_attach_mcast(id->id.qp, &group->gid, group->lid) : 0;
}

static struct cm_group *unlink_group(struct cm_id *id, const struct sockaddr *address)
{
    struct cm_group **link = &id->groups, *found;
    while (*link && memcmp(&(*link)->address, address, length_of(address)))
        link = &(*link)->next;
    found = *link;
    if (found)
        *link = found->next;
    return found;
}

EXPORT int rdma_leave_multicast(struct rdma_cm_id *public, struct sockaddr *address)
{
    struct cm_id *id = cm_of(public);
    if (!public || !address || !length_of(address))
        return cm_fail(EINVAL);
    pthread_mutex_lock(&cm_mutex);
    struct cm_group *group = unlink_group(id, address);
    if (group)
        cm_forget_group_events(id, group);
    while (group && group->events > 0)
        pthread_cond_wait(&cm_acknowledged, &cm_mutex);
    pthread_mutex_unlock(&cm_mutex);
    if (!group)
        return cm_fail(EADDRNOTAVAIL);
    if (public->qp && group->receives)
        ibv_detach_mcast(public->qp, &group->gid, group->lid); /* fails when the program has not taken the event */
    free(group);
    return 0;
}

void cm_forget_groups(struct cm_id *id)
{
    while (id->groups) {
        struct cm_group *next = id->groups->next;
        free(id->groups);
        id->groups = next;
    }
}
