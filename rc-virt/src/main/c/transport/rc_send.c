/* The generic path (beside it: fused_path.c): posting to a reliable connection. Each request is recorded until its
 * completion, with its inline data, so that a restart can post it again; to know of every completion, the device is
 * asked for each, and those that the job did not ask for end in generic_poll.c. The record holds the request in the
 * device's own form, so the device is given the record and nothing is copied twice. */
#include "rc.h"
#include "data-path/generic_path.h"
#include "memory/virtual_window.h"
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

/* What a SEND has in the place of a remote key is anything. */
static inline int names_memory(enum ibv_wr_opcode opcode)
{
    return opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM && opcode < IBV_WR_LOCAL_INV;
}

static int check(const struct v_qp *qp, const struct ibv_send_wr *wr)
{
    if (UNLIKELY(wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->requests.max_sges))
        return EINVAL;
    return is_usual(wr->opcode) || is_atomic(wr->opcode) || is_window_opcode(wr->opcode) ? 0 : EOPNOTSUPP;
}

static inline char *inline_data(const struct v_qp *qp, struct request_work *request)
{
    return (char *)(request->sges + qp->requests.max_sges);
}

/* Makes one element of all, or none of no bytes. Returns 0, or EINVAL when the data do not fit. */
static int copy_inline(const struct v_qp *qp, struct request_work *request, const struct ibv_send_wr *wr)
{
    char *data = inline_data(qp, request), *to = data;
    uint32_t left = qp->rc->max_inline;
    for (int i = 0; i < wr->num_sge; i++) {
        if (wr->sg_list[i].length > left)
            return EINVAL;
        memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
        to += wr->sg_list[i].length;
        left -= wr->sg_list[i].length;
    }
    request->sges[0] = (struct ibv_sge){(uintptr_t)data, (uint32_t)(to - data), 0};
    count_pieces(&request->work, WORK_SEND, to != data);
    return 0;
}

static inline int is_outstanding(const struct request_work *request)
{
    return __atomic_load_n(&request->work.state, __ATOMIC_ACQUIRE) != WORK_FREE;
}

/* All but the elements and what names the peer's memory. */
static inline void record_head(struct request_work *request, const struct ibv_send_wr *wr)
{
    struct ibv_send_wr *posted = &request->posted;
    uint64_t flags_and_immediate;
    _Static_assert(offsetof(struct ibv_send_wr, imm_data) == offsetof(struct ibv_send_wr, send_flags) + 4,
                   "copied as one");
    memcpy(&flags_and_immediate, &wr->send_flags, sizeof flags_and_immediate);
    request->work.wr_id = wr->wr_id;
    request->flags = (unsigned)flags_and_immediate;
    flags_and_immediate |= IBV_SEND_SIGNALED; /* x86 is little-endian */
    posted->opcode = wr->opcode;
    memcpy(&posted->send_flags, &flags_and_immediate, sizeof flags_and_immediate);
}

/* Where the job's remote key is kept: `wr.rdma` ends with four bytes of padding, next to the key of this
 * incarnation. */
enum { RC_RDMA_PADDING = offsetof(struct ibv_send_wr, wr.rdma.rkey) + 4 };
_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) == offsetof(struct ibv_send_wr, wr.rdma) + 8,
               "16 bytes with the padding");
_Static_assert(sizeof(((struct ibv_send_wr *)0)->wr) >= 16, "16 bytes with the padding");

typedef uint32_t quad __attribute__((vector_size(16)));
typedef quad loose_quad __attribute__((aligned(4), may_alias));

/* The address, and the key twice: the second is the job's, when the first becomes that of this incarnation. */
static inline void record_rdma(struct request_work *request, const struct ibv_send_wr *wr)
{
    quad from = *(const loose_quad *)&wr->wr.rdma;
    *(loose_quad *)&request->posted.wr.rdma = __builtin_shufflevector(from, from, 0, 1, 2, 2);
}

static void record_atomic(struct request_work *request, const struct ibv_send_wr *wr)
{
    request->posted.wr.atomic = wr->wr.atomic;
    request->atomic_rkey = wr->wr.atomic.rkey;
}

/* Puts the key of this incarnation in. */
static void translate_rkey(const struct v_rc *rc, struct request_work *request)
{
    uint32_t key;
    memcpy(&key, (char *)&request->posted + RC_RDMA_PADDING, sizeof key);
    if (is_atomic(request->posted.opcode))
        request->posted.wr.atomic.rkey = keys_file_real_key(rc->keys, request->atomic_rkey);
    else if (names_memory(request->posted.opcode))
        request->posted.wr.rdma.rkey = keys_file_real_key(rc->keys, key);
}

static void record_elements(struct request_work *request, const struct ibv_send_wr *wr)
{
    for (int i = 0; i < wr->num_sge; i++) /* no memcpy: of none there may be no list */
        request->sges[i] = wr->sg_list[i];
    count_pieces(&request->work, WORK_SEND, wr->num_sge);
    if (keys_differ())
        virtual_translate_sges(request->sges, (uint32_t)wr->num_sge);
}

/* A poller that was interrupted between the device's completion and ours still holds a slot: it is passed by. NULL:
 * all are taken. */
static struct request_work *free_slot(struct work_ring *ring)
{
    for (uint32_t at = 0; at <= ring->mask; at += ring->stride) {
        struct request_work *request = draw_slot(ring);
        if (claim_work(&request->work, WORK_SEND))
            return request;
    }
    return NULL;
}

/* Any request. Returns 0 or an errno. */
static int record(struct v_qp *qp, const struct ibv_send_wr *wr, struct request_work **recorded)
{
    int error = check(qp, wr);
    if (UNLIKELY(error))
        return error;
    struct request_work *request = *recorded = free_slot(&qp->requests);
    if (UNLIKELY(!request))
        return ENOMEM;
    record_head(request, wr);
    if (UNLIKELY(wr->opcode == IBV_WR_BIND_MW || wr->opcode == IBV_WR_LOCAL_INV)) {
        error = rc_record_local(qp, request, wr);
        if (error)
            free_work(&request->work);
        return error;
    }
    if (is_atomic(wr->opcode))
        record_atomic(request, wr);
    else
        record_rdma(request, wr);
    if (UNLIKELY(qp->qp.qp_type == IBV_QPT_XRC_SEND))
        request->posted.qp_type.xrc.remote_srqn = wr->qp_type.xrc.remote_srqn;
    translate_rkey(qp->rc, request);
    if (wr->send_flags & IBV_SEND_INLINE)
        error = copy_inline(qp, request, wr);
    else
        record_elements(request, wr);
    if (UNLIKELY(error))
        free_work(&request->work);
    return error;
}

/* Hands a recorded request to the device of this incarnation. Returns 0 or an errno. */
static int submit(struct v_qp *qp, struct request_work *request)
{
    struct ibv_send_wr *bad, copy = request->posted;
    if (UNLIKELY(is_window_opcode(copy.opcode)))
        return rc_submit_window(qp, request, &copy);
    copy.num_sge = (int)pieces_of(__atomic_load_n(&request->work.state, __ATOMIC_RELAXED));
    return abs(qp->real->context->ops.post_send(qp->real, &copy, &bad));
}

__attribute__((noinline)) int rc_post_list(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    int error = 0;
    for (; wr; wr = wr->next) {
        struct request_work *request;
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

/* The device has named the record that it was given (ibv_post_send(3)). */
__attribute__((cold, noinline)) static int post_refused(int error, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    free_work(&((struct request_work *)*bad)->work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

/* One request of one piece. It calls the device and nothing else, and what only the way back from a refusal needs
 * stays in memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int post_one(struct v_qp *qp, struct ibv_send_wr *wr,
                                                          struct ibv_send_wr **bad, int translated)
{
    uint32_t rkey = wr->wr.rdma.rkey;
    if (translated && UNLIKELY(!keys_file_translate_near(qp->rc->keys, &rkey)) && names_memory(wr->opcode))
        return rc_post_list(qp, wr, bad);
    struct request_work *request = draw_slot(&qp->requests);
    if (UNLIKELY(!claim_work(&request->work, WORK_SEND)))
        return rc_post_list(qp, wr, bad);
    struct ibv_send_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    record_head(request, wr);
    record_rdma(request, wr);
    if (!translated) {
        request->sges[0] = *wr->sg_list;
    } else if (UNLIKELY(!translate_element(&request->sges[0], wr->sg_list))) {
        free_work(&request->work);
        return rc_post_list(qp, wr, bad);
    }
    if (translated)
        request->posted.wr.rdma.rkey = rkey;
    int error = LOOK_AT(generic_calls.post_send)(qp->real, &request->posted, bad);
    if (UNLIKELY(error))
        return post_refused(error, kept_wr, kept_bad);
    gate_thread_here *self = gate_self_anew();
    self->counters->rc_sends++;
    gate_leave_anew(self);
    return same(error);
}

static inline int is_short(const struct ibv_send_wr *wr)
{
    return LIKELY(!wr->next && wr->num_sge == 1 && is_usual(wr->opcode) && !(wr->send_flags & IBV_SEND_INLINE));
}

int rc_post_translated(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return is_short(wr) ? post_one(qp, wr, bad, 1) : rc_post_list(qp, wr, bad);
}

int rc_post_plain(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (UNLIKELY(LOOK_AT(*qp->peer_keys_differ)))
        return rc_post_translated(qp, wr, bad);
    return is_short(wr) ? post_one(qp, wr, bad, 0) : rc_post_list(qp, wr, bad);
}

void rc_untranslate_requests(struct v_qp *qp)
{
    for (uint32_t at = 0; at <= qp->requests.mask; at += qp->requests.stride) {
        struct request_work *request = request_at(&qp->requests, at);
        if (is_outstanding(request) && !(request->flags & IBV_SEND_INLINE))
            virtual_untranslate_sges(context_of(qp->qp.context), request->sges, pieces_of(request->work.state));
    }
}

int rc_post_again(struct v_qp *qp)
{
    for (uint32_t at = 0; at <= qp->requests.mask; at += qp->requests.stride) {
        struct request_work *request = request_at(&qp->requests, qp->requests.head + at);
        if (!is_outstanding(request))
            continue;
        translate_rkey(qp->rc, request);
        if (!(request->flags & IBV_SEND_INLINE))
            virtual_translate_sges(request->sges, pieces_of(request->work.state));
        errno = submit(qp, request);
        if (errno)
            return -1;
    }
    return 0;
}

unsigned rc_outstanding(const struct v_qp *qp)
{
    unsigned count = 0;
    for (uint32_t at = 0; qp->requests.works && at <= qp->requests.mask; at += qp->requests.stride)
        count += is_outstanding(request_at(&qp->requests, at));
    return count;
}

int rc_reserve_completions(struct v_cq *cq, int change)
{
    int reserved = __atomic_add_fetch(&cq->reserved, change, __ATOMIC_RELAXED);
    if (change <= 0)
        return 0;
    return lower_device->resize_cq ? lower_device->resize_cq(cq->real, cq->wanted + reserved) : EOPNOTSUPP;
}
