/* Address handles, also those made from a completion, in terms of the top device's table. */
#include "interposer.h"
#include "address/virtual_grh.h"
#include "real-device/real_library.h"
#include <string.h>

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    return MAKE(create_ah, pd, attr);
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    return CALL(destroy_ah, ah);
}

static int read_gid(struct ibv_context *context, uint8_t port, int index, struct ibv_gid_entry *entry)
{
    *entry = (struct ibv_gid_entry){.gid_type = IBV_GID_TYPE_IB};
    if (top_device()->query_gid_entry)
        return top_device()->query_gid_entry(context, port, (uint32_t)index, entry);
    return top_device()->query_gid(context, port, index, &entry->gid);
}

/* A RoCE port has the same GID once for each version: the one of the datagram's version, else any. */
static int gid_index_of(struct ibv_context *context, uint8_t port, int length, const struct grh_way *way)
{
    int other = -1;
    for (int i = 0; i < length; i++) {
        struct ibv_gid_entry entry;
        if (read_gid(context, port, i, &entry) || memcmp(&entry.gid, &way->destination, sizeof entry.gid))
            continue;
        if ((entry.gid_type == IBV_GID_TYPE_ROCE_V2) == way->version2)
            return i;
        if (other < 0)
            other = i;
    }
    return other;
}

/* The way back to the sender of a received datagram; 0, or -1 when the GRH, or the IPv4 header in its place (RoCE),
 * does not name this port (ibv_init_ah_from_wc(3)). The answer's hop limit is the largest, since the way is unknown. */
EXPORT int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
                               struct ibv_ah_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    attr->dlid = wc->slid;
    attr->sl = wc->sl;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port;
    if (!(wc->wc_flags & IBV_WC_GRH))
        return 0;
    struct ibv_port_attr link;
    if (CALL(query_port, context, port, &link, sizeof link)) {
        errno = EINVAL;
        return -1;
    }
    struct grh_way way = virtual_grh_read(grh, link.link_layer == IBV_LINK_LAYER_ETHERNET);
    int index = gid_index_of(context, port, link.gid_tbl_len, &way);
    if (index < 0) {
        errno = EINVAL;
        return -1;
    }
    attr->is_global = 1;
    attr->grh.dgid = way.source;
    attr->grh.sgid_index = (uint8_t)index;
    attr->grh.flow_label = way.flow;
    attr->grh.traffic_class = way.class;
    attr->grh.hop_limit = 0xff;
    return 0;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
    struct ibv_ah_attr attr;
    if (ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr))
        return NULL;
    return MAKE(create_ah, pd, &attr);
}

EXPORT int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                       uint8_t mac[ETHERNET_LL_SIZE], uint16_t *vlan)
{
    if (real_inside)
        return real_library()->ibv_resolve_eth_l2_from_gid(context, attr, mac, vlan);
    return interposer_refuse("ibv_resolve_eth_l2_from_gid",
                             "an Ethernet address is not valid after a restart; use address handles");
}
