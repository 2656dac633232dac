#pragma once
#include "soft_types.h"

struct ibv_cq *soft_create_cq(struct ibv_context *, int cqe, void *cq_context, struct ibv_comp_channel *, int vector);
int soft_resize_cq(struct ibv_cq *, int cqe);
int soft_destroy_cq(struct ibv_cq *);
int soft_poll_cq(struct ibv_cq *, int count, struct ibv_wc *);
int soft_look_again(struct soft_cq *, int count, struct ibv_wc *);

/* Adds a completion that does not come from poll_cq itself; wakes an armed channel. On overflow the
 * CQ goes in error, and the caller, once it holds no lock, must call soft_settle(). */
void soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited);
/* The same for a send of a datagram; takes arrived ones in now and then. No lock is held. */
void soft_cq_push_sent(struct soft_cq *cq, const struct ibv_wc *wc);
/* As an overflow leaves it: what is in it can still be polled, then polling fails. */
void soft_cq_fail(struct ibv_cq *cq);
/* Drops the completions of a QP that is reset or destroyed. */
void soft_cq_clean(struct soft_cq *cq, uint32_t qpn);
int soft_cq_attach(struct soft_cq *cq, struct soft_qp *qp);
void soft_cq_detach(struct soft_cq *cq, struct soft_qp *qp);
/* Takes arrived datagrams in and puts their completions in the ring; receive_lock is held. */
void soft_cq_take_in(struct soft_cq *cq);

/* Puts the QPs of overflowed CQs in error (InfiniBand Architecture 1.2.1, section 11.6.3.2). */
void soft_settle_slow(struct soft_context *context);
static inline void soft_settle(struct soft_context *context)
{
    if (unlikely(atomic_load_explicit(&context->cq_failed, memory_order_relaxed)))
        soft_settle_slow(context);
}
