#include "soft_window.h"
#include "soft_memory.h"
#include "soft_objects.h"
#include <errno.h>
#include <stdlib.h>

#define RIGHTS ((unsigned)(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))
/* What a window may be asked for and has no use for, as adapters take it (pyverbs' tests ask for local writes). */
#define WITHOUT_EFFECT ((unsigned)(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | IBV_ACCESS_OPTIONAL_RANGE))

static struct soft_mw *soft_mw_of(struct ibv_mw *mw)
{
    return container_of(mw, struct soft_mw, base);
}

/* As a slot's `pd`: no domain has such an address. */
static struct ibv_pd *marked(struct soft_mw *mw)
{
    return (struct ibv_pd *)((uintptr_t)mw | 1);
}

static struct soft_mw *window_in(const struct soft_mr_slot *slot)
{
    return slot && (uintptr_t)slot->pd & 1 ? (struct soft_mw *)((uintptr_t)slot->pd & ~(uintptr_t)1) : NULL;
}

/* With mr_lock held. */
static struct soft_mw *window_of(struct soft_context *context, uint32_t key)
{
    return window_in(soft_mr_slot_of(context, key));
}

static struct ibv_mw *make(struct ibv_pd *pd, enum ibv_mw_type type, uint32_t wanted)
{
    struct soft_context *context = soft_context_of(pd->context);
    struct soft_mw *mw = calloc(1, sizeof *mw);
    if (!mw)
        return NULL;
    soft_lock(&context->mr_lock);
    uint32_t key = soft_take_key(context, wanted);
    if (key)
        soft_mr_slot_of(context, key)->pd = marked(mw);
    soft_unlock(&context->mr_lock);
    if (!key) {
        free(mw);
        errno = wanted ? EADDRINUSE : ENOMEM;
        return NULL;
    }
    mw->base = (struct ibv_mw){.context = pd->context, .pd = pd, .rkey = key, .handle = key, .type = type};
    mw->binding.rkey = key;
    atomic_fetch_add(&soft_pd_of(pd)->users, 1);
    atomic_fetch_add(&context->windows, 1);
    soft_add(context, &mw->object, SOFT_MW);
    return &mw->base;
}

struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2) {
        errno = EINVAL;
        return NULL;
    }
    return make(pd, type, 0);
}

static void unbind(struct soft_mr_slot *slot, struct soft_mw *mw)
{
    slot->key = 0;
    mw->binding.bound = 0;
}

int soft_dealloc_mw(struct ibv_mw *base)
{
    struct soft_mw *mw = soft_mw_of(base);
    struct soft_context *context = soft_context_of(base->context);
    soft_lock(&context->mr_lock);
    soft_mr_slot_of(context, base->handle)->generation = mw->binding.rkey + 1; /* a region there has not the last key */
    soft_give_key(context, base->handle);
    soft_unlock(&context->mr_lock);
    atomic_fetch_sub(&context->windows, 1);
    atomic_fetch_sub(&soft_pd_of(base->pd)->users, 1);
    soft_remove(context, &mw->object);
    free(mw);
    return 0;
}

int soft_window_check(const struct ibv_send_wr *wr)
{
    if (wr->opcode == IBV_WR_LOCAL_INV)
        return 0;
    const struct ibv_mw_bind_info *info = &wr->bind_mw.bind_info;
    if (!wr->bind_mw.mw || wr->bind_mw.rkey >> 8 != wr->bind_mw.mw->rkey >> 8 ||
        (!info->mr && (info->addr || info->length)))
        return EINVAL;
    return info->mw_access_flags & ~(RIGHTS | IBV_ACCESS_ZERO_BASED | WITHOUT_EFFECT) ? EINVAL : 0;
}

/* The region that is named, if the window may be bound to that part of it (ibv_bind_mw(3)). */
static const struct soft_mr_slot *region_for(struct soft_context *context, const struct soft_mw *mw,
                                             const struct ibv_mw_bind_info *info)
{
    const struct soft_mr_slot *mr = info->mr ? soft_mr_slot_of(context, info->mr->lkey) : NULL;
    if (!mr || mr->key != info->mr->lkey || mr->pd != mw->base.pd || !(mr->access & IBV_ACCESS_MW_BIND) ||
        (mr->access & IBV_ACCESS_ZERO_BASED))
        return NULL;
    if (info->addr < mr->start || info->addr > mr->end || info->length > mr->end - info->addr)
        return NULL;
    return info->mw_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) && !mr->writable ? NULL : mr;
}

static void bind_to(struct soft_mr_slot *slot, struct soft_mw *mw, const struct soft_mr_slot *mr)
{
    const struct window_binding *binding = &mw->binding;
    slot->start = binding->access & IBV_ACCESS_ZERO_BASED ? 0 : binding->address;
    slot->end = slot->start + binding->length;
    slot->offset = mr->offset + (binding->address - slot->start);
    slot->access = (uint16_t)binding->access;
    slot->writable = false;
    slot->key = binding->rkey;
}

static enum ibv_wc_status bind_window(struct soft_qp *qp, uint32_t key, const struct ibv_mw_bind_info *info)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    struct soft_mw *mw = window_of(context, key);
    struct soft_mr_slot *slot = soft_mr_slot_of(context, key);
    if (!mw || mw->base.pd != qp->base.pd || (mw->base.type == IBV_MW_TYPE_2 && (mw->binding.bound || !info->length)))
        return IBV_WC_MW_BIND_ERR;
    const struct soft_mr_slot *mr = info->length ? region_for(context, mw, info) : NULL;
    if (info->length && !mr)
        return IBV_WC_MW_BIND_ERR;
    unbind(slot, mw);
    mw->binding.rkey = key;
    if (!mr)
        return IBV_WC_SUCCESS; /* type 1, bound to nothing: given up */
    mw->binding = (struct window_binding){.rkey = key,
                                          .bound = 1,
                                          .mr_key = info->mr->lkey,
                                          .access = info->mw_access_flags & (RIGHTS | IBV_ACCESS_ZERO_BASED),
                                          .qpn = qp->number,
                                          .address = info->addr,
                                          .length = info->length};
    bind_to(slot, mw, mr);
    return IBV_WC_SUCCESS;
}

enum ibv_wc_status soft_window_bind(struct soft_qp *qp, uint32_t key, const struct ibv_mw_bind_info *info)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    soft_lock(&context->mr_lock);
    enum ibv_wc_status status = bind_window(qp, key, info);
    soft_unlock(&context->mr_lock);
    return status;
}

bool soft_window_invalidate(struct soft_qp *qp, uint32_t key)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    soft_lock(&context->mr_lock);
    struct soft_mw *mw = window_of(context, key);
    bool known = mw && mw->base.type == IBV_MW_TYPE_2 && mw->base.pd == qp->base.pd && mw->binding.bound &&
                 mw->binding.rkey == key && mw->binding.qpn == qp->number;
    if (known)
        unbind(soft_mr_slot_of(context, key), mw);
    soft_unlock(&context->mr_lock);
    return known;
}

char *soft_window_memory(const struct soft_qp *qp, struct ibv_pd *pd, uint32_t key, uint64_t address, uint32_t length,
                         unsigned access)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    char *memory = NULL;
    soft_lock(&context->mr_lock);
    const struct soft_mr_slot *slot = soft_mr_slot_of(context, key);
    const struct soft_mw *mw = window_in(slot);
    if (mw && slot->key == key && mw->base.pd == pd &&
        (mw->base.type == IBV_MW_TYPE_1 || mw->binding.qpn == qp->number) && address >= slot->start &&
        address <= slot->end && length <= slot->end - address && (slot->access & access) == access)
        memory = (char *)(uintptr_t)(address + slot->offset);
    soft_unlock(&context->mr_lock);
    return memory;
}

/* All windows of a context, with both locks held. */
#define FOR_EACH_WINDOW(mw, context) \
    for (struct soft_object *o_ = (context)->objects.next; o_ != &(context)->objects; o_ = o_->next) \
        for (struct soft_mw *mw = o_->kind == SOFT_MW ? container_of(o_, struct soft_mw, object) : NULL; mw; mw = NULL)

void soft_window_unbind_all(struct soft_qp *qp)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    if (likely(!atomic_load(&context->windows)))
        return;
    soft_lock(&context->lock);
    soft_lock(&context->mr_lock);
    FOR_EACH_WINDOW(mw, context)
    if (mw->base.type == IBV_MW_TYPE_2 && mw->binding.bound && mw->binding.qpn == qp->number)
        unbind(soft_mr_slot_of(context, mw->base.handle), mw);
    soft_unlock(&context->mr_lock);
    soft_unlock(&context->lock);
}

bool soft_window_is_bound_to(struct soft_context *context, uint32_t mr_key)
{
    bool found = false;
    if (likely(!atomic_load(&context->windows)))
        return false;
    soft_lock(&context->lock);
    soft_lock(&context->mr_lock);
    FOR_EACH_WINDOW(mw, context)
    found |= mw->binding.bound && mw->binding.mr_key == mr_key;
    soft_unlock(&context->mr_lock);
    soft_unlock(&context->lock);
    return found;
}

void soft_window_save(const struct ibv_mw *mw, struct window_binding *binding)
{
    *binding = container_of(mw, const struct soft_mw, base)->binding;
}

struct ibv_mw *soft_alloc_mw_as(struct ibv_pd *pd, enum ibv_mw_type type, const struct window_binding *binding)
{
    struct soft_context *context = soft_context_of(pd->context);
    struct ibv_mw *base = make(pd, type, binding->rkey);
    if (!base)
        return NULL;
    struct soft_mw *mw = soft_mw_of(base);
    soft_lock(&context->mr_lock);
    const struct soft_mr_slot *mr = soft_mr_slot_of(context, binding->mr_key);
    mw->binding = *binding;
    if (binding->bound)
        bind_to(soft_mr_slot_of(context, base->handle), mw, mr);
    soft_unlock(&context->mr_lock);
    return base;
}
