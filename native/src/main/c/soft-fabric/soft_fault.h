/* Faults on purpose: datagrams lost, doubled, overtaken, by per cent, from a seed. */
#pragma once
#include "soft_types.h"

int soft_fault_init(struct soft_qp *qp);
void soft_fault_free(struct soft_faults *faults);
/* Sends one datagram with the QP's faults. */
void soft_fault_send(struct soft_qp *qp, const struct msghdr *message);
/* Sends what a QP holds back, when no later datagram came to overtake it. */
void soft_fault_release(struct soft_qp *qp);
/* Called at each poll: a datagram is held back for so many polls at most. */
void soft_fault_tick(struct soft_cq *cq);
/* Called before the CQ's owner may sleep. */
void soft_fault_flush(struct soft_cq *cq);
