/* Sending. A datagram leaves in post_send itself, so that there is never one under way inside the
 * device: its completion is there when post_send returns.
 *
 * The path is a template: the caller names how a work request finds its destination. The bare device
 * (soft_send.c) makes it from the address handle and the QPN each time; a layer that knows destinations
 * of its own keeps them prepared (struct soft_destination) and hands those in. */
#pragma once
#include "soft_cq.h"
#include "soft_fault.h"
#include "soft_memory.h"
#include "soft_multicast.h"
#include "soft_qp.h"
#include "soft_tag.h"
#include <errno.h>
#include <string.h>

/* What a datagram to one QP says about it: made once, used for each send. */
struct soft_destination {
    struct sockaddr_in to;
    __be32 qpn;
    uint64_t end; /* the header's last eight bytes, from the flags on */
};
_Static_assert(offsetof(struct soft_wire, flags) == 24, "the header's end begins with the flags");

/* The destination of an address handle and a QPN, as soft_post_send would make it. */
void soft_prepare(struct ibv_ah *ah, uint32_t qpn, struct soft_destination *destination);

/* Finds a request's prepared destination; NULL with errno set when there is none. */
typedef const struct soft_destination *(*soft_find_destination)(const struct ibv_send_wr *wr);

struct soft_slot {
    struct soft_wire header;
    struct soft_tag tag; /* where there are tags: soft_tag.c */
    struct sockaddr_in to;
    struct iovec iov[1 + SOFT_MAX_SGE];
};
_Static_assert(offsetof(struct soft_slot, header) == 0 && offsetof(struct soft_slot, tag) == sizeof(struct soft_wire),
               "a tag lies right behind the header");

/* 0, or the status that the work request fails with. */
static inline enum ibv_wc_status soft_gather(struct soft_qp *qp, const struct ibv_send_wr *wr, struct soft_slot *slot,
                                             const struct sockaddr_in *to, struct msghdr *message)
{
    struct soft_context *context = soft_context_of(qp->base.context);
    uint32_t total = 0;
    unsigned n = 1;
    for (int i = 0; i < wr->num_sge; i++) {
        const struct ibv_sge *sge = &wr->sg_list[i];
        if (!sge->length)
            continue;
        /* Inline data needs no registration: ibv_post_send(3). */
        void *memory = wr->send_flags & IBV_SEND_INLINE ? (void *)(uintptr_t)sge->addr
                                                        : soft_memory(context, qp->base.pd, sge, false);
        if (unlikely(!memory))
            return IBV_WC_LOC_PROT_ERR;
        if (unlikely(sge->length > SOFT_MTU || (total += sge->length) > SOFT_MTU))
            return IBV_WC_LOC_LEN_ERR; /* a UD message is one packet */
        slot->iov[n++] = (struct iovec){memory, sge->length};
    }
    slot->iov[0] = (struct iovec){&slot->header, sizeof slot->header};
    *message =
        (struct msghdr){.msg_name = (void *)to, .msg_namelen = sizeof *to, .msg_iov = slot->iov, .msg_iovlen = n};
    return IBV_WC_SUCCESS;
}

static inline void soft_address(struct soft_qp *qp, const struct ibv_send_wr *wr, struct soft_slot *slot)
{
    const struct soft_ah *ah = soft_ah_of(wr->wr.ud.ah);
    uint32_t qpn = wr->wr.ud.remote_qpn, qkey = wr->wr.ud.remote_qkey;
    slot->to = ah->address;
    /* No QP has a number beyond the UDP ports: such a datagram ends at port 0, in nothing. */
    slot->to.sin_port = likely(qpn <= 0xffff) ? htons((uint16_t)qpn) : 0;
    slot->header = qp->header;
    slot->header.destination_qpn = htonl(qpn);
    /* A Q_Key with its high bit set stands for the QP's own: InfiniBand Architecture 1.2.1, 10.2.5. */
    slot->header.qkey = htonl(unlikely(qkey & 0x80000000u) ? qp->attr.qkey : qkey);
    slot->header.service_level = ah->attr.sl;
    uint8_t flags = wr->send_flags & IBV_SEND_SOLICITED ? SOFT_WIRE_SOLICITED : 0;
    if (wr->opcode == IBV_WR_SEND_WITH_IMM) {
        slot->header.immediate = wr->imm_data;
        flags |= SOFT_WIRE_IMMEDIATE;
    }
    if (unlikely(ah->attr.is_global)) {
        const struct ibv_global_route *grh = &ah->attr.grh;
        flags |= SOFT_WIRE_GRH;
        slot->header.hop_limit = grh->hop_limit;
        slot->header.version_class_flow =
            htonl(6u << 28 | (uint32_t)grh->traffic_class << 20 | (grh->flow_label & 0xfffff));
        if (unlikely(soft_is_multicast(&grh->dgid, ah->attr.dlid)))
            soft_address_group(ah, qpn, &slot->to, &slot->header);
    }
    slot->header.flags = flags;
}

static inline void soft_address_prepared(const struct soft_qp *qp, const struct ibv_send_wr *wr,
                                         const struct soft_destination *destination, struct soft_slot *slot)
{
    uint32_t qkey = wr->wr.ud.remote_qkey;
    uint64_t end = destination->end;
    slot->header = qp->header;
    slot->header.destination_qpn = destination->qpn;
    slot->header.qkey = htonl(unlikely(qkey & 0x80000000u) ? qp->attr.qkey : qkey); /* as above */
    if (unlikely(wr->send_flags & IBV_SEND_SOLICITED))
        end |= SOFT_WIRE_SOLICITED; /* the flags are its lowest byte: x86 is little-endian */
    if (wr->opcode == IBV_WR_SEND_WITH_IMM) {
        slot->header.immediate = wr->imm_data;
        end |= SOFT_WIRE_IMMEDIATE;
    }
    memcpy(&slot->header.flags, &end, sizeof end);
}

/* A post that is wrong in itself is refused at once, with an errno value. */
static inline int soft_check_send(const struct soft_qp *qp, const struct ibv_send_wr *wr)
{
    if (unlikely((wr->opcode != IBV_WR_SEND && wr->opcode != IBV_WR_SEND_WITH_IMM) || !wr->wr.ud.ah ||
                 wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge ||
                 (wr->send_flags & IBV_SEND_IP_CSUM)))
        return EINVAL;
    if (wr->send_flags & IBV_SEND_INLINE) {
        uint64_t total = 0;
        for (int i = 0; i < wr->num_sge; i++)
            total += wr->sg_list[i].length;
        if (unlikely(total > qp->cap.max_inline_data))
            return EINVAL;
    }
    return 0;
}

static inline void soft_send_completed(struct soft_qp *qp, const struct ibv_send_wr *wr, enum ibv_wc_status status)
{
    if (status == IBV_WC_SUCCESS && !qp->signal_all && !(wr->send_flags & IBV_SEND_SIGNALED))
        return; /* a failure is reported in any case */
    struct ibv_wc wc;
    memset(&wc, 0, sizeof wc);
    wc.wr_id = wr->wr_id;
    wc.status = status;
    wc.opcode = IBV_WC_SEND;
    wc.qp_num = qp->number;
    soft_cq_push_sent(qp->send_cq, &wc);
}

/* Wakes receivers that sleep for solicited datagrams only; see soft_channel.h. */
static inline void soft_ring_doorbell(struct soft_qp *qp, const struct msghdr *message)
{
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    if (!config->doorbell_network)
        return;
    struct sockaddr_in to = *(const struct sockaddr_in *)message->msg_name;
    if (IN_MULTICAST(ntohl(to.sin_addr.s_addr)))
        return; /* its receivers look at each */
    to.sin_addr.s_addr = htonl((ntohl(to.sin_addr.s_addr) & 0xffff) | config->doorbell_network);
    sendto(qp->socket, "", 1, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
}

/* Puts tags behind the headers, where there are tags; sends with faults, where there are any: then it returns true. */
bool soft_transmit_unusual(struct soft_qp *qp, struct mmsghdr *message, unsigned n);

/* Hands datagrams to the kernel; returns how many went, less than n when memory was not there to be
 * read (EFAULT). Every other error means a lost datagram: no route, no buffer, no such host. */
static inline unsigned soft_transmit(struct soft_qp *qp, struct mmsghdr *message, unsigned n)
{
    if (unlikely(qp->unusual) && soft_transmit_unusual(qp, message, n))
        return n;
    for (unsigned sent = 0; sent < n;) {
        if (n - sent == 1) {
            if (unlikely(sendmsg(qp->socket, &message[sent].msg_hdr, MSG_DONTWAIT) < 0 && errno == EFAULT))
                return sent;
            return n;
        }
        int now = sendmmsg(qp->socket, message + sent, n - sent, MSG_DONTWAIT);
        if (unlikely(now < 0 && errno == EFAULT))
            return sent;
        sent += now > 0 ? (unsigned)now : 1;
    }
    return n;
}

/* Sends the batch that begins with *wr and leaves *wr at the first work request behind it. Returns
 * an errno value when that one must be refused; *broken when one failed and the rest is to be flushed. */
static inline __attribute__((always_inline)) int soft_send_batch(struct soft_qp *qp, struct ibv_send_wr **wr,
                                                                 bool *broken, soft_find_destination find)
{
    struct soft_slot slot[SOFT_BATCH];
    struct mmsghdr message[SOFT_BATCH];
    struct ibv_send_wr *first = *wr, *at = first;
    enum ibv_wc_status failure = IBV_WC_SUCCESS;
    unsigned n = 0;
    int refused = 0;
    for (; at && n < SOFT_BATCH; at = at->next, n++) {
        const struct soft_destination *destination = NULL;
        if (unlikely(refused = soft_check_send(qp, at)))
            break;
        if (find && unlikely(!(destination = find(at)))) {
            refused = errno;
            break;
        }
        const struct sockaddr_in *to = find ? &destination->to : &slot[n].to;
        if (unlikely(failure = soft_gather(qp, at, &slot[n], to, &message[n].msg_hdr)))
            break;
        if (find)
            soft_address_prepared(qp, at, destination, &slot[n]);
        else
            soft_address(qp, at, &slot[n]);
    }
    unsigned sent = n ? soft_transmit(qp, message, n) : 0;
    if (unlikely(sent < n)) {
        failure = IBV_WC_LOC_PROT_ERR;
        refused = 0;
    }
    for (unsigned i = 0; i < sent; i++, first = first->next) {
        if (slot[i].header.flags & SOFT_WIRE_SOLICITED)
            soft_ring_doorbell(qp, &message[i].msg_hdr);
        soft_send_completed(qp, first, IBV_WC_SUCCESS);
    }
    if (unlikely(failure)) {
        soft_qp_send_failed(qp);
        soft_send_completed(qp, first, failure);
        first = first->next;
        *broken = true;
    }
    *wr = first;
    return refused;
}

static inline __attribute__((always_inline)) int soft_send(struct ibv_qp *base, struct ibv_send_wr *wr,
                                                           struct ibv_send_wr **bad, soft_find_destination find)
{
    struct soft_qp *qp = soft_qp_of(base);
    enum ibv_qp_state state = __atomic_load_n(&base->state, __ATOMIC_ACQUIRE);
    bool broken = state == IBV_QPS_SQE || state == IBV_QPS_ERR;
    int refused = broken || state == IBV_QPS_RTS ? 0 : EINVAL;
    while (wr && !broken && !refused)
        refused = soft_send_batch(qp, &wr, &broken, find);
    if (unlikely(refused))
        *bad = wr;
    else
        for (; unlikely(wr); wr = wr->next)
            soft_send_completed(qp, wr, IBV_WC_WR_FLUSH_ERR);
    if (!find) /* a layer above settles, when cq_failing has told it */
        soft_settle(soft_context_of(base->context));
    return refused;
}
