/* The peer of a connection: from its virtual address to the one of this incarnation. */
#include "address_table.h"
#include "rc.h"
#include "address/virtual_route.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "device/virtual_host.h"
#include <errno.h>

/* No device hands this number out: a connection to it is never answered. */
#define VOID_QPN 0xfffffeu

static int aim_at_nobody(const struct v_port *from, struct ibv_qp_attr *real)
{
    control_log("LID 0x%04x QPN 0x%06x is not an endpoint of this job: a connection to it gets no answer",
                real->ah_attr.dlid, real->dest_qp_num);
    virtual_aim(&real->ah_attr, from, from->now.lid, &from->now.gid);
    real->dest_qp_num = VOID_QPN;
    return 0;
}

void rc_set_keys(struct v_qp *qp, const struct peer_keys *keys)
{
    static const uint32_t none_differ;
    qp->rc->keys = keys;
    qp->peer_keys_differ = keys ? keys->differ : &none_differ;
}

int rc_find_peer(struct v_qp *qp, struct ibv_qp_attr *real)
{
    struct address_entry entry;
    const struct v_port *from = port_of(qp->qp.context, real->ah_attr.port_num);
    if (!from)
        return EINVAL;
    switch (virtual_resolve(virtual_lid_of(&real->ah_attr), real->dest_qp_num, &entry)) {
    case RESOLVED_IDENTITY:
        return 0;
    case RESOLVED_UNKNOWN:
        return aim_at_nobody(from, real);
    case RESOLVED_KNOWN:
        break;
    }
    virtual_aim(&real->ah_attr, from, entry.real_lid, address_real_gid(entry.real_lid));
    real->dest_qp_num = entry.real_qpn;
    if (!virtual_fused_path()) {
        const struct peer_keys *keys = keys_file_of((int)entry.rank);
        if (!keys && virtual_moved) /* in a later incarnation no key is the device's own */
            return EHOSTUNREACH;
        rc_set_keys(qp, keys);
    }
    return 0;
}
