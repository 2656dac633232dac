#include "soft_rq.h"
#include "soft_memory.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int soft_rq_init(struct soft_rq *rq, struct ibv_pd *pd, uint32_t max_wr, uint32_t max_sge)
{
    uint32_t size = 1;
    while (size < max_wr)
        size *= 2;
    rq->pd = pd;
    rq->size = max_wr;
    rq->mask = size - 1;
    rq->max_sge = max_sge;
    rq->header_bytes = soft_header_bytes(&soft_context_of(pd->context)->config);
    rq->wqe = calloc(size, sizeof *rq->wqe);
    rq->sge = calloc((size_t)size * (max_sge ? max_sge : 1), sizeof *rq->sge);
    rq->iov = calloc((size_t)SOFT_BATCH * (1 + max_sge), sizeof *rq->iov);
    if (rq->wqe && rq->sge && rq->iov)
        return 0;
    soft_rq_free(rq);
    return ENOMEM;
}

void soft_rq_free(struct soft_rq *rq)
{
    free(rq->wqe);
    free(rq->sge);
    free(rq->iov);
    rq->wqe = NULL;
    rq->sge = NULL;
    rq->iov = NULL;
}

int soft_rq_post(struct soft_rq *rq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    for (; wr; wr = wr->next) {
        int status = wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge ? EINVAL
                     : rq->tail - rq->head >= rq->size                      ? ENOMEM
                                                                            : 0;
        if (unlikely(status)) {
            *bad = wr;
            return status;
        }
        uint32_t at = rq->tail & rq->mask;
        rq->wqe[at] = (struct soft_recv_wqe){.wr_id = wr->wr_id, .num_sge = wr->num_sge};
        for (int i = 0; i < wr->num_sge; i++)
            rq->sge[at * rq->max_sge + (unsigned)i] = wr->sg_list[i];
        __atomic_store_n(&rq->tail, rq->tail + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

/* Makes one slot's message: the wire header, then the posted memory behind its first 40 bytes, which
 * belong to the GRH. Memory that is not registered leaves room for the header only. */
static void prepare(struct soft_rq *rq, unsigned slot, uint32_t number)
{
    uint32_t at = number & rq->mask;
    struct iovec *iov = &rq->iov[slot * (1 + rq->max_sge)];
    struct soft_context *context = soft_context_of(rq->pd->context);
    uint32_t grh = SOFT_GRH_BYTES;
    unsigned n = 1;
    iov[0] = (struct iovec){&rq->header[slot], rq->header_bytes};
    rq->window_bad &= ~(1u << slot);
    for (int i = 0; i < rq->wqe[at].num_sge; i++) {
        const struct ibv_sge *sge = &rq->sge[at * rq->max_sge + (unsigned)i];
        if (!sge->length)
            continue;
        char *memory = soft_memory(context, rq->pd, sge, true);
        if (unlikely(!memory)) {
            rq->window_bad |= 1u << slot;
            n = 1;
            break;
        }
        uint32_t skip = grh < sge->length ? grh : sge->length;
        grh -= skip;
        if (sge->length > skip)
            iov[n++] = (struct iovec){memory + skip, sge->length - skip};
    }
    rq->message[slot].msg_hdr = (struct msghdr){.msg_iov = iov, .msg_iovlen = n};
}

unsigned soft_rq_window(struct soft_rq *rq, unsigned want)
{
    uint32_t posted = rq->tail - rq->head;
    if (want > posted)
        want = posted;
    if (want > SOFT_BATCH)
        want = SOFT_BATCH;
    if (likely(rq->window_count >= want))
        return want;
    if (rq->window_first + want > SOFT_BATCH) /* no room behind it: prepare anew from slot 0 */
        rq->window_first = rq->window_count = 0;
    while (rq->window_count < want) {
        prepare(rq, rq->window_first + rq->window_count, rq->head + rq->window_count);
        rq->window_count++;
    }
    return want;
}

void soft_rq_consume(struct soft_rq *rq)
{
    __atomic_store_n(&rq->head, rq->head + 1, __ATOMIC_RELEASE);
    rq->window_first++;
    rq->window_count--;
    if (!rq->window_count)
        rq->window_first = 0;
}

static size_t room(const struct soft_rq *rq, unsigned slot)
{
    size_t bytes = 0;
    for (size_t i = 1; i < rq->message[slot].msg_hdr.msg_iovlen; i++)
        bytes += rq->message[slot].msg_hdr.msg_iov[i].iov_len;
    return bytes;
}

static void copy(const struct iovec *to, const struct iovec *from, size_t bytes)
{
    size_t written = 0, read = 0;
    while (bytes) {
        size_t n = bytes;
        n = to->iov_len - written < n ? to->iov_len - written : n;
        n = from->iov_len - read < n ? from->iov_len - read : n;
        memmove((char *)to->iov_base + written, (const char *)from->iov_base + read, n);
        written += n, read += n, bytes -= n;
        if (written == to->iov_len)
            to++, written = 0;
        if (read == from->iov_len)
            from++, read = 0;
    }
}

/* What was cut off, or does not fit where it belongs now, is lost, as a datagram may be. */
static void move(struct soft_rq *rq, unsigned from, unsigned to)
{
    const struct mmsghdr *source = &rq->message[from];
    struct mmsghdr *target = &rq->message[to];
    size_t payload = source->msg_len > rq->header_bytes ? source->msg_len - rq->header_bytes : 0;
    if ((source->msg_hdr.msg_flags & MSG_TRUNC) || payload > room(rq, to)) {
        target->msg_len = 0;
        return;
    }
    rq->header[to] = rq->header[from];
    target->msg_len = source->msg_len;
    target->msg_hdr.msg_flags = source->msg_hdr.msg_flags;
    copy(target->msg_hdr.msg_iov + 1, source->msg_hdr.msg_iov + 1, payload);
}

void soft_rq_drop(struct soft_rq *rq, unsigned behind)
{
    for (unsigned slot = rq->window_first; behind; slot++, behind--)
        move(rq, slot + 1, slot);
}

void soft_rq_take(struct soft_rq *rq)
{
    if (rq->window_count)
        soft_rq_consume(rq);
    else
        __atomic_store_n(&rq->head, rq->head + 1, __ATOMIC_RELEASE);
}

void soft_rq_clear(struct soft_rq *rq)
{
    __atomic_store_n(&rq->head, rq->tail, __ATOMIC_RELEASE);
    rq->window_first = rq->window_count = 0;
}
