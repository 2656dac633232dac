/* Packets of a reliable connection, and the memory that they come from and go to. */
#include "soft_fault.h"
#include "soft_memory.h"
#include "soft_rc.h"
#include "soft_tag.h"
#include "soft_xrc.h"
#include <errno.h>
#include <string.h>
#include <time.h>

uint64_t soft_rc_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The memory may change meanwhile, as with any one-sided work: so what is signed is what is sent, a copy. */
static void send_tagged(struct soft_rc *rc, const struct soft_rc_wire *header, const struct iovec *iov, unsigned count)
{
    char payload[SOFT_XRC_BYTES + SOFT_MTU];
    struct soft_tag tag;
    size_t length = 0;
    for (unsigned i = 1; i < count; i++) {
        memcpy(payload + length, iov[i].iov_base, iov[i].iov_len);
        length += iov[i].iov_len;
    }
    struct iovec untagged[2] = {{(void *)header, sizeof *header}, {payload, length}};
    soft_tag_sign(rc->qp, &tag, untagged, 2);
    struct iovec pieces[3] = {untagged[0], {&tag, sizeof tag}, untagged[1]};
    struct msghdr message = {
        .msg_name = &rc->to, .msg_namelen = sizeof rc->to, .msg_iov = pieces, .msg_iovlen = length ? 3 : 2};
    if (rc->qp->faults)
        soft_fault_send(rc->qp, &message);
    else
        sendmsg(rc->qp->socket, &message, MSG_DONTWAIT); /* an error is one more lost packet */
}

/* With tags, or faults, or more than the payload behind the header. Returns 0 or EFAULT. */
__attribute__((noinline)) static int transmit_unusual(struct soft_rc *rc, const struct soft_rc_wire *header,
                                                      struct iovec *iov, unsigned count)
{
    struct iovec extended[2 + SOFT_MAX_SGE];
    __be32 number;
    if (rc->service == SOFT_XRC_INITIATOR) {
        soft_xrc_extend(rc, &number, iov, count++, extended);
        iov = extended;
    }
    struct msghdr message = {.msg_name = &rc->to, .msg_namelen = sizeof rc->to, .msg_iov = iov, .msg_iovlen = count};
    if (soft_context_of(rc->qp->base.context)->config.tagged)
        send_tagged(rc, header, iov, count);
    else if (rc->qp->faults)
        soft_fault_send(rc->qp, &message);
    else if (sendmsg(rc->qp->socket, &message, MSG_DONTWAIT) < 0 && errno == EFAULT)
        return EFAULT;
    return 0;
}

int soft_rc_transmit(struct soft_rc *rc, struct soft_rc_wire *header, struct iovec *iov, unsigned count)
{
    struct soft_qp *qp = rc->qp;
    iov[0] = (struct iovec){header, sizeof *header};
    struct msghdr message = {.msg_name = &rc->to, .msg_namelen = sizeof rc->to, .msg_iov = iov, .msg_iovlen = count};
    if (unlikely(qp->unusual))
        return transmit_unusual(rc, header, iov, count);
    /* Every other error is one more lost packet, which is sent again. */
    return unlikely(sendmsg(qp->socket, &message, MSG_DONTWAIT) < 0 && errno == EFAULT) ? EFAULT : 0;
}

int soft_rc_gather(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset, uint32_t length,
                   struct iovec *iov)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    int n = 0;
    for (int i = 0; i < count && length; i++) {
        if (offset >= sge[i].length) {
            offset -= sge[i].length;
            continue;
        }
        char *memory = soft_memory(context, rc->qp->base.pd, &sge[i], false);
        if (unlikely(!memory))
            return -1;
        uint32_t part = sge[i].length - (uint32_t)offset < length ? sge[i].length - (uint32_t)offset : length;
        iov[n++] = (struct iovec){memory + offset, part};
        length -= part;
        offset = 0;
    }
    return n;
}

enum ibv_wc_status soft_rc_scatter(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset,
                                   const char *from, uint32_t length)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    for (int i = 0; i < count && length; i++) {
        if (offset >= sge[i].length) {
            offset -= sge[i].length;
            continue;
        }
        char *memory = soft_memory(context, rc->pd, &sge[i], true);
        if (unlikely(!memory))
            return IBV_WC_LOC_PROT_ERR;
        uint32_t part = sge[i].length - (uint32_t)offset < length ? sge[i].length - (uint32_t)offset : length;
        memcpy(memory + offset, from, part);
        from += part;
        length -= part;
        offset = 0;
    }
    return length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}
