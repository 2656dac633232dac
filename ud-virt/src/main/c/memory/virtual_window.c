#include "virtual_window.h"
#include "keys_file.h"
#include "data-path/fused_path.h"
#include "data-path/generic_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct v_mw *make(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct v_mw *mw = calloc(1, sizeof *mw);
    if (!mw)
        return NULL;
    mw->real = lower_device->alloc_mw(((struct v_pd *)pd)->real, type);
    if (!mw->real) {
        int saved = errno;
        free(mw);
        errno = saved;
        return NULL;
    }
    mw->mw = (struct ibv_mw){.context = pd->context, .pd = pd, .type = type};
    mw->mw.rkey = mw->mw.handle = virtual_fused_path() ? mw->real->rkey : virtual_give_block(mw);
    return mw;
}

struct ibv_mw *virtual_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    if (!lower_device->alloc_mw) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    if (!gate_enter())
        return NULL;
    struct v_mw *mw = make(pd, type);
    if (mw) {
        struct v_context *context = context_of(pd->context);
        pd_used(pd, 1);
        pthread_mutex_lock(&virtual_mutex);
        list_append(&context->mws, &mw->link);
        context->has_windows = 1;
        generic_choose_paths(context);
        pthread_mutex_unlock(&virtual_mutex);
    }
    gate_leave();
    return mw ? &mw->mw : NULL;
}

int virtual_dealloc_mw(struct ibv_mw *virtual)
{
    struct v_mw *mw = (struct v_mw *)virtual;
    if (!gate_enter())
        return EOPNOTSUPP;
    int error = is_closed(virtual->context) ? 0 : lower_device->dealloc_mw(mw->real);
    if (!error) {
        if (!virtual_fused_path()) {
            keys_file_withdraw(mw->binding.rkey);
            virtual_take_block_back(mw);
        }
        pthread_mutex_lock(&virtual_mutex);
        list_remove(&mw->link);
        pthread_mutex_unlock(&virtual_mutex);
        pd_used(virtual->pd, -1);
        free(mw);
    }
    gate_leave();
    return error;
}

struct v_mw *virtual_window_of(struct v_context *context, uint32_t key)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    if ((mw->mw.handle ^ key) < 256)
        return mw;
    return NULL;
}

int virtual_tell_window(struct v_mw *mw, uint32_t key)
{
    uint32_t real = window_real_key(mw, key);
    uint64_t bit = UINT64_C(1) << (key & 63), *told = &mw->told[(key & 0xff) / 64];
    if (key == real)
        return 0;
    int error = keys_file_has_told(key) ? 0 : keys_file_publish(key, real);
    if (!error && !(__atomic_fetch_or(told, bit, __ATOMIC_RELAXED) & bit))
        keys_file_announce(key, real);
    return error;
}

static void unbind(struct v_mw *mw)
{
    if (mw->binding.bound)
        keys_file_withdraw(mw->binding.rkey);
    mw->binding.bound = 0;
}

/* The program may have freed the window before it polls. */
static void note_bound(struct v_context *context, const struct request_work *request)
{
    const struct ibv_mw_bind_info *info = &request->posted.bind_mw.bind_info;
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    {
        if (&mw->mw != request->posted.bind_mw.mw)
            continue;
        if (mw->binding.rkey != request->posted.bind_mw.rkey)
            unbind(mw);
        mw->mr = (struct v_mr *)info->mr;
        mw->qp = (struct v_qp *)(uintptr_t)request->sges[0].addr;
        mw->binding = (struct window_binding){.rkey = request->posted.bind_mw.rkey,
                                              .bound = info->length != 0,
                                              .access = info->mw_access_flags,
                                              .address = info->addr,
                                              .length = info->length};
    }
}

static struct v_mw *window_of_real(struct v_context *context, uint32_t key)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    if ((mw->real->rkey ^ key) < 256)
        return mw;
    return NULL;
}

static void note_request(struct v_context *context, const struct request_work *request)
{
    struct v_mw *mw = NULL;
    if (request->posted.opcode == IBV_WR_BIND_MW)
        note_bound(context, request);
    else if (request->posted.opcode == IBV_WR_LOCAL_INV)
        mw = virtual_window_of(context, request->posted.invalidate_rkey);
    if (mw)
        unbind(mw);
}

void virtual_note_window(struct v_context *context, struct ibv_wc *wc)
{
    if (wc->status != IBV_WC_SUCCESS)
        return;
    pthread_mutex_lock(&virtual_mutex);
    const struct work *work = (const struct work *)(uintptr_t)wc->wr_id;
    if (wc->opcode & IBV_WC_RECV) {
        struct v_mw *mw = wc->wc_flags & IBV_WC_WITH_INV ? window_of_real(context, wc->invalidated_rkey) : NULL;
        if (mw) {
            wc->invalidated_rkey = window_virtual_key(mw, wc->invalidated_rkey);
            unbind(mw);
        }
    } else if (work->number & NUMBER_OF_CONNECTION && __atomic_load_n(&work->state, __ATOMIC_RELAXED) & WORK_SEND) {
        note_request(context, CONTAINER(struct request_work, work, work));
    }
    pthread_mutex_unlock(&virtual_mutex);
}

void virtual_forget_windows_of(struct v_context *context, const struct v_mr *mr, const struct v_qp *qp)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    {
        if ((mr && mw->mr == mr) || (qp && mw->qp == qp && mw->mw.type == IBV_MW_TYPE_2))
            unbind(mw);
        if (qp && mw->qp == qp)
            mw->qp = NULL;
    }
}

int virtual_keep_windows(struct v_context *context)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    if (virtual_fused_path())
        virtual_fused_path()->save_window(mw->real, &mw->binding);
    return 0;
}

/* The lowest byte of the device's key moves by one with each binding of type 1, and must be another one of type 2. The
 * key that the window has now, and those that it gets, are the device's next ones. */
static void choose_shift(struct v_mw *mw)
{
    uint32_t now = mw->binding.rkey ? mw->binding.rkey : mw->mw.handle;
    mw->shift = (mw->real->rkey + (mw->binding.bound != 0) - now) & 0xff;
}

int virtual_rebuild_windows(struct v_context *context)
{
    FOR_EACH(struct v_mw, link, mw, &context->mws)
    {
        struct ibv_pd *pd = ((struct v_pd *)mw->mw.pd)->real;
        if (virtual_fused_path()) {
            mw->real = virtual_fused_path()->window_as(pd, mw->mw.type, &mw->binding);
        } else if (lower_device->alloc_mw) {
            mw->real = lower_device->alloc_mw(pd, mw->mw.type);
        } else {
            mw->real = NULL;
            errno = EOPNOTSUPP;
        }
        if (!mw->real)
            return -1;
        if (virtual_fused_path())
            continue;
        choose_shift(mw);
        memset(mw->told, 0xff,
               sizeof mw->told); /* nobody need be told of what the file has when peers are made one of it */
        if (mw->binding.bound && (errno = virtual_tell_window(mw, mw->binding.rkey)))
            return -1;
        memset(mw->told, 0, sizeof mw->told);
        if (mw->binding.bound)
            mw->told[(mw->binding.rkey & 0xff) / 64] = UINT64_C(1) << (mw->binding.rkey & 63);
    }
    return 0;
}
