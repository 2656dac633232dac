/* Multicast: a group has one address for everybody, so nothing of it is translated; attachments are made again in each
 * incarnation. */
#include "device/virtual_host.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct v_group {
    union ibv_gid gid;
    uint16_t lid;
    struct v_group *next;
};

static struct v_group **find(struct v_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    struct v_group **at = &qp->groups;
    while (*at && ((*at)->lid != lid || memcmp(&(*at)->gid, gid, sizeof *gid)))
        at = &(*at)->next;
    return at;
}

static int attach(struct v_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    struct v_group **at = find(qp, gid, lid);
    int error = lower_device->attach_mcast ? lower_device->attach_mcast(qp->real, gid, lid) : EOPNOTSUPP;
    if (error || *at)
        return error;
    *at = calloc(1, sizeof **at);
    if (!*at) {
        lower_device->detach_mcast(qp->real, gid, lid);
        return ENOMEM;
    }
    **at = (struct v_group){.gid = *gid, .lid = lid};
    return 0;
}

int virtual_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    if (!gate_enter())
        return EOPNOTSUPP;
    pthread_mutex_lock(&qp->mutex);
    int error = attach((struct v_qp *)qp, gid, lid);
    pthread_mutex_unlock(&qp->mutex);
    gate_leave();
    return error;
}

int virtual_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    if (!gate_enter())
        return EOPNOTSUPP;
    pthread_mutex_lock(&qp->mutex);
    int error =
        lower_device->detach_mcast ? lower_device->detach_mcast(((struct v_qp *)qp)->real, gid, lid) : EOPNOTSUPP;
    struct v_group **at = find((struct v_qp *)qp, gid, lid), *group = *at;
    if (!error && group) {
        *at = group->next;
        free(group);
    }
    pthread_mutex_unlock(&qp->mutex);
    gate_leave();
    return error;
}

int virtual_attach_again(struct v_qp *qp)
{
    for (struct v_group *group = qp->groups; group; group = group->next)
        if ((errno = lower_device->attach_mcast ? lower_device->attach_mcast(qp->real, &group->gid, group->lid)
                                                : EOPNOTSUPP))
            return -1;
    return 0;
}
