/* Local keys. A key is (slot << 8 | generation), so that a stale key is noticed. */
#pragma once
#include "soft_types.h"

#define SOFT_MR_CHUNK 1024u
#define SOFT_MR_CHUNKS 4096u

struct soft_mr_slot {
    uint32_t key; /* 0 while the slot is free */
    bool writable;
    /* IBV_ACCESS_*, those of remote rights among them; small, so that a slot stays 48 bytes, which are quick to
     * index */
    uint16_t access;
    struct ibv_pd *pd;
    uint64_t start, end; /* as scatter/gather elements name it */
    uint64_t offset;     /* add to such an address to get the memory's */
    uint32_t next_free, generation;
};

/* The memory that an element names, or NULL when the key, the domain, the bounds or the right is
 * wrong (the work request then completes with IBV_WC_LOC_PROT_ERR). */
static inline void *soft_memory(struct soft_context *context, struct ibv_pd *pd, const struct ibv_sge *sge, bool write)
{
    uint32_t slot = sge->lkey >> 8;
    const struct soft_mr_slot *chunk =
        slot < SOFT_MR_CHUNK * SOFT_MR_CHUNKS ? context->mr_chunks[slot / SOFT_MR_CHUNK] : NULL;
    if (unlikely(!chunk))
        return NULL;
    const struct soft_mr_slot *mr = &chunk[slot % SOFT_MR_CHUNK];
    if (unlikely(mr->key != sge->lkey || mr->pd != pd || sge->addr < mr->start || sge->addr > mr->end ||
                 sge->length > mr->end - sge->addr || (write && !mr->writable)))
        return NULL;
    return (void *)(uintptr_t)(sge->addr + mr->offset);
}

static inline struct soft_mr_slot *soft_mr_slot_of(const struct soft_context *context, uint32_t key)
{
    uint32_t slot = key >> 8;
    struct soft_mr_slot *chunk =
        slot < SOFT_MR_CHUNK * SOFT_MR_CHUNKS ? context->mr_chunks[slot / SOFT_MR_CHUNK] : NULL;
    return chunk ? &chunk[slot % SOFT_MR_CHUNK] : NULL;
}

/* The memory of a memory window (soft_window.h), or NULL. */
__attribute__((cold)) char *soft_window_memory(const struct soft_qp *qp, struct ibv_pd *pd, uint32_t key,
                                               uint64_t address, uint32_t length, unsigned access);

/* The memory that a peer names by a remote key, or NULL when the key, the domain, the bounds or the right is wrong. */
static inline char *soft_remote_memory(const struct soft_qp *qp, struct ibv_pd *pd, uint32_t key, uint64_t address,
                                       uint32_t length, unsigned access)
{
    const struct soft_mr_slot *mr = soft_mr_slot_of(soft_context_of(qp->base.context), key);
    if (unlikely(!mr || !key || mr->key != key || mr->pd != pd || address < mr->start || address > mr->end ||
                 length > mr->end - address || (mr->access & access) != access))
        return soft_window_memory(qp, pd, key, address, length, access);
    return (char *)(uintptr_t)(address + mr->offset);
}

_Static_assert(sizeof(struct soft_mr_slot) == 48, "found by two shifts and an addition");

struct ibv_pd *soft_alloc_pd(struct ibv_context *context);
int soft_dealloc_pd(struct ibv_pd *pd);
struct ibv_mr *soft_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access);
/* With this key, which no region of the context has or had: for regions of an earlier incarnation. EADDRINUSE when it
 * is taken. */
struct ibv_mr *soft_reg_mr_as(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned access,
                              uint32_t key);
int soft_dereg_mr(struct ibv_mr *mr);
void soft_mr_free(struct soft_object *object);
/* A slot for a key, the one of `wanted` if that is not 0; returns a key of it, 0 when there is none. With mr_lock
 * held. */
uint32_t soft_take_key(struct soft_context *context, uint32_t wanted);
void soft_give_key(struct soft_context *context, uint32_t key);
void soft_memory_free(struct soft_context *context);
