/* Completion channels. The channel's descriptor is an epoll set of an eventfd, which tells of
 * events that were raised, and of the sockets of armed QPs, which tell that taking datagrams in will
 * make completions: so a sleeper wakes although nobody polls. */
#pragma once
#include "soft_types.h"

struct ibv_comp_channel *soft_create_comp_channel(struct ibv_context *);
int soft_destroy_comp_channel(struct ibv_comp_channel *);
int soft_get_cq_event(struct ibv_comp_channel *, struct ibv_cq **, void **cq_context);
void soft_ack_cq_events(struct ibv_cq *, unsigned count);
int soft_req_notify_cq(struct ibv_cq *, int solicited_only);

void soft_channel_join(struct soft_channel *channel, struct soft_cq *cq);
void soft_channel_leave(struct soft_channel *channel, struct soft_cq *cq);
int soft_channel_watch(struct soft_channel *channel, struct soft_qp *qp);
int soft_channel_watch_group(struct soft_channel *channel, struct soft_group *group);
/* Wakes the QP's channel when its CQ was armed before the QP could receive. */
void soft_channel_rearm(struct soft_cq *cq);
void soft_channel_raise(struct soft_cq *cq);

/* A completion was added: raise the event if the CQ is armed for it. The fence pairs with the one
 * in soft_req_notify_cq: either the adder sees the CQ armed or the armer's next poll sees the entry. */
static inline void soft_channel_completed(struct soft_cq *cq, bool solicited)
{
    atomic_thread_fence(memory_order_seq_cst);
    int armed = atomic_load_explicit(&cq->armed, memory_order_relaxed);
    if (likely(armed == SOFT_UNARMED) || (armed == SOFT_ARMED_SOLICITED && !solicited))
        return;
    if (atomic_compare_exchange_strong(&cq->armed, &armed, SOFT_UNARMED))
        soft_channel_raise(cq);
}
