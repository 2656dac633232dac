/* ibv_init_ah_from_wc and ibv_create_ah_from_wc (interposer_address.c by itself) on ports of InfiniBand and of RoCE,
 * whose GID tables are this file's. Prints what is wrong; the exit code is the number of such lines. */
#include "address/virtual_grh.h"
#include "interposer/interposer.h"
#include "real-device/real_library.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

enum { INFINIBAND = 1, ROCE = 2, GIDS = 6 };

/* As Linux fills it: each address once for version 1 and once for version 2. */
static const struct {
    const char *gid;
    uint32_t type;
} tables[][GIDS] = {
    [INFINIBAND] =
        {{"fe80::1", IBV_GID_TYPE_IB}, {"fe80::4500:2", IBV_GID_TYPE_IB}, {"::", 0}, {"::", 0}, {"::", 0}, {"::", 0}},
    [ROCE] = {{"fe80::9", IBV_GID_TYPE_ROCE_V1},
              {"fe80::9", IBV_GID_TYPE_ROCE_V2},
              {"::ffff:10.0.0.2", IBV_GID_TYPE_ROCE_V1},
              {"::ffff:10.0.0.2", IBV_GID_TYPE_ROCE_V2},
              {"::ffff:10.0.0.3", IBV_GID_TYPE_ROCE_V1},
              {"::ffff:10.0.0.3", IBV_GID_TYPE_ROCE_V2}},
};
static struct ibv_ah_attr made;
static struct ibv_ah handle;
static int wrong;
__thread int real_inside;

static union ibv_gid gid(const char *text)
{
    union ibv_gid out = {{0}};
    if (inet_pton(AF_INET6, text, out.raw) != 1)
        wrong++;
    return out;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
    struct ibv_port_attr all = {.gid_tbl_len = GIDS,
                                .link_layer = port == ROCE ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND};
    memcpy(attr, &all, size);
    return port == ROCE || port == INFINIBAND ? 0 : EINVAL;
}

static int query_gid_entry(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry)
{
    *entry = (struct ibv_gid_entry){
        .gid = gid(tables[port][index].gid), .gid_index = index, .gid_type = tables[port][index].type};
    return 0;
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    made = *attr;
    return &handle;
}

const struct verbs_device *top_device(void)
{
    static const struct verbs_device device = {
        .query_port = query_port, .query_gid_entry = query_gid_entry, .create_ah = create_ah};
    return &device;
}

const struct real_library *real_library(void)
{
    return NULL;
}

int interposer_refuse(const char *name, const char *advice)
{
    printf("%s is refused\n", name);
    wrong++;
    return EOPNOTSUPP;
}

static void check(int right, const char *what, const char *which)
{
    if (!right) {
        printf("%s: %s\n", which, what);
        wrong++;
    }
}

static void check_way(const struct ibv_ah_attr *attr, const char *to, int index, int class, int flow, const char *which)
{
    union ibv_gid destination = gid(to);
    check(attr->is_global, "not global", which);
    check(!memcmp(&destination, &attr->grh.dgid, sizeof destination), "the destination is not the sender", which);
    check(attr->grh.sgid_index == index, "another of its own GIDs", which);
    check(attr->grh.traffic_class == class, "another traffic class", which);
    check((int)attr->grh.flow_label == flow, "another flow", which);
    check(attr->grh.hop_limit == 0xff, "a small hop limit", which);
    check(attr->port_num && attr->sl == 3 && attr->dlid == 77, "the plain fields", which);
}

static struct ibv_wc arrived(void)
{
    return (struct ibv_wc){.slid = 77, .sl = 3, .wc_flags = IBV_WC_GRH};
}

/* From one address to another, as the device writes it. */
static struct ibv_grh written(const char *from, const char *to)
{
    struct ibv_grh grh = {.version_tclass_flow = htonl(6u << 28)};
    struct ibv_sge sge = {(uintptr_t)&grh, sizeof grh, 0};
    union ibv_gid source = gid(from), destination = gid(to);
    virtual_write_grh(&sge, 1, &source, &destination, 100);
    return grh;
}

static void ipv4(void)
{
    struct ibv_wc wc = arrived();
    struct ibv_grh grh = written("::ffff:10.0.0.1", "::ffff:10.0.0.3");
    struct ibv_ah_attr attr;
    check(!ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr), "refused", "IPv4");
    check_way(&attr, "::ffff:10.0.0.1", 5, 0, 0, "IPv4");
    ((uint8_t *)&grh)[0] = 0x60; /* the twenty bytes before it are undefined */
    check(!ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr), "refused", "IPv4 behind what looks like IPv6");
    check_way(&attr, "::ffff:10.0.0.1", 5, 0, 0, "IPv4 behind what looks like IPv6");
    ((uint8_t *)&grh)[0] = 0x17;
    ((uint8_t *)&grh)[21] = 0x28; /* type of service; the checksum is that of before, as rdma_rxe leaves it */
    check(!ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr), "refused", "IPv4 with a type of service");
    check_way(&attr, "::ffff:10.0.0.1", 5, 0x28, 0, "IPv4 with a type of service");
    grh = written("::ffff:10.0.0.1", "::ffff:10.0.0.4");
    errno = 0;
    check(ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr) == -1 && errno == EINVAL, "taken", "IPv4 to somebody else");
}

static void global(void)
{
    struct ibv_wc wc = arrived();
    struct ibv_ah_attr attr;
    struct ibv_grh grh = {.version_tclass_flow = htonl(6u << 28 | 0x12u << 20 | 0x34567),
                          .next_hdr = 17,
                          .sgid = gid("fe80::7"),
                          .dgid = gid("fe80::9")};
    check(!ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr), "refused", "IPv6, version 2");
    check_way(&attr, "fe80::7", 1, 0x12, 0x34567, "IPv6, version 2");
    grh.next_hdr = 0x1b;
    check(!ibv_init_ah_from_wc(NULL, ROCE, &wc, &grh, &attr), "refused", "version 1");
    check_way(&attr, "fe80::7", 0, 0x12, 0x34567, "version 1");
    grh.sgid = gid("fe80::45:7");
    grh.dgid = gid("fe80::4500:2");
    check(!ibv_init_ah_from_wc(NULL, INFINIBAND, &wc, &grh, &attr), "refused", "InfiniBand");
    check_way(&attr, "fe80::45:7", 1, 0x12, 0x34567, "InfiniBand");
    wc.wc_flags = 0;
    check(!ibv_init_ah_from_wc(NULL, INFINIBAND, &wc, &grh, &attr) && !attr.is_global && attr.dlid == 77,
          "a GRH was read", "InfiniBand without a GRH");
    check(ibv_init_ah_from_wc(NULL, 3, &(struct ibv_wc){.wc_flags = IBV_WC_GRH}, &grh, &attr) == -1 && errno == EINVAL,
          "taken", "a port that is not there");
}

static void handles(void)
{
    struct ibv_wc wc = arrived();
    struct ibv_pd pd = {0};
    struct ibv_grh grh = written("::ffff:10.0.0.1", "::ffff:10.0.0.2");
    check(ibv_create_ah_from_wc(&pd, &wc, &grh, ROCE) == &handle, "not made", "address handle");
    check_way(&made, "::ffff:10.0.0.1", 3, 0, 0, "address handle");
    grh = written("::ffff:10.0.0.1", "::ffff:10.0.0.9");
    check(!ibv_create_ah_from_wc(&pd, &wc, &grh, ROCE), "made", "address handle from somebody else's datagram");
}

int main(void)
{
    ipv4();
    global();
    handles();
    return wrong;
}
