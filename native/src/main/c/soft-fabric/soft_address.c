#include "soft_address.h"
#include "soft_multicast.h"
#include "soft_objects.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_LID 0 /* of no host */

struct ibv_ah *soft_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    struct soft_context *context = soft_context_of(pd->context);
    if (!soft_has_port(pd->context, attr->port_num) || attr->sl > 15 ||
        (attr->is_global && attr->grh.sgid_index != 0)) {
        errno = EINVAL;
        return NULL;
    }
    bool multicast = attr->is_global && soft_is_multicast(&attr->grh.dgid, attr->dlid);
    /* a multicast packet has a GRH: IBA 1.2.1, 9.6.1.2.3 */
    if (attr->dlid > SOFT_LID_MAX && attr->dlid != 0xffff && !multicast) {
        errno = EINVAL;
        return NULL;
    }
    struct soft_ah *ah = calloc(1, sizeof *ah);
    if (!ah)
        return NULL;
    ah->base.context = pd->context;
    ah->base.pd = pd;
    ah->attr = *attr;
    /* A packet whose GRH names another port than its LID is dropped where it arrives: IBA 1.2.1, 9.6.1.2.3. */
    union ibv_gid own = soft_gid(attr->dlid);
    uint16_t lid = attr->is_global && memcmp(&own, &attr->grh.dgid, sizeof own) ? NO_LID : attr->dlid;
    ah->address =
        (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = soft_host(context->config.network, lid)};
    atomic_fetch_add(&soft_pd_of(pd)->users, 1);
    soft_add(context, &ah->object, SOFT_AH);
    return &ah->base;
}

int soft_destroy_ah(struct ibv_ah *base)
{
    struct soft_ah *ah = soft_ah_of(base);
    atomic_fetch_sub(&soft_pd_of(base->pd)->users, 1);
    soft_remove(soft_context_of(base->context), &ah->object);
    free(ah);
    return 0;
}
