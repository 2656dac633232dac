#include "soft_send.h"
#include "soft_rc.h"

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
