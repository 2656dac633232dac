/* Packets of a reliable connection, and the memory that they come from and go to. */
#include "soft_fault.h"
#include "soft_memory.h"
#include "soft_rc.h"
#include <errno.h>
#include <string.h>
#include <time.h>

uint64_t soft_rc_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t) now.tv_sec * 1000000000u + (uint64_t) now.tv_nsec;
}

int soft_rc_transmit(struct soft_rc *rc, struct soft_rc_wire *header, struct iovec *iov, unsigned count)
{
    struct soft_qp *qp = rc->qp;
    iov[0] = (struct iovec){header, sizeof *header};
    struct msghdr message = {.msg_name = &rc->to, .msg_namelen = sizeof rc->to, .msg_iov = iov, .msg_iovlen = count};
    if (unlikely(qp->faults)) {
        soft_fault_send(qp, &message);
        return 0;
    }
    /* Every other error is one more lost packet, which is sent again. */
    return unlikely(sendmsg(qp->socket, &message, MSG_DONTWAIT) < 0 && errno == EFAULT) ? EFAULT : 0;
}

int soft_rc_gather(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset, uint32_t length, struct iovec *iov)
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
        uint32_t part = sge[i].length - (uint32_t) offset < length ? sge[i].length - (uint32_t) offset : length;
        iov[n++] = (struct iovec){memory + offset, part};
        length -= part;
        offset = 0;
    }
    return n;
}

enum ibv_wc_status soft_rc_scatter(struct soft_rc *rc, const struct ibv_sge *sge, int count, uint64_t offset, const char *from, uint32_t length)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    for (int i = 0; i < count && length; i++) {
        if (offset >= sge[i].length) {
            offset -= sge[i].length;
            continue;
        }
        char *memory = soft_memory(context, rc->qp->base.pd, &sge[i], true);
        if (unlikely(!memory))
            return IBV_WC_LOC_PROT_ERR;
        uint32_t part = sge[i].length - (uint32_t) offset < length ? sge[i].length - (uint32_t) offset : length;
        memcpy(memory + offset, from, part);
        from += part;
        length -= part;
        offset = 0;
    }
    return length ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}
