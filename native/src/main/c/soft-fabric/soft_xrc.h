/* XRC (InfiniBand Architecture 1.2.1, annex A14): a connection whose requests name the shared receive queue that they
 * are for, so that one connection between two nodes serves all receivers there. Its two ends are a requester and a
 * responder of a reliable connection, and what is theirs alone is here.
 *
 * A domain is the protection domain that its targets are made in (verbs_device.h). */
#pragma once
#include "soft_rc.h"

struct ibv_srq *soft_create_xrc_srq(struct ibv_pd *, struct ibv_srq_init_attr *, struct ibv_pd *domain, struct ibv_cq *,
                                    uint32_t number);
int soft_srq_number(struct ibv_srq *, uint32_t *number);
int soft_xrc_add_target(struct soft_qp *qp); /* 0 or ENOMEM */
void soft_xrc_remove_target(struct soft_qp *qp);
/* Whether a program sleeps until one of the queues that a target may deliver to has something. */
bool soft_xrc_is_armed(const struct soft_qp *target);
void soft_xrc_remove(struct soft_srq *srq); /* no message goes there any more when it returns */

/* The queue that a request of an initiator is for. */
static inline uint32_t soft_xrc_number(const struct soft_rc *rc, uint32_t index)
{
    return rc->srq_numbers[index & rc->mask];
}

/* All of these with rc->lock held. */
/* Notes the shared receive queue of an initiator's next request, if the send queue has room; 0 or ENOMEM. */
int soft_xrc_take_number(struct soft_rc *rc, const struct ibv_send_wr *wr);
/* The request at the cursor, of count pieces, as count + 1: with the number behind the header. */
void soft_xrc_extend(const struct soft_rc *rc, __be32 *number, const struct iovec *iov, unsigned count,
                     struct iovec *extended);
void soft_xrc_requested(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload, uint32_t length);
/* Whether the receive that a message was filling is of this queue. */
bool soft_xrc_fills(const struct soft_rc *rc, const struct soft_srq *srq);
/* The receive that a message was filling is flushed, outside of a packet. */
void soft_xrc_flush(struct soft_rc *rc, const struct ibv_wc *wc);
