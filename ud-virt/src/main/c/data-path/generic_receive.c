/* The generic path (beside it: fused_path.c): posting receives. Each is recorded until its completion, so that a
 * restart can post it again. The record holds the request in the device's own form, so the device is given the record
 * and nothing is copied twice. */
#include "generic_path.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Twice what the device takes: a slot is used again only long after its request has completed. */
char *virtual_make_ring(uint32_t requests, size_t bytes, uint32_t *mask, uint32_t *stride)
{
    enum { LINE = 64 };
    uint32_t slots = 16;
    for (*stride = LINE; *stride < bytes;)
        *stride *= 2;
    while (slots < 2 * requests)
        slots *= 2;
    *mask = slots * *stride - 1;
    char *ring = aligned_alloc(LINE, (size_t)slots * *stride);
    return ring ? memset(ring, 0, (size_t)slots * *stride) : NULL;
}

int virtual_make_receives(struct work_ring *ring, uint32_t requests, uint32_t max_sges)
{
    ring->max_sges = max_sges;
    ring->works = virtual_make_ring(requests, sizeof(struct receive_work) + max_sges * sizeof(struct ibv_sge),
                                    &ring->mask, &ring->stride);
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = receive_at(ring, at);
        receive->posted.wr_id = (uintptr_t)&receive->work;
        receive->posted.sg_list = receive->sges;
        receive->posted.num_sge = 1;
    }
    return ring->works ? 0 : -1;
}

void virtual_name_receives(struct work_ring *ring, uint32_t number)
{
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride)
        receive_at(ring, at)->work.number = number;
}

/* Requests of a shared queue may complete in another order: slots that are still taken are skipped. */
static struct receive_work *free_slot(struct work_ring *ring)
{
    for (uint32_t at = 0; at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = draw_slot(ring);
        if (claim_work(&receive->work, WORK_RECEIVE))
            return receive;
    }
    return NULL;
}

static void record(struct receive_work *receive, const struct ibv_recv_wr *wr)
{
    receive->work.wr_id = wr->wr_id;
    count_pieces(&receive->work, WORK_RECEIVE, wr->num_sge);
    for (int i = 0; i < wr->num_sge; i++) /* no memcpy: of none there may be no list */
        receive->sges[i] = wr->sg_list[i];
    if (keys_differ())
        virtual_translate_sges(receive->sges, (uint32_t)wr->num_sge);
}

/* As libibverbs' inline functions call the provider. */
static int post_real(const struct receiver *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return abs(to->srq ? to->srq->context->ops.post_srq_recv(to->srq, wr, bad)
                       : to->qp->context->ops.post_recv(to->qp, wr, bad));
}

/* What goes to the device: a list, since a record is made for one request of one element. */
struct chunk {
    struct ibv_recv_wr copies[CHUNK];
    struct receive_work *slots[CHUNK];
    int count;
};

/* Records requests from *wr on, at most CHUNK of them, and leaves *wr at the first that is not. Returns 0 or an
 * errno. */
static int record_some(struct work_ring *ring, struct ibv_recv_wr **wr, struct chunk *chunk)
{
    for (chunk->count = 0; *wr && chunk->count < CHUNK; ++chunk->count, *wr = (*wr)->next) {
        if (UNLIKELY((uint32_t)(*wr)->num_sge > ring->max_sges))
            return EINVAL;
        struct receive_work *receive = chunk->slots[chunk->count] = free_slot(ring);
        if (UNLIKELY(!receive))
            return ENOMEM;
        record(receive, *wr);
        struct ibv_recv_wr *copy = &chunk->copies[chunk->count];
        *copy = receive->posted;
        copy->num_sge = (*wr)->num_sge;
        if (chunk->count)
            copy[-1].next = copy;
    }
    return 0;
}

/* Returns how many the device took, and its error. */
static int flush(const struct receiver *to, struct chunk *chunk, int *error)
{
    struct ibv_recv_wr *bad = NULL;
    *error = post_real(to, chunk->copies, &bad);
    int posted = *error ? (int)(bad - chunk->copies) : chunk->count;
    for (int i = posted; i < chunk->count; i++)
        free_work(&chunk->slots[i]->work);
    return posted;
}

/* Any requests; the gate has been passed. */
__attribute__((noinline)) static int post_list(const struct receiver *to, struct ibv_recv_wr *wr,
                                               struct ibv_recv_wr **bad)
{
    struct chunk chunk;
    int error = 0, refused = 0;
    while (wr && !error && !refused) {
        struct ibv_recv_wr *first = wr;
        refused = record_some(to->ring, &wr, &chunk);
        int posted = chunk.count ? flush(to, &chunk, &error) : 0;
        while (error && posted--)
            first = first->next;
        wr = error ? first : wr;
    }
    if (error || refused)
        *bad = wr;
    gate_leave();
    return error ? error : refused;
}

/* The device has named the record that it was given (ibv_post_recv(3)). */
__attribute__((cold, noinline)) static int post_refused(int error, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    free_work(&((struct receive_work *)*bad)->work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

__attribute__((noinline)) static int post_queue_list(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_list(&(struct receiver){.qp = qp->real, .ring = &qp->receives}, wr, bad);
}

int generic_receive_after_look(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (!gate_enter_slow()) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    return post_queue_list(qp, wr, bad);
}

/* The usual case: one request of one piece. It calls the device and nothing else, and what only the way back from a
 * refusal needs stays in memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int post_one(struct v_qp *qp, struct ibv_recv_wr *wr,
                                                          struct ibv_recv_wr **bad, int translated)
{
    if (UNLIKELY(wr->next || wr->num_sge != 1))
        return post_queue_list(qp, wr, bad);
    struct receive_work *receive = draw_slot(&qp->receives);
    if (UNLIKELY(!claim_work(&receive->work, WORK_RECEIVE)))
        return post_queue_list(qp, wr, bad);
    struct ibv_recv_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    receive->work.wr_id = wr->wr_id;
    if (!translated) {
        receive->sges[0] = *wr->sg_list;
    } else if (UNLIKELY(!translate_element(&receive->sges[0], wr->sg_list))) {
        free_work(&receive->work);
        return post_queue_list(qp, wr, bad);
    }
    int error = LOOK_AT(generic_calls.post_recv)(qp->real, &receive->posted, bad);
    if (UNLIKELY(error))
        return post_refused(error, kept_wr, kept_bad);
    gate_leave_anew(gate_self_anew());
    return same(error);
}

int generic_receive_plain(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_one(qp, wr, bad, 0);
}

int generic_receive_translated(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_one(qp, wr, bad, 1);
}

int generic_post_srq_recv(struct ibv_srq *virtual, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct v_srq *srq = (struct v_srq *)virtual;
    if (UNLIKELY(!gate_enter())) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    /* not before: who waits at the gate may go on in another incarnation */
    struct receiver to = {.srq = srq->real, .ring = &srq->receives};
    return post_list(&to, wr, bad);
}

/* Before the memory of a new incarnation is known: the records hold the old incarnation's keys. */
void virtual_untranslate_receives(const struct v_context *context, struct work_ring *ring)
{
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = receive_at(ring, at);
        if (receive->work.state != WORK_FREE)
            virtual_untranslate_sges(context, receive->sges, pieces_of(receive->work.state));
    }
}

/* In a new incarnation, oldest first. */
int virtual_repost_receives(const struct receiver *to)
{
    struct ibv_recv_wr *bad;
    for (uint32_t at = 0; at <= to->ring->mask; at += to->ring->stride) {
        struct receive_work *receive = receive_at(to->ring, to->ring->head + at);
        struct ibv_recv_wr copy = receive->posted;
        if (receive->work.state == WORK_FREE)
            continue;
        copy.num_sge = (int)pieces_of(receive->work.state);
        virtual_translate_sges(receive->sges, (uint32_t)copy.num_sge);
        errno = post_real(to, &copy, &bad);
        if (errno)
            return -1;
    }
    return 0;
}
