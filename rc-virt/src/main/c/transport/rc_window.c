/* Memory windows on the generic path: requests name the device's windows and keys of this incarnation
 * (virtual_window.h). */
#include "rc.h"
#include "memory/virtual_window.h"
#include <errno.h>
#include <stdlib.h>

/* The job's own names are recorded: rc_submit_window() puts in the device's. The first element says which queue pair it
 * is. */
int rc_record_local(struct v_qp *qp, struct request_work *request, const struct ibv_send_wr *wr)
{
    if (wr->opcode == IBV_WR_BIND_MW && !wr->bind_mw.mw)
        return EINVAL;
    request->posted.invalidate_rkey = wr->invalidate_rkey;
    request->posted.bind_mw = wr->bind_mw;
    request->sges[0] = (struct ibv_sge){.addr = (uintptr_t)qp};
    count_pieces(&request->work, WORK_SEND, 0);
    return 0;
}

static struct ibv_mw_bind_info real_info(struct ibv_mw_bind_info info)
{
    if (info.mr)
        info.mr = ((struct v_mr *)info.mr)->real;
    return info;
}

/* A device that has a call for type 1 chooses the next key by itself: the one that ours would be, too. */
static int bind(struct v_qp *qp, struct v_mw *mw, struct ibv_send_wr *copy)
{
    struct ibv_send_wr *bad;
    copy->bind_mw.mw = mw->real;
    if (mw->mw.type == IBV_MW_TYPE_2 || !lower_device->bind_mw) {
        int error = abs(qp->real->context->ops.post_send(qp->real, copy, &bad));
        if (!error && mw->mw.type == IBV_MW_TYPE_1)
            mw->real->rkey = copy->bind_mw.rkey;
        return error;
    }
    struct ibv_mw_bind bind = {
        .wr_id = copy->wr_id, .send_flags = copy->send_flags, .bind_info = copy->bind_mw.bind_info};
    return abs(lower_device->bind_mw(qp->real, mw->real, &bind));
}

int rc_submit_window(struct v_qp *qp, struct request_work *request, struct ibv_send_wr *copy)
{
    struct ibv_send_wr *bad;
    uint32_t key = request->posted.invalidate_rkey;
    copy->num_sge = (int)pieces_of(__atomic_load_n(&request->work.state, __ATOMIC_RELAXED));
    if (copy->opcode == IBV_WR_BIND_MW) {
        struct v_mw *mw = (struct v_mw *)request->posted.bind_mw.mw;
        key = request->posted.bind_mw.rkey;
        if ((key ^ mw->mw.handle) >= 256)
            return EINVAL;
        int error = virtual_tell_window(mw, key);
        /* As the program keeps it: providers tell the kernel which key is to be replaced. */
        if (mw->mw.type == IBV_MW_TYPE_2)
            mw->real->rkey = window_real_key(mw, mw->mw.rkey);
        copy->bind_mw.rkey = window_real_key(mw, key);
        copy->bind_mw.bind_info = real_info(copy->bind_mw.bind_info);
        return error ? error : bind(qp, mw, copy);
    }
    if (copy->opcode == IBV_WR_LOCAL_INV) {
        pthread_mutex_lock(&virtual_mutex);
        const struct v_mw *mw = virtual_window_of(context_of(qp->qp.context), key);
        copy->invalidate_rkey = mw ? window_real_key(mw, key) : key;
        pthread_mutex_unlock(&virtual_mutex);
    } else {
        copy->invalidate_rkey = keys_file_real_key(qp->rc->keys, key);
    }
    return abs(qp->real->context->ops.post_send(qp->real, copy, &bad));
}

/* Type 1 is of the domain: any queue pair of it will do. */
static struct v_qp *through(struct v_context *context, const struct v_mw *mw)
{
    if (mw->qp && mw->qp->qp.state == IBV_QPS_RTS)
        return mw->qp;
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    if (mw->mw.type == IBV_MW_TYPE_1 && qp->rc && qp->qp.pd == mw->mw.pd && qp->qp.state == IBV_QPS_RTS)
        return qp;
    return NULL;
}

static int bind_again(struct v_context *context, struct v_mw *mw)
{
    struct v_qp *qp = through(context, mw);
    struct request_work request = {
        .flags = IBV_SEND_SIGNALED,
        .work = {.state = WORK_SEND, .number = NUMBER_OTHER | NUMBER_OF_CONNECTION, .wr_id = (uintptr_t)&request.work}};
    struct ibv_send_wr wr = {.wr_id = (uintptr_t)&request.work,
                             .opcode = IBV_WR_BIND_MW,
                             .send_flags = IBV_SEND_SIGNALED,
                             .bind_mw = {.rkey = window_real_key(mw, mw->binding.rkey),
                                         .bind_info = {.mr = mw->mr->real,
                                                       .addr = mw->binding.address,
                                                       .length = mw->binding.length,
                                                       .mw_access_flags = mw->binding.access}}};
    if (!qp)
        return mw->mw.type == IBV_MW_TYPE_1 ? ENOTCONN : 0; /* type 2: nobody could use it any more */
    int error = bind(qp, mw, &wr);
    return error ? error : virtual_await_request(qp, &request.work);
}

struct v_mw *rc_bind_windows(struct v_context *context)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    if (mw->binding.bound && (errno = bind_again(context, mw)))
        return mw;
    return NULL;
}
