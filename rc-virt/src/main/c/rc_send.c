/* Posting to a reliable connection, for a device that does not borrow the translation. Each request is recorded until its
 * completion, with its inline data, so that a restart can post it again; to know of every completion, the device is asked
 * for each, and those that the job did not ask for end in virtual_poll.c. The record holds the request in the device's own
 * form, so the device is given the record and nothing is copied twice. */
#include "rc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int is_atomic(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* SEND, RDMA WRITE, both with immediate data, and RDMA READ are the first five; the numbers are ABI. */
static inline int is_usual(enum ibv_wr_opcode opcode)
{
    _Static_assert(IBV_WR_RDMA_WRITE == 0 && IBV_WR_RDMA_READ == 4 && IBV_WR_ATOMIC_CMP_AND_SWP == 5, "in this order");
    return (unsigned)opcode <= IBV_WR_RDMA_READ;
}

static int check(const struct v_rc *rc, const struct ibv_send_wr *wr)
{
    if (UNLIKELY(wr->num_sge < 0 || (uint32_t)wr->num_sge > rc->max_sges))
        return EINVAL;
    return is_usual(wr->opcode) || is_atomic(wr->opcode) ? 0 : EOPNOTSUPP;
}

/* Returns 0, or EINVAL when the data do not fit. */
static int copy_inline(const struct v_rc *rc, struct rc_request *request, const struct ibv_send_wr *wr)
{
    char *data = rc_inline_data(rc, request), *to = data;
    uint32_t left = rc->max_inline;
    for (int i = 0; i < wr->num_sge; i++) {
        if (wr->sg_list[i].length > left)
            return EINVAL;
        memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        to += wr->sg_list[i].length;
        left -= wr->sg_list[i].length;
    }
    request->sges[0] = (struct ibv_sge){(uintptr_t)data, rc->max_inline - left, 0};
    request->posted.num_sge = left < rc->max_inline;
    return 0;
}

static inline struct rc_request *next_slot(struct v_rc *rc)
{
    return rc_request_at(rc, __atomic_fetch_add(&rc->requests_head, rc->stride, __ATOMIC_RELAXED));
}

static inline int is_outstanding(const struct rc_request *request)
{
    return __atomic_load_n(&request->work.state, __ATOMIC_ACQUIRE) != WORK_FREE;
}

/* All but the elements and the remote key. `always` is the queue pair's. */
static inline void record_head(struct rc_request *request, const struct ibv_send_wr *wr, uint32_t always)
{
    struct ibv_send_wr *posted = &request->posted;
    _Static_assert(offsetof(struct ibv_send_wr, wr) == offsetof(struct ibv_send_wr, num_sge) + 16, "num_sge, opcode, flags, immediate data");
    __atomic_store_n(&request->work.state, wr->send_flags | always, __ATOMIC_RELAXED);
    request->work.wr_id = wr->wr_id;
    posted->next = NULL;
    memcpy(&posted->num_sge, &wr->num_sge, 16);
    posted->send_flags |= IBV_SEND_SIGNALED;
    posted->wr.rdma.remote_addr = wr->wr.rdma.remote_addr;
}

static void record_rdma(const struct v_rc *rc, struct rc_request *request, const struct ibv_send_wr *wr)
{
    request->rkey = wr->wr.rdma.rkey;
    request->posted.wr.rdma.rkey = rc_real_key(rc->keys, request->rkey);
}

static void record_elements(struct rc_request *request, const struct ibv_send_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) /* no memcpy: of none there may be no list */
        request->sges[i] = wr->sg_list[i];
    if (keys_differ())
        virtual_translate_sges(request->sges, (uint32_t)wr->num_sge);
}

static void record_atomic(const struct v_rc *rc, struct rc_request *request, const struct ibv_send_wr *wr)
{
    request->posted.wr.atomic = wr->wr.atomic;
    request->rkey = wr->wr.atomic.rkey;
    request->posted.wr.atomic.rkey = rc_real_key(rc->keys, request->rkey);
}

/* A poller that was interrupted between the device's completion and ours still holds a slot: it is passed by. NULL: all are taken. */
static struct rc_request *free_slot(struct v_rc *rc)
{
    for (uint32_t at = 0; at <= rc->requests_mask; at += rc->stride) {
        struct rc_request *request = next_slot(rc);
        if (claim_work(&request->work, WORK_SEND))
            return request;
    }
    return NULL;
}

/* Any request. Returns 0 or an errno. */
static int record(struct v_qp *qp, const struct ibv_send_wr *wr, struct rc_request **recorded)
{
    struct v_rc *rc = qp->rc;
    int error = check(rc, wr);
    if (UNLIKELY(error))
        return error;
    struct rc_request *request = *recorded = free_slot(rc);
    if (UNLIKELY(!request))
        return ENOMEM;
    record_head(request, wr, LOOK_AT(qp->always));
    if (is_atomic(wr->opcode))
        record_atomic(rc, request, wr);
    else
        record_rdma(rc, request, wr);
    if (wr->send_flags & IBV_SEND_INLINE)
        error = copy_inline(rc, request, wr);
    else
        record_elements(request, wr);
    if (UNLIKELY(error))
        free_work(&request->work);
    return error;
}

/* Hands a recorded request to the device of this life. Returns 0 or an errno. */
static int submit(struct v_qp *qp, struct rc_request *request)
{
    struct ibv_send_wr *bad;
    return abs(post_real_send(qp->real, &request->posted, &bad));
}

__attribute__((noinline)) static int post_list(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    int error = 0;
    for (; wr; wr = wr->next) {
        struct rc_request *request;
        error = record(qp, wr, &request);
        if (LIKELY(!error) && UNLIKELY(error = submit(qp, request)))
            free_work(&request->work);
        if (UNLIKELY(error)) {
            *bad = wr;
            break;
        }
        COUNT(rc_sends, 1);
    }
    gate_leave();
    return error;
}

__attribute__((cold, noinline)) static int post_refused(struct rc_request *request, int error, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    free_work(&request->work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

/* One request of one piece. It calls the device and nothing else, and what only the way back from a refusal needs stays in
 * memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int post_one(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad, int keyed)
{
    struct v_rc *rc = qp->rc;
    uint32_t rkey = wr->wr.rdma.rkey, key = keyed ? wr->sg_list->lkey : 0;
    if (UNLIKELY((keyed && !translate_near(&key)) || !rc_translate_near(rc->keys, &rkey)))
        return post_list(qp, wr, bad);
    struct rc_request *request = next_slot(rc);
    if (UNLIKELY(!claim_work(&request->work, WORK_SEND)))
        return post_list(qp, wr, bad);
    struct rc_request *volatile kept = request;
    struct ibv_send_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    record_head(request, wr, LOOK_AT(qp->always));
    request->rkey = wr->wr.rdma.rkey;
    request->posted.wr.rdma.rkey = rkey;
    request->sges[0] = *wr->sg_list;
    if (keyed)
        request->sges[0].lkey = key;
    int error = post_real_send(qp->real, &request->posted, bad);
    if (UNLIKELY(error))
        return post_refused(kept, error, kept_wr, kept_bad);
    gate_thread_here *self = gate_self_anew();
    self->counters->rc_sends++;
    gate_leave_anew(self);
    return same(error);
}

__attribute__((noinline)) static int post_keyed(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return post_one(qp, wr, bad, 1);
}

int rc_post_send(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (UNLIKELY(wr->next || wr->num_sge != 1 || !is_usual(wr->opcode) || wr->send_flags & IBV_SEND_INLINE))
        return post_list(qp, wr, bad);
    return UNLIKELY(LOOK_AT(qp->always) & SEND_KEYED) ? post_keyed(qp, wr, bad) : post_one(qp, wr, bad, 0);
}

void rc_untranslate_requests(struct v_qp *qp)
{
    for (uint32_t at = 0; at <= qp->rc->requests_mask; at += qp->rc->stride) {
        struct rc_request *request = rc_request_at(qp->rc, at);
        if (is_outstanding(request) && !(request->posted.send_flags & IBV_SEND_INLINE))
            virtual_untranslate_sges(context_of(qp->qp.context), request->sges, (uint32_t)request->posted.num_sge);
    }
}

static void translate_again(const struct v_rc *rc, struct rc_request *request)
{
    uint32_t key = rc_real_key(rc->keys, request->rkey);
    if (is_atomic(request->posted.opcode))
        request->posted.wr.atomic.rkey = key;
    else
        request->posted.wr.rdma.rkey = key;
    if (!(request->posted.send_flags & IBV_SEND_INLINE))
        virtual_translate_sges(request->sges, (uint32_t)request->posted.num_sge);
}

int rc_post_again(struct v_qp *qp)
{
    for (uint32_t at = 0; at <= qp->rc->requests_mask; at += qp->rc->stride) {
        struct rc_request *request = rc_request_at(qp->rc, qp->rc->requests_head + at);
        if (!is_outstanding(request))
            continue;
        translate_again(qp->rc, request);
        errno = submit(qp, request);
        if (errno)
            return -1;
    }
    return 0;
}

unsigned rc_outstanding(const struct v_qp *qp)
{
    unsigned count = 0;
    for (uint32_t at = 0; qp->rc->requests && at <= qp->rc->requests_mask; at += qp->rc->stride)
        count += is_outstanding(rc_request_at(qp->rc, at));
    return count;
}

int rc_reserve_completions(struct v_cq *cq, int change)
{
    int reserved = __atomic_add_fetch(&cq->reserved, change, __ATOMIC_RELAXED);
    if (change <= 0)
        return 0;
    return lower_device->resize_cq ? lower_device->resize_cq(cq->real, cq->wanted + reserved) : EOPNOTSUPP;
}
