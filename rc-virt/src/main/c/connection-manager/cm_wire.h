/* A message of connection management: one UD datagram between two service queue pairs. Both ends are builds of one
 * library (the agent checks), so it is a plain struct in the byte order of the machine. */
#pragma once
#include <netinet/in.h>
#include <stdint.h>

#define CM_MAGIC 0x55434d31u
#define CM_QKEY 0x55434d00u
#define CM_PRIVATE_MAX 196 /* the largest of cm_private_size() */

enum cm_kind {
    CM_REQ = 1, /* active side: connect */
    CM_MRA,     /* received, the program has not decided yet; reason: milliseconds until it is worth asking again */
    CM_REP,     /* passive side: accepted */
    CM_RTU,     /* active side: ready */
    CM_REJ,
    CM_DREQ, /* either side: disconnect */
    CM_DREP,
    CM_SIDR_REQ, /* UD: where is it? */
    CM_SIDR_REP,
};

/* Reasons of a REJ: InfiniBand specification volume 1, 12.6.7.2; a program gets them as the event's status. */
enum { CM_REASON_NO_SERVICE = 8, CM_REASON_STALE = 10, CM_REASON_PROGRAM = 28 };

/* What refuses a SIDR_REQ has a status instead: table 123 of the specification. */
enum { CM_SIDR_NO_SERVICE = 1, CM_SIDR_REJECTED = 2 };

/* The room for private data in each message of the InfiniBand CM (specification volume 1, 12.6 and 12.11). In a request
 * rdma_cm has 36 bytes of it for IP addresses (annex A11). A program may fill it, and gets all of it, zeroes after what
 * was sent. */
static inline uint8_t cm_private_size(enum cm_kind kind, int is_datagram)
{
    enum { IP_ADDRESSES = 36 };
    switch (kind) {
    case CM_REQ:
        return 92 - IP_ADDRESSES;
    case CM_REP:
        return 196;
    case CM_REJ:
        return is_datagram ? 136 : 148; /* a SIDR_REP that says no */
    case CM_SIDR_REQ:
        return 216 - IP_ADDRESSES;
    case CM_SIDR_REP:
        return 136;
    case CM_MRA:
    case CM_RTU:
    case CM_DREQ:
    case CM_DREP:
        break;
    }
    return 0; /* rdma_cm offers none there */
}

struct cm_endpoint {
    uint32_t qpn;
    uint16_t lid;
    uint16_t reserved;
    uint8_t gid[16];
};

struct cm_message {
    uint32_t magic;
    uint16_t kind;
    uint16_t private_length;
    uint64_t connection;        /* the sender's */
    uint64_t peer_connection;   /* the receiver's, or 0 in a REQ */
    struct cm_endpoint service; /* the sender's service queue pair: where answers go */
    struct cm_endpoint data;    /* the sender's data queue pair */
    uint32_t psn, qkey;
    uint32_t port_space;
    uint32_t reason;
    uint8_t responder_resources, initiator_depth, flow_control, retry_count, rnr_retry_count, srq, mtu, reserved;
    struct sockaddr_in6 source, destination; /* sockaddr_in when its family says so */
    uint8_t private_data[CM_PRIVATE_MAX];
};
