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
    rq->wqe = calloc(size, sizeof *rq->wqe);
    rq->sge = calloc((size_t) size * (max_sge ? max_sge : 1), sizeof *rq->sge);
    rq->iov = calloc((size_t) SOFT_BATCH * (1 + max_sge), sizeof *rq->iov);
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
        int status = wr->num_sge < 0 || (uint32_t) wr->num_sge > rq->max_sge ? EINVAL
                     : rq->tail - rq->head >= rq->size                       ? ENOMEM
                                                                             : 0;
        if (unlikely(status)) {
            *bad = wr;
            return status;
        }
        uint32_t at = rq->tail & rq->mask;
        rq->wqe[at] = (struct soft_recv_wqe){.wr_id = wr->wr_id, .num_sge = wr->num_sge};
        for (int i = 0; i < wr->num_sge; i++)
            rq->sge[at * rq->max_sge + (unsigned) i] = wr->sg_list[i];
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
    iov[0] = (struct iovec){&rq->header[slot], sizeof rq->header[slot]};
    rq->window_bad &= ~(1u << slot);
    for (int i = 0; i < rq->wqe[at].num_sge; i++) {
        const struct ibv_sge *sge = &rq->sge[at * rq->max_sge + (unsigned) i];
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
