/* The generic path: posting sends. It runs on real devices, and on the soft fabric with UDCKPT_DATA_PATH=generic;
 * there the default is the fused path (fused_path.c). The caller's work requests are const to us, so copies on the
 * stack carry the real address handle, QPN and keys. One request goes a short way (generic_path.h); lists reach the
 * device in chunks, and a refused one is counted back.
 *
 * A signaled request is recorded, since DRAIN waits for its completion, and its record's address is the real wr_id.
 * Another one keeps its wr_id: it has a completion only if it fails (generic_poll.c tells the two apart). */
#include "generic_path.h"
#include "address/virtual_route.h"
#include "queue-pair/transport.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct chunk {
    struct ibv_send_wr copies[CHUNK];
    struct work *works[CHUNK]; /* NULL: not recorded */
    struct ibv_sge sges[CHUNK_SGES];
    int count, sges_used;
};

/* A poller that was interrupted between the device's completion and ours still holds a slot: it is passed by. NULL:
 * all are taken. */
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

typedef uint64_t two __attribute__((vector_size(16)));
typedef two loose_two __attribute__((aligned(8), may_alias));
#define TWO(member) (*(loose_two *)&(member))

/* Fills the device's copy of a request, up to the members of other transports, without the destination. */
static inline void copy_head(struct ibv_send_wr *copy, const struct ibv_send_wr *wr)
{
    _Static_assert(offsetof(struct ibv_send_wr, sg_list) == 16 && offsetof(struct ibv_send_wr, send_flags) == 32,
                   "copied by 16 bytes");
    TWO(copy->wr_id) = TWO(wr->wr_id);
    TWO(copy->sg_list) = TWO(wr->sg_list);
    memcpy(&copy->send_flags, &wr->send_flags,
           offsetof(struct ibv_send_wr, wr) - offsetof(struct ibv_send_wr, send_flags));
}

/* The address handle, the QPN, and the Q_Key, which stays. */
static inline void copy_destination(struct ibv_send_wr *copy, const struct ibv_send_wr *wr, const struct route *route)
{
    _Static_assert(offsetof(struct ibv_send_wr, wr.ud.remote_qpn) == offsetof(struct ibv_send_wr, wr.ud.ah) + 8,
                   "changed as one");
    TWO(copy->wr.ud) = TWO(wr->wr.ud) ^ route->change;
}

static inline int is_signaled(const struct v_qp *qp, const struct ibv_send_wr *wr)
{
    return qp->wanted.sq_sig_all || wr->send_flags & IBV_SEND_SIGNALED;
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
    copy_head(copy, wr);
    copy->wr.ud.ah = route->real;
    copy->wr.ud.remote_qpn = route->real_qpn;
    copy->wr.ud.remote_qkey = wr->wr.ud.remote_qkey;
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
    *error = abs(qp->real->context->ops.post_send(qp->real, chunk->copies, &bad));
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

__attribute__((cold, noinline)) static int post_refused(struct work *work, int error, struct ibv_send_wr *wr,
                                                        struct ibv_send_wr **bad)
{
    if (work)
        free_work(work);
    *bad = wr;
    gate_leave();
    return abs(error);
}

/* From here on only what the short ways need. They call the device and nothing else, and what only the way back from a
 * refusal needs stays in memory: so no register is saved for every request. */
static inline __attribute__((always_inline)) int hand_over(struct v_qp *qp, struct ibv_send_wr *copy, struct work *work,
                                                           struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    struct ibv_send_wr *volatile kept_wr = wr, **volatile kept_bad = bad;
    struct work *volatile kept_work;
    if (work)
        kept_work = work;
    int error = LOOK_AT(generic_calls.post_send)(qp->real, copy, bad);
    if (UNLIKELY(error))
        return post_refused(work ? kept_work : NULL, error, kept_wr, kept_bad);
    gate_thread_here *self = gate_self_anew();
    self->counters->ud_sends++;
    gate_leave_anew(self);
    return same(error);
}

/* Gives the copy an element with the device's key; inline data have none. Returns 0 when that is not for here. */
static inline __attribute__((always_inline)) int translate_one(struct ibv_send_wr *copy, struct ibv_sge *sge,
                                                               const struct ibv_send_wr *wr)
{
    copy->sg_list = sge;
    if (LIKELY(translate_element(sge, wr->sg_list)))
        return 1;
    *sge = *wr->sg_list;
    return *(const volatile unsigned *)&wr->send_flags & IBV_SEND_INLINE; /* not to be kept in a register from before */
}

/* Fills the copy. In a first incarnation (`translated` is 0) only the address handle is another one than the job's.
 * Else there is one element; returns 0 when that is not for here. */
static inline __attribute__((always_inline)) int copy_one(struct ibv_send_wr *copy, struct ibv_sge *sge,
                                                          const struct ibv_send_wr *wr, const struct route *route,
                                                          int translated)
{
    _Static_assert(offsetof(struct ibv_send_wr, wr) - offsetof(struct ibv_send_wr, num_sge) == 16,
                   "copied by 16 bytes");
    if (!translated) {
        copy_head(copy, wr);
    } else {
        if (UNLIKELY(!translate_one(copy, sge, wr)))
            return 0;
        TWO(copy->wr_id) = TWO(wr->wr_id);
        TWO(copy->num_sge) = TWO(wr->num_sge);
    }
    copy_destination(copy, wr, route);
    return 1;
}

static inline __attribute__((always_inline)) int post_signaled(struct v_qp *qp, struct ibv_send_wr *wr,
                                                               struct ibv_send_wr **bad, const struct route *route,
                                                               int translated)
{
    struct ibv_send_wr copy;
    struct ibv_sge sge;
    if (UNLIKELY(!copy_one(&copy, &sge, wr, route, translated)))
        return post_list(qp, wr, bad);
    struct work *work = send_work(qp, __atomic_fetch_add(&qp->send_head, 1, __ATOMIC_RELAXED));
    if (UNLIKELY(!claim_work(work, WORK_SEND)))
        return post_list(qp, wr, bad);
    work->wr_id = wr->wr_id;
    copy.wr_id = (uintptr_t)work;
    return hand_over(qp, &copy, work, wr, bad);
}

/* Not cloned: the compiler would load members of the route for them, in the way of every request. */
__attribute__((noinline, noclone)) static int post_signaled_plain(struct v_qp *qp, struct ibv_send_wr *wr,
                                                                  struct ibv_send_wr **bad, const struct route *route)
{
    return post_signaled(qp, wr, bad, route, 0);
}

__attribute__((noinline, noclone)) static int
post_signaled_translated(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad, const struct route *route)
{
    return post_signaled(qp, wr, bad, route, 1);
}

int generic_post_plain(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    const struct v_ah *ah = (const struct v_ah *)wr->wr.ud.ah;
    struct ibv_send_wr copy;
    if (UNLIKELY(wr->next || !ah))
        return post_list(qp, wr, bad);
    const struct route *route = plain_route(ah, wr->wr.ud.remote_qpn);
    if (UNLIKELY(!route))
        return post_list(qp, wr, bad);
    if (UNLIKELY(wr->send_flags & IBV_SEND_SIGNALED))
        return post_signaled_plain(qp, wr, bad, route);
    copy_one(&copy, NULL, wr, route, 0);
    return hand_over(qp, &copy, NULL, wr, bad);
}

int generic_post_translated(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    const struct v_ah *ah = (const struct v_ah *)wr->wr.ud.ah;
    struct ibv_send_wr copy;
    struct ibv_sge sge;
    if (UNLIKELY(wr->next || !ah || wr->num_sge != 1))
        return post_list(qp, wr, bad);
    const struct route *route = usual_route(ah, wr->wr.ud.remote_qpn, __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE));
    if (UNLIKELY(!route))
        return post_list(qp, wr, bad);
    if (UNLIKELY(wr->send_flags & IBV_SEND_SIGNALED))
        return post_signaled_translated(qp, wr, bad, route);
    if (UNLIKELY(!copy_one(&copy, &sge, wr, route, 1)))
        return post_list(qp, wr, bad);
    return hand_over(qp, &copy, NULL, wr, bad);
}

/* For a queue pair that signals all sends. */
int generic_post_recorded(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    const struct v_ah *ah = (const struct v_ah *)wr->wr.ud.ah;
    if (UNLIKELY(wr->next || !ah || wr->num_sge != 1))
        return post_list(qp, wr, bad);
    const struct route *route = usual_route(ah, wr->wr.ud.remote_qpn, __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE));
    return LIKELY(route != NULL) ? post_signaled_translated(qp, wr, bad, route) : post_list(qp, wr, bad);
}

int generic_send_after_look(struct v_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (!gate_enter_slow()) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    return qp->transport ? qp->transport->post_list(qp, wr, bad) : post_list(qp, wr, bad);
}
