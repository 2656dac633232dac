#include "soft_memory.h"
#include "soft_objects.h"
#include "soft_window.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE 4096u

struct soft_mr {
    struct ibv_mr base;
    struct soft_object object;
};

struct ibv_pd *soft_alloc_pd(struct ibv_context *context)
{
    struct soft_pd *pd = calloc(1, sizeof *pd);
    if (!pd)
        return NULL;
    pd->base.context = context;
    soft_add(soft_context_of(context), &pd->object, SOFT_PD);
    return &pd->base;
}

int soft_dealloc_pd(struct ibv_pd *base)
{
    struct soft_pd *pd = soft_pd_of(base);
    if (atomic_load(&pd->users))
        return EBUSY;
    soft_remove(soft_context_of(base->context), &pd->object);
    free(pd);
    return 0;
}

/* A free slot number, or 0 when all are taken. Called with mr_lock held. */
static uint32_t take_slot(struct soft_context *context)
{
    uint32_t slot = context->mr_free;
    if (slot) {
        context->mr_free = context->mr_chunks[slot / SOFT_MR_CHUNK][slot % SOFT_MR_CHUNK].next_free;
        return slot;
    }
    slot = context->mr_next;
    if (slot >= SOFT_MR_CHUNK * SOFT_MR_CHUNKS)
        return 0;
    struct soft_mr_slot **chunk = &context->mr_chunks[slot / SOFT_MR_CHUNK];
    if (!*chunk && !(*chunk = calloc(SOFT_MR_CHUNK, sizeof **chunk)))
        return 0;
    context->mr_next++;
    return slot;
}

/* The slot of a key that a region had in an earlier incarnation of the process, or 0 when it is taken. Called with
 * mr_lock held. */
static uint32_t claim_slot(struct soft_context *context, uint32_t key)
{
    uint32_t slot = key >> 8;
    if (!slot || slot >= SOFT_MR_CHUNK * SOFT_MR_CHUNKS)
        return 0;
    struct soft_mr_slot **chunk = &context->mr_chunks[slot / SOFT_MR_CHUNK];
    if (!*chunk && !(*chunk = calloc(SOFT_MR_CHUNK, sizeof **chunk)))
        return 0;
    struct soft_mr_slot *claimed = &(*chunk)[slot % SOFT_MR_CHUNK];
    if (claimed->key || claimed->generation) /* in use, or in the list of free ones */
        return 0;
    claimed->generation = key & 0xff;
    if (context->mr_next <= slot)
        context->mr_next = slot + 1;
    return slot;
}

uint32_t soft_take_key(struct soft_context *context, uint32_t wanted)
{
    uint32_t number = wanted ? claim_slot(context, wanted) : take_slot(context);
    if (!number)
        return 0;
    struct soft_mr_slot *slot = &context->mr_chunks[number / SOFT_MR_CHUNK][number % SOFT_MR_CHUNK];
    return number << 8 | (slot->generation++ & 0xff);
}

void soft_give_key(struct soft_context *context, uint32_t key)
{
    struct soft_mr_slot *slot = soft_mr_slot_of(context, key);
    slot->key = 0;
    slot->pd = NULL;
    slot->next_free = context->mr_free;
    context->mr_free = key >> 8;
}

static uint32_t register_range(struct soft_context *context, struct soft_mr *mr, uint64_t iova, unsigned access,
                               uint32_t wanted)
{
    soft_lock(&context->mr_lock);
    uint32_t key = soft_take_key(context, wanted);
    if (key) {
        struct soft_mr_slot *slot = soft_mr_slot_of(context, key);
        slot->access = (uint16_t)access;
        slot->writable = access & IBV_ACCESS_LOCAL_WRITE;
        slot->pd = mr->base.pd;
        slot->start = iova;
        slot->end = iova + mr->base.length;
        slot->offset = (uintptr_t)mr->base.addr - iova;
        slot->key = key;
    }
    soft_unlock(&context->mr_lock);
    return key;
}

/* MS_ASYNC does nothing but this check: msync(2). */
static bool is_mapped(void *addr, size_t length)
{
    uintptr_t page = (uintptr_t)addr & ~(uintptr_t)(PAGE - 1);
    return !msync((void *)page, (uintptr_t)addr + length - page, MS_ASYNC) || errno != ENOMEM;
}

struct ibv_mr *soft_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access)
{
    if (length && !is_mapped(addr, length)) {
        errno = EFAULT;
        return NULL;
    }
    return soft_reg_mr_as(pd, addr, length, iova, access, 0);
}

struct ibv_mr *soft_reg_mr_as(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
                              uint32_t wanted)
{
    const unsigned remote_write = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    if (access & IBV_ACCESS_ON_DEMAND) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    /* ibv_reg_mr(3): remote write and atomic access need local write access. */
    if (((access & remote_write) && !(access & IBV_ACCESS_LOCAL_WRITE)) || (uintptr_t)addr + length < (uintptr_t)addr ||
        iova + length < iova) {
        errno = EINVAL;
        return NULL;
    }
    struct soft_mr *mr = calloc(1, sizeof *mr);
    if (!mr)
        return NULL;
    mr->base = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length};
    if (access & IBV_ACCESS_ZERO_BASED)
        iova = 0;
    uint32_t key = register_range(soft_context_of(pd->context), mr, iova, access, wanted);
    if (!key) {
        free(mr);
        errno = wanted ? EADDRINUSE : ENOMEM;
        return NULL;
    }
    mr->base.lkey = mr->base.rkey = mr->base.handle = key;
    atomic_fetch_add(&soft_pd_of(pd)->users, 1);
    soft_add(soft_context_of(pd->context), &mr->object, SOFT_MR);
    return &mr->base;
}

int soft_dereg_mr(struct ibv_mr *base)
{
    struct soft_mr *mr = (struct soft_mr *)base;
    struct soft_context *context = soft_context_of(base->context);
    if (soft_window_is_bound_to(context, base->lkey))
        return EBUSY; /* ibv_dereg_mr(3) */
    soft_lock(&context->mr_lock);
    soft_give_key(context, base->handle);
    soft_unlock(&context->mr_lock);
    atomic_fetch_sub(&soft_pd_of(base->pd)->users, 1);
    soft_remove(context, &mr->object);
    free(mr);
    return 0;
}

void soft_mr_free(struct soft_object *object)
{
    free(container_of(object, struct soft_mr, object));
}

void soft_memory_free(struct soft_context *context)
{
    for (unsigned i = 0; i < SOFT_MR_CHUNKS; i++)
        free(context->mr_chunks[i]);
    free(context->mr_chunks);
}
