/* What the kernel lets through to a socket: only what a device would take, from the socket that it says it is from.
 *
 * A datagram names its source by LID and QPN, which are an IPv4 address and a UDP port; nobody else can be bound to
 * those, and only root can send from where he is not bound. So a stranger's datagram either says where it really comes
 * from, or is known by that it does not. The latter, if all else in it is right, comes through as its first
 * SOFT_REFUSED_BYTES bytes, so that it can be counted; from the moment when there were many, it does not come through
 * at all, and takes no room in the socket's buffer. */
#pragma once
#include "soft_config.h"
#include <stdbool.h>
#include <stdint.h>

#define SOFT_REFUSED_BYTES 24u /* less than any header */

struct soft_filter {
    uint32_t magic;
    uint32_t header; /* bytes: nothing shorter passes */
    uint32_t network;
    uint32_t number; /* in the place of the destination's QPN */
    uint32_t qkey;   /* of datagrams */
    uint32_t peer;   /* of a connection: whose packets pass */
    uint16_t peer_lid;
    bool refuses; /* there were too many from another source than they said */
};

/* These return 0 or an errno. */
int soft_filter_datagrams(int fd, const struct soft_filter *filter);
int soft_filter_peer(int fd, const struct soft_filter *filter);
int soft_filter_refuse(int fd); /* nothing passes */
