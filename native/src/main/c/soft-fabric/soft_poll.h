/* Polling, for soft_cq.c and for a layer that polls from a function of its own. */
#pragma once
#include "soft_channel.h"
#include "soft_cq.h"
#include "soft_fault.h"

static inline int soft_take_ring(struct soft_cq *cq, int count, struct ibv_wc *wc)
{
    soft_lock(&cq->ring_lock);
    uint32_t ready = cq->tail - cq->head, n = ready < (uint32_t)count ? ready : (uint32_t)count;
    for (uint32_t i = 0; i < n; i++)
        wc[i] = cq->ring[(cq->head + i) & cq->mask];
    __atomic_store_n(&cq->head, cq->head + n, __ATOMIC_RELAXED);
    soft_unlock(&cq->ring_lock);
    return (int)n;
}

/* Takes datagrams in, straight into the caller's completions. When the caller's room ends at one QP
 * the next poll starts behind it, so that a busy QP cannot starve its neighbours. */
typedef int (*soft_receive_function)(struct soft_qp *, int count, struct ibv_wc *, bool *solicited);

/* usual: what most queue pairs receive with, called without a look-up where the caller knows it; or NULL. */
static inline __attribute__((always_inline)) int soft_take_arrived(struct soft_cq *cq, int count, struct ibv_wc *wc,
                                                                   soft_receive_function usual,
                                                                   soft_receive_function usual_inlined)
{
    int got = 0;
    bool solicited = false;
    unsigned n = cq->receiver_count, at = cq->receiver_first;
    for (unsigned i = 0; i < n && got < count; i++) {
        struct soft_qp *qp = cq->receivers[at];
        at = at + 1 < n ? at + 1 : 0;
        soft_receive_function receiver = soft_receiver(qp);
        got += likely(usual && receiver == usual) ? usual_inlined(qp, count - got, wc + got, &solicited)
                                                  : receiver(qp, count - got, wc + got, &solicited);
    }
    cq->receiver_first = got == count ? at : 0;
    if (got && cq->base.channel)
        soft_channel_completed(cq, solicited);
    return got;
}

/* Ranks that spin on an empty CQ take the processor from those that they wait for: after some polls
 * in vain, let others run. Whether they did. */
static inline bool soft_idle(struct soft_cq *cq)
{
    unsigned polls = __atomic_load_n(&cq->idle_polls, __ATOMIC_RELAXED) + 1;
    __atomic_store_n(&cq->idle_polls, polls, __ATOMIC_RELAXED);
    if (polls % SOFT_IDLE_POLLS)
        return false;
    sched_yield();
    return true;
}

static inline bool soft_ring_is_empty(const struct soft_cq *cq)
{
    return __atomic_load_n(&cq->tail, __ATOMIC_ACQUIRE) == __atomic_load_n(&cq->head, __ATOMIC_RELAXED);
}

static inline __attribute__((always_inline)) int soft_poll(struct ibv_cq *base, int count, struct ibv_wc *wc,
                                                           bool settle, soft_receive_function usual,
                                                           soft_receive_function usual_inlined)
{
    struct soft_cq *cq = soft_cq_of(base);
    int got = 0;
    if (!soft_ring_is_empty(cq))
        got = soft_take_ring(cq, count, wc);
    if (unlikely(soft_context_of(base->context)->config.reorder > 0))
        soft_fault_tick(cq);
    /* When another thread is receiving here, what arrives is its completion, not ours. */
    if (got < count && __atomic_load_n(&cq->receiver_count, __ATOMIC_RELAXED) && soft_trylock(&cq->receive_lock)) {
        got += soft_take_arrived(cq, count - got, wc + got, usual, usual_inlined);
        soft_unlock(&cq->receive_lock);
        if (settle)
            soft_settle(soft_context_of(base->context));
        /* Connections put what they take in into the ring; and a poll tells of what is there when it returns. */
        if (!got && (!soft_ring_is_empty(cq) || soft_idle(cq)))
            got = soft_look_again(cq, count, wc);
    }
    if (unlikely(!got && atomic_load_explicit(&cq->failed, memory_order_relaxed)))
        return -1;
    return got;
}
