/* Posting receives: each is recorded until its completion, so that a restart can post it again. The record holds the request
 * in the device's own form, so the device is given the record and nothing is copied twice. */
#include "virtual.h"
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

int virtual_make_receives(struct receive_ring *ring, uint32_t requests, uint32_t max_sges)
{
    ring->max_sges = max_sges;
    ring->works = virtual_make_ring(requests, sizeof(struct receive_work) + max_sges * sizeof(struct ibv_sge), &ring->mask, &ring->stride);
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = receive_at(ring, at);
        receive->posted.wr_id = (uintptr_t)&receive->work;
        receive->posted.sg_list = receive->sges;
    }
    return ring->works ? 0 : -1;
}

void virtual_name_receives(struct receive_ring *ring, uint32_t number)
{
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride)
        receive_at(ring, at)->work.number = number;
}

static inline struct receive_work *next_slot(struct receive_ring *ring)
{
    return receive_at(ring, __atomic_fetch_add(&ring->head, ring->stride, __ATOMIC_RELAXED));
}

/* Of a shared queue the requests may complete in another order: a slot that is still taken is passed by. */
static struct receive_work *free_slot(struct receive_ring *ring)
{
    for (uint32_t at = 0; at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = next_slot(ring);
        if (claim_work(&receive->work, WORK_RECEIVE))
            return receive;
    }
    return NULL;
}

/* All but the elements. */
static inline void record(struct receive_work *receive, const struct ibv_recv_wr *wr, int num_sge)
{
    receive->work.wr_id = wr->wr_id;
    receive->posted.num_sge = num_sge;
    receive->posted.next = NULL;
}

static void record_elements(struct receive_work *receive, const struct ibv_recv_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) /* no memcpy: of none there may be no list */
        receive->sges[i] = wr->sg_list[i];
    if (keys_differ())
        virtual_translate_sges(receive->sges, (uint32_t)wr->num_sge);
}

/* As libibverbs' inline functions call the provider. */
static inline int post_real(const struct receiver *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return to->srq ? to->srq->context->ops.post_srq_recv(to->srq, wr, bad) : to->qp->context->ops.post_recv(to->qp, wr, bad);
}

/* Records requests from *wr on, at most CHUNK of them, and leaves *wr at the first that is not. Returns 0 or an errno. */
static int record_some(struct receive_ring *ring, struct ibv_recv_wr **wr, struct receive_work **slots, int *count)
{
    for (*count = 0; *wr && *count < CHUNK; ++*count, *wr = (*wr)->next) {
        if (UNLIKELY((uint32_t)(*wr)->num_sge > ring->max_sges))
            return EINVAL;
        struct receive_work *receive = slots[*count] = free_slot(ring);
        if (UNLIKELY(!receive))
            return ENOMEM;
        record(receive, *wr, (*wr)->num_sge);
        record_elements(receive, *wr);
        if (*count)
            slots[*count - 1]->posted.next = &receive->posted;
    }
    return 0;
}

/* Returns how many the device took, and its error. */
static int flush(const struct receiver *to, struct receive_work **slots, int count, int *error)
{
    struct ibv_recv_wr *bad = NULL;
    *error = abs(post_real(to, &slots[0]->posted, &bad));
    int posted = *error ? 0 : count;
    for (int i = count; *error && i--;) {
        free_work(&slots[i]->work);
        if (&slots[i]->posted == bad) {
            posted = i;
            break;
        }
    }
    return posted;
}

/* Any requests; the gate has been passed. */
__attribute__((noinline)) static int post_list(const struct receiver *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct receive_work *slots[CHUNK];
    int error = 0, refused = 0, count;
    while (wr && !error && !refused) {
        struct ibv_recv_wr *first = wr;
        refused = record_some(to->ring, &wr, slots, &count);
        int posted = count ? flush(to, slots, count, &error) : 0;
        while (error && posted--)
            first = first->next;
        wr = error ? first : wr;
    }
    if (error || refused)
        *bad = wr;
    gate_leave();
    return error ? error : refused;
}

__attribute__((cold, noinline)) static int post_refused(struct receive_work *receive, int error, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    free_work(&receive->work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

__attribute__((cold, noinline)) static int post_after_look(const struct receiver *to, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (!gate_enter_slow()) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    return post_list(to, wr, bad);
}

__attribute__((cold, noinline)) static int post_queue_after_look(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_after_look(&(struct receiver){.qp = qp->real, .ring = &qp->receives}, wr, bad);
}

__attribute__((noinline)) static int post_queue_list(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_list(&(struct receiver){.qp = qp->real, .ring = &qp->receives}, wr, bad);
}

/* The usual case: one request of one piece. It calls the device and nothing else, and what only the way back from a refusal
 * needs stays in memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int post_one(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad, int keyed)
{
    const struct ibv_sge *sge = wr->sg_list;
    uint32_t key = sge->lkey;
    if (keyed && UNLIKELY(!translate_near(&key)))
        return post_queue_list(qp, wr, bad);
    struct receive_work *receive = next_slot(&qp->receives);
    if (UNLIKELY(!claim_work(&receive->work, WORK_RECEIVE)))
        return post_queue_list(qp, wr, bad);
    struct receive_work *volatile kept = receive;
    struct ibv_recv_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    record(receive, wr, 1);
    receive->sges[0] = *sge;
    if (keyed)
        receive->sges[0].lkey = key;
    int error = qp->real->context->ops.post_recv(qp->real, &receive->posted, bad);
    if (UNLIKELY(error))
        return post_refused(kept, error, kept_wr, kept_bad);
    gate_leave_anew(gate_self_anew());
    return same(error);
}

__attribute__((noinline)) static int post_keyed(struct v_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return post_one(qp, wr, bad, 1);
}

int virtual_post_recv(struct ibv_qp *virtual, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    if (UNLIKELY(!gate_enter_fast()))
        return post_queue_after_look(qp, wr, bad);
    if (UNLIKELY(wr->next || wr->num_sge != 1))
        return post_queue_list(qp, wr, bad);
    return UNLIKELY(LOOK_AT(qp->always) & SEND_KEYED) ? post_keyed(qp, wr, bad) : post_one(qp, wr, bad, 0);
}

int virtual_post_srq_recv(struct ibv_srq *virtual, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct v_srq *srq = (struct v_srq *)virtual;
    struct receiver to = {.srq = srq->real, .ring = &srq->receives};
    return LIKELY(gate_enter_fast()) ? post_list(&to, wr, bad) : post_after_look(&to, wr, bad);
}

/* Before the memory of a new life is known: the records hold the old life's keys. */
void virtual_untranslate_receives(const struct v_context *context, struct receive_ring *ring)
{
    for (uint32_t at = 0; ring->works && at <= ring->mask; at += ring->stride) {
        struct receive_work *receive = receive_at(ring, at);
        if (receive->work.state == WORK_RECEIVE)
            virtual_untranslate_sges(context, receive->sges, (uint32_t)receive->posted.num_sge);
    }
}

/* In a new life, oldest first. */
int virtual_repost_receives(const struct receiver *to)
{
    struct ibv_recv_wr *bad;
    for (uint32_t at = 0; at <= to->ring->mask; at += to->ring->stride) {
        struct receive_work *receive = receive_at(to->ring, to->ring->head + at);
        if (receive->work.state != WORK_RECEIVE)
            continue;
        virtual_translate_sges(receive->sges, (uint32_t)receive->posted.num_sge);
        receive->posted.next = NULL;
        errno = abs(post_real(to, &receive->posted, &bad));
        if (errno)
            return -1;
    }
    return 0;
}
