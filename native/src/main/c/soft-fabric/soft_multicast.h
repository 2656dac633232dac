/* Multicast groups. On the wire a group is an IPv4 multicast address and a port, and a number in the place of the QPN:
 * 69 bits that are made of MGID and MLID by a hash. Each attachment has a socket of its own. */
#pragma once
#include "soft_types.h"

#define SOFT_MULTICAST_QPN 0xffffffu

struct soft_group {
    struct soft_object object;
    struct soft_qp *qp;
    union ibv_gid gid;
    uint16_t lid;
    int socket;
    bool armed; /* guarded by the queue pair's recv_cq->receive_lock */
    struct soft_group *next;
};

/* Where a group's datagrams go. */
struct soft_group_address {
    struct sockaddr_in to;
    uint32_t number;
};
/* The part of a datagram that says so. */
__attribute__((cold)) void soft_address_group(const struct soft_ah *ah, uint32_t qpn, struct sockaddr_in *to,
                                              struct soft_wire *header);
struct soft_group_address soft_group_address(uint32_t network, const union ibv_gid *gid, uint16_t lid);

static inline bool soft_is_multicast(const union ibv_gid *gid, uint16_t lid)
{
    return gid->raw[0] == 0xff && lid >= 0xc000 && lid != 0xffff; /* InfiniBand Architecture 1.2.1, 4.1.1 and 4.1.3 */
}

int soft_attach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
int soft_detach_mcast(struct ibv_qp *, const union ibv_gid *, uint16_t lid);
/* As soft_socket_accept and soft_socket_refuse, for all groups of the queue pair. */
int soft_multicast_accept(struct soft_qp *qp);
int soft_multicast_refuse(struct soft_qp *qp);
