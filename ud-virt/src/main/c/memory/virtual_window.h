/* Memory windows (docs/internals/rc.md). On the generic path a window is another one of the device
 * in each incarnation. The job's keys of it are a block of 256 numbers, of which the lowest byte counts as that of the
 * device's does, by a difference that holds for an incarnation: so each key has one meaning as long as an incarnation
 * lasts, and peers on other hosts may remember it. */
#pragma once
#include "virtual.h"
#include "virtual.h"

struct v_mw {
    struct ibv_mw mw;
    struct ibv_mw *real;
    struct v_link link;
    struct v_mw *next_block; /* of all windows whose blocks are given; guarded as the regions' keys */
    struct window_binding
        binding; /* as the completions tell; on the fused path: while an incarnation is rebuilt. mr_key, qpn: virtual */
    uint32_t shift;   /* from the lowest byte of its keys to that of the device's */
    uint64_t told[4]; /* bit by lowest byte: peers on other hosts can ask for that key, in this incarnation */
    struct v_mr *mr;  /* while it is bound: to what */
    struct v_qp *qp;  /* and through which queue pair; NULL when that is gone */
};

static inline int is_window_opcode(enum ibv_wr_opcode opcode)
{
    _Static_assert(IBV_WR_LOCAL_INV == 7 && IBV_WR_BIND_MW == 8 && IBV_WR_SEND_WITH_INV == 9, "in this order; ABI");
    return opcode >= IBV_WR_LOCAL_INV && opcode <= IBV_WR_SEND_WITH_INV;
}

static inline uint32_t window_real_key(const struct v_mw *mw, uint32_t key)
{
    return (mw->real->rkey & ~0xffu) | ((key + mw->shift) & 0xff);
}

static inline uint32_t window_virtual_key(const struct v_mw *mw, uint32_t real)
{
    return (mw->mw.handle & ~0xffu) | ((real - mw->shift) & 0xff);
}

struct ibv_mw *virtual_alloc_mw(struct ibv_pd *, enum ibv_mw_type type);
int virtual_dealloc_mw(struct ibv_mw *);
/* By the job's key, or the device's; NULL: there is none. Under virtual_mutex, or with the gate closed. */
struct v_mw *virtual_window_of(struct v_context *context, uint32_t key);
/* Peers learn the device's key of this one, if it is another. 0 or an errno. */
int virtual_tell_window(struct v_mw *mw, uint32_t key);

/* On the generic path: before a completion is named, what it says of windows. */
void virtual_note_window(struct v_context *context, struct ibv_wc *wc);
/* What was bound to a region that is gone, or (type 2) through a queue pair. Under virtual_mutex. */
void virtual_forget_windows_of(struct v_context *context, const struct v_mr *mr, const struct v_qp *qp);

int virtual_keep_windows(struct v_context *context); /* before the old device is forgotten */
int virtual_rebuild_windows(
    struct v_context *context); /* 0, or -1 with errno; on the generic path they are bound later */
