/* Tags of datagrams between hosts: who made them has the job's key of this incarnation, and none is taken twice.
 *
 * Counters begin at the clock's nanoseconds when a queue pair is made, so that a later one at the same port begins
 * above all that an earlier one has used; a nonce is never used twice by one key, for an incarnation is on one host as
 * long as it lasts, and has a key of its own. */
#pragma once
#include "soft_types.h"

void soft_tag_begin(struct soft_qp *qp);
void soft_tag_free(struct soft_qp *qp);
/* The pieces are all that is sent, the header first, which says who sends. */
void soft_tag_sign(struct soft_qp *qp, struct soft_tag *tag, const struct iovec *pieces, size_t count);
/* Whether the tag of a datagram in the receive queue's window is right; wrong ones are counted. The queue is locked. */
bool soft_tag_is_right(struct soft_qp *qp, const struct soft_head *head, const struct msghdr *message,
                       uint32_t payload);
/* The same for a packet of a connection, which is locked. */
bool soft_tag_is_right_packet(struct soft_qp *qp, const struct soft_rc_wire *header, const struct soft_tag *tag,
                              const char *payload, uint32_t length);
