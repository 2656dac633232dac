/* Receive queues: posting, and the window of prepared messages. */
#pragma once
#include "soft_types.h"

int soft_rq_init(struct soft_rq *rq, struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge);
void soft_rq_free(struct soft_rq *rq);
/* Appends a list; 0, EINVAL or ENOMEM with *bad at the first that was not taken. rq->lock is held. */
int soft_rq_post(struct soft_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* Prepares up to `want` messages from the head on; returns how many are ready. rq->lock is held. */
unsigned soft_rq_window(struct soft_rq *rq, unsigned want);
/* The message in the head's slot is not taken: the `behind` ones that came with it move up, so that receives complete
 * in their order. */
__attribute__((cold)) void soft_rq_drop(struct soft_rq *rq, unsigned behind);
/* Removes the head. rq->lock is held. */
void soft_rq_consume(struct soft_rq *rq);
/* The same, when the head may not be prepared: its work request goes to a reliable connection. */
void soft_rq_take(struct soft_rq *rq);
void soft_rq_clear(struct soft_rq *rq);

static inline bool soft_rq_empty(const struct soft_rq *rq)
{
    return __atomic_load_n(&rq->head, __ATOMIC_RELAXED) == __atomic_load_n(&rq->tail, __ATOMIC_RELAXED);
}
