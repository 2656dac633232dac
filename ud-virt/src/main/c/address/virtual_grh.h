/* The 40 bytes before a UD message: a GRH, or on RoCE version 2 over IPv4 twenty undefined bytes and the IPv4 header
 * (InfiniBand specification volume 1, annex A17.4.5.2). Which form it is follows from the GIDs. */
#pragma once
#include "virtual.h"

enum { GRH_BYTES = 40 };

/* The sender's GID as the device has written it into the receive buffers. */
union ibv_gid virtual_grh_source(const struct ibv_sge *sges, uint32_t pieces);

/* What the 40 bytes in one piece say of the way back. */
struct grh_way {
    union ibv_gid source, destination; /* IPv4 ones mapped (RFC 4291 2.5.5.2) */
    int version2;                      /* of RoCE, since it is over IPv4 or UDP */
    uint8_t class;
    uint32_t flow;
};
/* ethernet: the port's link, where there may be an IPv4 header. */
struct grh_way virtual_grh_read(const void *grh, int ethernet);

/* Writes it anew between these two (a multicast destination stays), for a message of so many bytes (without the 40);
 * traffic class and flow stay. */
void virtual_write_grh(const struct ibv_sge *sges, uint32_t pieces, const union ibv_gid *source,
                       const union ibv_gid *destination, uint32_t bytes);
