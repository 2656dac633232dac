#include "soft_send.h"
#include "soft_rc.h"

bool soft_transmit_unusual(struct soft_qp *qp, struct mmsghdr *message, unsigned n)
{
    for (unsigned i = 0; i < n && soft_context_of(qp->base.context)->config.tagged; i++) {
        struct soft_slot *slot = message[i].msg_hdr.msg_iov->iov_base;
        soft_tag_sign(qp, &slot->tag, message[i].msg_hdr.msg_iov, message[i].msg_hdr.msg_iovlen);
        message[i].msg_hdr.msg_iov->iov_len += sizeof slot->tag;
    }
    for (unsigned i = 0; i < n && qp->faults; i++)
        soft_fault_send(qp, &message[i].msg_hdr);
    return qp->faults;
}

void soft_prepare(struct ibv_ah *ah, uint32_t qpn, struct soft_destination *destination)
{
    struct soft_slot slot;
    struct soft_qp none = {0};
    struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .wr.ud = {.ah = ah, .remote_qpn = qpn}};
    soft_address(&none, &wr, &slot);
    destination->to = slot.to;
    destination->qpn = slot.header.destination_qpn;
    memcpy(&destination->end, &slot.header.flags, sizeof destination->end);
}

int soft_post_datagrams(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return soft_send(base, wr, bad, NULL);
}

int soft_post_send(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return soft_qp_of(base)->rc ? soft_rc_post_send(soft_qp_of(base), wr, bad) : soft_post_datagrams(base, wr, bad);
}
