/* Posting sends: the caller's work requests are const to us, so copies on the stack carry the real address handle, QPN and
 * keys. One request goes the short way (post_one); lists reach the device in chunks, and a refused one is counted back.
 *
 * A signaled request is recorded, since DRAIN waits for its completion, and its record's address is the real wr_id. Another
 * one keeps its wr_id: it has a completion only if it fails (virtual_poll.c tells the two apart). */
#include "rc.h"
#include "virtual.h"
#include "virtual_route.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct chunk {
    struct ibv_send_wr copies[CHUNK];
    struct work *works[CHUNK]; /* NULL: not recorded */
    struct ibv_sge sges[CHUNK_SGES];
    int count, sges_used;
};

/* A poller that was interrupted between the device's completion and ours still holds a slot: it is passed by. NULL: all are taken. */
static struct work *record(struct v_qp *qp, uint64_t wr_id)
{
    for (uint32_t tries = 0; tries <= qp->send_mask; tries++) {
        struct work *work = send_work(qp, __atomic_fetch_add(&qp->send_head, 1, __ATOMIC_RELAXED));
        if (UNLIKELY(!claim_work(work, WORK_SEND)))
            continue;
        work->wr_id = wr_id;
        return work;
    }
    return NULL;
}

/* The destination's QPN, and above it its Q_Key: x86 is little-endian. */
static inline uint64_t number_and_qkey(const struct ibv_send_wr *wr)
{
    uint64_t both;
    _Static_assert(offsetof(struct ibv_send_wr, wr.ud.remote_qkey) == offsetof(struct ibv_send_wr, wr.ud.remote_qpn) + 4, "read as one");
    memcpy(&both, &wr->wr.ud.remote_qpn, sizeof both);
    return both;
}

/* The flags, and above them what is immediate data or a key of another transport. */
static inline uint64_t flags_and_immediate(const struct ibv_send_wr *wr)
{
    uint64_t both;
    _Static_assert(offsetof(struct ibv_send_wr, imm_data) == offsetof(struct ibv_send_wr, send_flags) + 4, "read as one");
    memcpy(&both, &wr->send_flags, sizeof both);
    return both;
}

/* Fills the device's copy of a request, up to the members of other transports. The caller has read two pairs of members already. */
static inline void copy_request(struct ibv_send_wr *copy, const struct ibv_send_wr *wr, const struct route *route, uint64_t flags, uint64_t to)
{
    memcpy(copy, wr, offsetof(struct ibv_send_wr, send_flags));
    memcpy(&copy->send_flags, &flags, sizeof flags);
    copy->wr.ud.ah = route->real;
    to ^= route->change;
    memcpy(&copy->wr.ud.remote_qpn, &to, sizeof to);
}

static inline int is_signaled(const struct v_qp *qp, const struct ibv_send_wr *wr)
{
    return ((wr->send_flags | LOOK_AT(qp->always)) & IBV_SEND_SIGNALED) != 0;
}

/* Returns 0, an errno, or -1: it does not fit into this chunk any more. */
static int translate_sges(struct chunk *chunk, struct ibv_send_wr *copy)
{
    if (copy->num_sge < 0 || copy->num_sge > CHUNK_SGES)
        return EINVAL;
    if (chunk->sges_used + copy->num_sge > CHUNK_SGES)
        return -1;
    struct ibv_sge *sges = &chunk->sges[chunk->sges_used];
    for (int i = 0; i < copy->num_sge; i++) /* no memcpy: of none there may be no list */
        sges[i] = copy->sg_list[i];
    virtual_translate_sges(sges, (uint32_t)copy->num_sge);
    copy->sg_list = sges;
    chunk->sges_used += copy->num_sge;
    return 0;
}

/* Returns 0, an errno, or -1: begin a new chunk with this request. */
static int prepare(struct v_qp *qp, struct chunk *chunk, const struct ibv_send_wr *wr, uint64_t epoch)
{
    struct ibv_send_wr *copy = &chunk->copies[chunk->count];
    struct work *work = NULL;
    const struct route *route = route_of(wr, epoch);
    if (!route)
        return errno;
    copy_request(copy, wr, route, flags_and_immediate(wr), number_and_qkey(wr));
    int error = keys_differ() && !(wr->send_flags & IBV_SEND_INLINE) ? translate_sges(chunk, copy) : 0;
    if (error)
        return error;
    if (is_signaled(qp, wr)) {
        if (!(work = record(qp, wr->wr_id)))
            return ENOMEM;
        copy->wr_id = (uintptr_t)work;
    }
    copy->next = copy + 1;
    chunk->works[chunk->count++] = work;
    return 0;
}

/* Returns how many the device took, and its error. */
static int flush(struct v_qp *qp, struct chunk *chunk, int *error)
{
    struct ibv_send_wr *bad = NULL;
    chunk->copies[chunk->count - 1].next = NULL;
    *error = abs(post_real_send(qp->real, chunk->copies, &bad));
    int posted = *error ? (int)(bad - chunk->copies) : chunk->count;
    for (int i = posted; i < chunk->count; i++)
        if (chunk->works[i])
            free_work(chunk->works[i]);
    COUNT(ud_sends, posted);
    return posted;
}

/* Any requests of datagrams, also one that misses its route; the gate has been passed. */
__attribute__((noinline)) static int post_list(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct chunk chunk;
    uint64_t epoch = __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE);
    int error = 0, refused = 0;
    while (wr && !error && refused <= 0) {
        struct ibv_send_wr *first = wr;
        chunk.count = chunk.sges_used = refused = 0;
        for (; wr && chunk.count < CHUNK; wr = wr->next)
            if ((refused = prepare(qp, &chunk, wr, epoch)))
                break;
        int posted = chunk.count ? flush(qp, &chunk, &error) : 0;
        while (error && posted--)
            first = first->next;
        wr = error ? first : wr;
    }
    if (error || refused > 0)
        *bad = wr;
    gate_leave();
    return error ? error : refused > 0 ? refused : 0;
}

__attribute__((cold, noinline)) static int post_refused(struct work *work, int error, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (work)
        free_work(work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

/* From here on only what the short way needs. It calls the device and nothing else, and what only the way back from a refusal
 * needs stays in memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int hand_over(struct v_qp *qp, struct ibv_send_wr *copy, struct work *work, struct ibv_send_wr *wr,
                                                           struct ibv_send_wr **bad)
{
    struct ibv_send_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    struct work *volatile kept_work;
    if (work)
        kept_work = work;
    int error = post_real_send(qp->real, copy, bad);
    if (UNLIKELY(error))
        return post_refused(work ? kept_work : NULL, error, kept_wr, kept_bad);
    gate_thread_here *self = gate_self_anew();
    self->counters->ud_sends++;
    gate_leave_anew(self);
    return same(error);
}

/* Gives the copy an element with the device's key. Returns 0 when that is not for here. */
static inline int translate_one(struct ibv_send_wr *copy, struct ibv_sge *sge)
{
    if (copy->send_flags & IBV_SEND_INLINE)
        return 1;
    if (UNLIKELY(copy->num_sge != 1))
        return 0;
    uint32_t key = copy->sg_list->lkey;
    if (UNLIKELY(!translate_near(&key)))
        return 0;
    sge->addr = copy->sg_list->addr;
    sge->length = copy->sg_list->length;
    sge->lkey = key;
    copy->sg_list = sge;
    return 1;
}

/* One request whose route is known. */
static inline __attribute__((always_inline)) int post_one(struct v_qp *qp, const struct route *route, uint64_t to, struct ibv_send_wr *wr,
                                                          struct ibv_send_wr **bad)
{
    struct ibv_send_wr copy;
    struct ibv_sge sge;
    uint64_t own_flags = flags_and_immediate(wr);
    unsigned flags = (unsigned)own_flags | LOOK_AT(qp->always);
    copy_request(&copy, wr, route, own_flags, to);
    if (!(flags & (IBV_SEND_SIGNALED | SEND_KEYED)))
        return hand_over(qp, &copy, NULL, wr, bad);
    if (flags & SEND_KEYED && UNLIKELY(!translate_one(&copy, &sge)))
        return post_list(qp, wr, bad);
    if (!(flags & IBV_SEND_SIGNALED))
        return hand_over(qp, &copy, NULL, wr, bad);
    struct work *work = send_work(qp, __atomic_fetch_add(&qp->send_head, 1, __ATOMIC_RELAXED));
    if (UNLIKELY(!claim_work(work, WORK_SEND)))
        return post_list(qp, wr, bad);
    work->wr_id = wr->wr_id;
    copy.wr_id = (uintptr_t)work;
    return hand_over(qp, &copy, work, wr, bad);
}

static inline __attribute__((always_inline)) int post(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    const struct v_ah *ah = (const struct v_ah *)wr->wr.ud.ah;
    if (UNLIKELY(wr->next || !ah))
        return post_list(qp, wr, bad);
    uint64_t to = number_and_qkey(wr);
    const struct route *route = usual_route(ah, (uint32_t)to, __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE));
    return LIKELY(route != NULL) ? post_one(qp, route, to, wr, bad) : post_list(qp, wr, bad);
}

/* The gate was closed, or has been: nothing that the thread has seen before need be true any more. */
__attribute__((cold, noinline)) static int post_after_look(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (!gate_enter_slow()) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    return qp->rc ? rc_post_send(qp, wr, bad) : post_list(qp, wr, bad);
}

int virtual_post_datagrams(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return LIKELY(gate_enter_fast()) ? post((struct v_qp *)qp, wr, bad) : post_after_look((struct v_qp *)qp, wr, bad);
}

int virtual_post_any(struct ibv_qp *virtual, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct v_qp *qp = (struct v_qp *)virtual;
    if (UNLIKELY(!gate_enter_fast()))
        return post_after_look(qp, wr, bad);
    return qp->rc ? rc_post_send(qp, wr, bad) : post(qp, wr, bad);
}
