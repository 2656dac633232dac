/* Address handles. A virtual one names a virtual destination; two ranks that once shared a LID can be on
 * two hosts after a restart, so real handles are made per real destination, shared within a PD. */
#include "virtual.h"
#include "agent-client/control.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_MULTICAST_LID = 0xc000, PERMISSIVE_LID = 0xffff, MAX_SL = 15 };

struct real_ah {
    struct ibv_ah_attr attributes;
    struct ibv_ah *real;
    struct real_ah *next;
};

/* On RoCE the LID names nobody: UCX keeps a UDP port there (ibv_create_ah(3) says that it is ignored). */
static int check(struct ibv_context *context, const struct ibv_ah_attr *attributes)
{
    const struct v_port *port = port_of(context, attributes->port_num);
    int group = attributes->is_global && virtual_is_multicast(&attributes->grh.dgid);
    if (!virtual_identity.ethernet &&
        group != (attributes->dlid >= FIRST_MULTICAST_LID && attributes->dlid != PERMISSIVE_LID))
        return EINVAL; /* multicast is both, in the LID and in the GRH */
    if (!attributes->is_global && (virtual_identity.ethernet || !attributes->dlid))
        return EINVAL;
    return !port || attributes->sl > MAX_SL || (attributes->is_global && attributes->grh.sgid_index >= port->gid_count)
               ? EINVAL
               : 0;
}

struct ibv_ah *virtual_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attributes)
{
    if (!gate_enter())
        return NULL;
    int error = check(pd->context, attributes);
    struct v_ah *ah = error ? NULL : calloc(1, sizeof *ah);
    if (ah) {
        ah->ah.context = pd->context;
        ah->ah.pd = pd;
        ah->attributes = *attributes;
        for (int i = 0; i < ROUTES; i++)
            ah->routes[i] = &virtual_no_route;
        pd_used(pd, 1);
        pthread_mutex_lock(&virtual_mutex);
        list_append(&virtual_ahs, &ah->link);
        pthread_mutex_unlock(&virtual_mutex);
    } else {
        errno = error ? error : ENOMEM;
    }
    gate_leave();
    return ah ? &ah->ah : NULL;
}

int virtual_destroy_ah(struct ibv_ah *virtual)
{
    struct v_ah *ah = (struct v_ah *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    pthread_mutex_lock(&virtual_mutex);
    list_remove(&ah->link);
    pthread_mutex_unlock(&virtual_mutex);
    virtual_forget_routes(ah);
    pd_used(virtual->pd, -1);
    free(ah);
    gate_leave();
    return 0;
}

/* Under the routes' mutex. Padding is part of the comparison, so the attributes are copied field by field. */
static struct ibv_ah_attr clean(const struct ibv_ah_attr *from)
{
    struct ibv_ah_attr to;
    memset(&to, 0, sizeof to);
    to.dlid = from->dlid;
    to.sl = from->sl;
    to.src_path_bits = from->src_path_bits;
    to.static_rate = from->static_rate;
    to.is_global = from->is_global;
    to.port_num = from->port_num;
    if (from->is_global) {
        to.grh.dgid = from->grh.dgid;
        to.grh.flow_label = from->grh.flow_label;
        to.grh.sgid_index = from->grh.sgid_index;
        to.grh.hop_limit = from->grh.hop_limit;
        to.grh.traffic_class = from->grh.traffic_class;
    }
    return to;
}

struct ibv_ah *virtual_real_ah(struct v_pd *pd, const struct ibv_ah_attr *attributes)
{
    struct ibv_ah_attr wanted = clean(attributes);
    for (struct real_ah *known = pd->real_ahs; known; known = known->next)
        if (!memcmp(&known->attributes, &wanted, sizeof wanted))
            return known->real;
    struct real_ah *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->attributes = wanted;
    made->real = lower_device->create_ah(pd->real, &wanted);
    if (!made->real) {
        free(made);
        return NULL;
    }
    made->next = pd->real_ahs;
    pd->real_ahs = made;
    COUNT(ah_created, 1);
    return made->real;
}

/* destroy: 0 when the device has already forgotten them (a restart). */
void virtual_forget_real_ahs(struct v_pd *pd, int destroy)
{
    while (pd->real_ahs) {
        struct real_ah *next = pd->real_ahs->next;
        if (destroy)
            lower_device->destroy_ah(pd->real_ahs->real);
        free(pd->real_ahs);
        pd->real_ahs = next;
    }
}
