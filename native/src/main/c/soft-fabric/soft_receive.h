/* Taking datagrams in: from a QP's socket straight into posted memory. */
#pragma once
#include "soft_types.h"

/* Completes up to `count` receives of one QP; returns how many. Sets *solicited when one of them was
 * sent as solicited or failed. recv_cq->receive_lock is held. */
int soft_receive(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited);
int soft_receive_grouped(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited);
/* The same where datagrams have tags. */
int soft_receive_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited);
int soft_receive_grouped_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited);
/* Throws away what has arrived so far. */
void soft_discard(struct soft_qp *qp);
/* The same, if no receive is posted: an armed channel must not be woken by it again and again. */
void soft_discard_unposted(struct soft_qp *qp);
/* Completes requests that are posted in the error state. */
/* After a receive that failed, whose completion the caller has still in its hands. */
void soft_receive_failed(struct soft_qp *qp);

void soft_flush_receives(struct soft_qp *qp, struct ibv_recv_wr *wr);
int soft_post_recv(struct ibv_qp *, struct ibv_recv_wr *, struct ibv_recv_wr **bad);
