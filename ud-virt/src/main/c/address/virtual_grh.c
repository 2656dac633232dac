#include "virtual_grh.h"
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <string.h>

enum {
    IPV4_AT = 20,
    MAPPED_AT = 12,
    NEXT_IS_BASE_TRANSPORT = 0x1b,
    UDP_HEADERS = 8 + 12 + 8 /* UDP, BTH, DETH */,
    CRC = 4
};

static const uint8_t mapped_prefix[MAPPED_AT] = {[10] = 0xff, [11] = 0xff};

/* 0xff as InfiniBand and IPv6 have it, or the mapped form of 224.0.0.0/4 (RoCE version 2 over IPv4). */
int virtual_is_multicast(const union ibv_gid *gid)
{
    return gid->raw[0] == 0xff || (!memcmp(gid->raw, mapped_prefix, MAPPED_AT) && gid->raw[MAPPED_AT] >> 4 == 0xe);
}

/* The 40 bytes lie in whatever pieces the job posted (verbs, ibv_post_recv(3)). */
static void gather(const struct ibv_sge *sges, uint32_t pieces, uint8_t *grh)
{
    uint32_t have = 0;
    for (uint32_t i = 0; i < pieces && have < GRH_BYTES; i++) {
        uint32_t part = sges[i].length < GRH_BYTES - have ? sges[i].length : GRH_BYTES - have;
        memcpy(grh + have, (const void *)(uintptr_t)sges[i].addr, part);
        have += part;
    }
}

static void scatter(const struct ibv_sge *sges, uint32_t pieces, const uint8_t *grh)
{
    uint32_t done = 0;
    for (uint32_t i = 0; i < pieces && done < GRH_BYTES; i++) {
        uint32_t part = sges[i].length < GRH_BYTES - done ? sges[i].length : GRH_BYTES - done;
        memcpy((void *)(uintptr_t)sges[i].addr, grh + done, part);
        done += part;
    }
}

/* RFC 1071. */
static uint16_t checksum(const uint8_t *header)
{
    uint32_t sum = 0;
    for (unsigned i = 0; i < sizeof(struct iphdr); i += 2)
        sum += (uint32_t)(header[i] << 8 | header[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

/* Where the first byte is that of an IPv6 header it may be one, or lie in the twenty undefined bytes: the checksum
 * tells. Elsewhere it does not have to be right, for rdma_rxe leaves it out when a device talks to itself. */
static int is_ipv4(const uint8_t *grh)
{
    if (grh[IPV4_AT] != 0x45)
        return 0;
    return grh[0] >> 4 != 6 || checksum(grh + IPV4_AT) == 0;
}

/* One of its two addresses: `ipv4` and `global` are their places in the two forms. */
static union ibv_gid address(const uint8_t *grh, size_t ipv4, size_t global)
{
    union ibv_gid gid;
    if (is_ipv4(grh)) {
        memcpy(gid.raw, mapped_prefix, MAPPED_AT);
        memcpy(gid.raw + MAPPED_AT, grh + IPV4_AT + ipv4, 4);
    } else {
        memcpy(gid.raw, grh + global, sizeof gid);
    }
    return gid;
}

union ibv_gid virtual_grh_source(const struct ibv_sge *sges, uint32_t pieces)
{
    uint8_t grh[GRH_BYTES] = {0};
    gather(sges, pieces, grh);
    return address(grh, offsetof(struct iphdr, saddr), offsetof(struct ip6_hdr, ip6_src));
}

struct grh_way virtual_grh_read(const void *bytes, int ethernet)
{
    const uint8_t *grh = bytes;
    struct ibv_grh global;
    memcpy(&global, grh, sizeof global);
    uint32_t word = ntohl(global.version_tclass_flow);
    if (!ethernet || !is_ipv4(grh))
        return (struct grh_way){global.sgid, global.dgid, ethernet && global.next_hdr == IPPROTO_UDP,
                                (uint8_t)(word >> 20), word & 0xfffff};
    return (struct grh_way){.source = address(grh, offsetof(struct iphdr, saddr), 0),
                            .destination = address(grh, offsetof(struct iphdr, daddr), 0),
                            .version2 = 1,
                            .class = grh[IPV4_AT + offsetof(struct iphdr, tos)]};
}

static void form_ipv4(uint8_t *grh, uint8_t class, const uint8_t *source, const uint8_t *destination, uint32_t bytes)
{
    struct iphdr header = {
        .ihl = 5, .version = 4, .tos = class, .frag_off = htons(IP_DF), .ttl = 64, .protocol = IPPROTO_UDP};
    header.tot_len = htons((uint16_t)(sizeof header + UDP_HEADERS + bytes + CRC));
    memcpy(&header.saddr, source, sizeof header.saddr);
    memcpy(&header.daddr, destination, sizeof header.daddr);
    header.check = htons(checksum((const uint8_t *)&header));
    memset(grh, 0, IPV4_AT);
    memcpy(grh + IPV4_AT, &header, sizeof header);
}

static void form_global(uint8_t *grh, uint8_t class, const union ibv_gid *source, const union ibv_gid *destination,
                        uint32_t bytes)
{
    struct ibv_grh header = {.version_tclass_flow = htonl(6u << 28 | (uint32_t) class << 20),
                             .next_hdr = NEXT_IS_BASE_TRANSPORT,
                             .hop_limit = 64,
                             .paylen = htons((uint16_t)(UDP_HEADERS - 8 + bytes + CRC)),
                             .sgid = *source,
                             .dgid = *destination};
    memcpy(grh, &header, sizeof header);
}

void virtual_write_grh(const struct ibv_sge *sges, uint32_t pieces, const union ibv_gid *source,
                       const union ibv_gid *destination, uint32_t bytes)
{
    uint8_t grh[GRH_BYTES] = {0};
    gather(sges, pieces, grh);
    union ibv_gid sent_to = address(grh, offsetof(struct iphdr, daddr), offsetof(struct ip6_hdr, ip6_dst));
    if (virtual_is_multicast(&sent_to))
        destination = &sent_to; /* a group has one address for everybody */
    int was_ipv4 = is_ipv4(grh);
    int to_ipv4 = !memcmp(source->raw, mapped_prefix, MAPPED_AT) && !memcmp(destination->raw, mapped_prefix, MAPPED_AT);
    if (!was_ipv4 && !to_ipv4) { /* the usual case of InfiniBand: only the addresses change */
        memcpy(grh + offsetof(struct ibv_grh, sgid), source, sizeof *source);
        memcpy(grh + offsetof(struct ibv_grh, dgid), destination, sizeof *destination);
    } else {
        uint8_t class = was_ipv4 ? grh[IPV4_AT + 1] : (uint8_t)(grh[0] << 4 | grh[1] >> 4);
        if (to_ipv4)
            form_ipv4(grh, class, source->raw + MAPPED_AT, destination->raw + MAPPED_AT, bytes);
        else
            form_global(grh, class, source, destination, bytes);
    }
    scatter(sges, pieces, grh);
}
