/* Connections of a restored process. They are connected when all ranks have their new queue pairs, since each must
 * know the other's number, and go on only when all are connected. */
#include "rc.h"
#include "agent-client/control.h"
#include "data-path/fused_path.h"
#include "memory/virtual_window.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int modify(struct v_qp *qp, const struct ibv_qp_attr *attributes, enum ibv_qp_state state, int mask)
{
    struct ibv_qp_attr real = *attributes;
    real.qp_state = state;
    real.port_num = qp->port->now.number;
    errno = lower_device->modify_qp(qp->real, &real, mask | IBV_QP_STATE);
    return errno ? -1 : 0;
}

static int is_connected(const struct v_qp *qp)
{
    return qp->qp.state == IBV_QPS_RTR || qp->qp.state == IBV_QPS_RTS || qp->qp.state == IBV_QPS_SQE;
}

int rc_remember(struct v_qp *qp)
{
    struct v_rc *rc = qp->rc;
    if (!lower_device->save_connection || !is_connected(qp))
        return 0;
    free(rc->memory);
    rc->memory = malloc(lower_device->connection_bytes);
    if (!rc->memory)
        return -1;
    lower_device->save_connection(qp->real, rc->memory);
    rc->remembered = lower_device;
    return 0;
}

/* Both ends do it, or none: all ranks of an incarnation have the same kind of device. */
static void remind(struct v_qp *qp)
{
    if (qp->rc->memory && qp->rc->remembered == lower_device)
        lower_device->restore_connection(qp->real, qp->rc->memory);
    free(qp->rc->memory);
    qp->rc->memory = NULL;
}

int rc_rebuild_state(struct v_qp *qp)
{
    qp->rc->unfinished = 1;
    rc_set_keys(qp, NULL);
    if (!virtual_fused_path() && (errno = keys_file_open())) /* peers look for it, whatever is in it */
        return -1;
    if (qp->qp.state == IBV_QPS_RESET)
        return 0;
    if (qp->rc->to_init && modify(qp, &qp->rc->attributes, IBV_QPS_INIT, qp->rc->to_init))
        return -1;
    return qp->qp.state == IBV_QPS_ERR ? modify(qp, &qp->rc->attributes, IBV_QPS_ERR, 0) : 0;
}

/* A device of a later incarnation may take fewer reads and atomics at a time than the one for which the job chose: both
 * ends go by what theirs takes. */
static void fit_device(const struct ibv_device_attr *device, struct ibv_qp_attr *real)
{
    if (device->max_qp_rd_atom > 0 && real->max_dest_rd_atomic > device->max_qp_rd_atom)
        real->max_dest_rd_atomic = (uint8_t)device->max_qp_rd_atom;
    if (device->max_qp_init_rd_atom > 0 && real->max_rd_atomic > device->max_qp_init_rd_atom)
        real->max_rd_atomic = (uint8_t)device->max_qp_init_rd_atom;
}

/* Breaks the sends of an unreliable connection: see virtual_break_sends(). Its record is read as a request's. */
static int break_sends(struct v_qp *qp)
{
    struct request_work request = {
        .flags = IBV_SEND_SIGNALED,
        .work = {.state = WORK_SEND, .number = NUMBER_OTHER | NUMBER_OF_CONNECTION, .wr_id = (uintptr_t)&request.work}};
    return virtual_break_sends(qp, &request.work, NULL);
}

static int connect_again(struct v_qp *qp, const struct ibv_device_attr *device)
{
    struct v_rc *rc = qp->rc;
    struct ibv_qp_attr real = rc->attributes;
    if (!is_connected(qp))
        return 0;
    fit_device(device, &real);
    errno = rc_find_peer(qp, &real);
    if (errno || modify(qp, &real, IBV_QPS_RTR, rc->to_rtr))
        return -1;
    if (virtual_fused_path())
        virtual_fused_path()->name_peer(qp->real, rc->attributes.dest_qp_num, rc->attributes.ah_attr.dlid);
    if (qp->qp.state != IBV_QPS_RTR && modify(qp, &real, IBV_QPS_RTS, rc->to_rts))
        return -1;
    remind(qp);
    return qp->qp.state == IBV_QPS_SQE ? break_sends(qp) : 0;
}

int rc_connect_all(char *error, size_t size)
{
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    {
        struct ibv_device_attr device;
        if ((errno = lower_device->query_device(context->real, &device))) {
            snprintf(error, size, "capabilities of verbs device %s: %s", context->device, strerror(errno));
            return -1;
        }
        FOR_EACH(struct v_qp, link, qp, &context->qps)
        if (qp->rc && connect_again(qp, &device)) {
            snprintf(error, size, "queue pair 0x%06x: reconnect it to QPN 0x%06x of LID 0x%04x: %s", qp->qp.qp_num,
                     qp->rc->attributes.dest_qp_num, qp->rc->attributes.ah_attr.dlid, strerror(errno));
            return -1;
        }
        const struct v_mw *mw = virtual_fused_path() ? NULL : rc_bind_windows(context);
        if (mw) {
            snprintf(error, size, "memory window 0x%x: bind it again: %s", mw->binding.rkey, strerror(errno));
            return -1;
        }
    }
    return 0;
}

void rc_replay(void)
{
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    {
        if (!qp->rc || !qp->rc->unfinished)
            continue;
        qp->rc->unfinished = 0;
        if (qp->qp.state == IBV_QPS_RTS && (virtual_fused_path() ? rc_post_kept(qp) : rc_post_again(qp)))
            control_log("queue pair 0x%06x: post its unfinished sends again: %s", qp->qp.qp_num, strerror(errno));
    }
}
