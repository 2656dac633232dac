/* The generic path (beside it: fused_path.c): completions. The real wr_id is the address of our record of the
 * request. */
#include "fused_path.h"
#include "generic_path.h"
#include "address/virtual_source.h"
#include "memory/virtual_window.h"
#include <string.h>

int virtual_poll_stash(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    int got = 0;
    pthread_mutex_lock(&cq->stash_mutex);
    while (got < count && cq->stash_count) {
        wc[got++] = cq->stash[cq->stash_next++];
        __atomic_store_n(&cq->stash_count, cq->stash_count - 1, __ATOMIC_RELEASE);
    }
    virtual_unstashed(got);
    int empty = !cq->stash_count;
    pthread_mutex_unlock(&cq->stash_mutex);
    if (empty)
        virtual_stash_is_empty(cq);
    return got;
}

static int is_in(const void *ring, size_t bytes, uint64_t wr_id)
{
    return ring && wr_id - (uintptr_t)ring < bytes;
}

static int has_recorded(const struct v_qp *qp, uint64_t wr_id)
{
    const struct work_ring *receives = qp->qp.srq ? &((const struct v_srq *)qp->qp.srq)->receives : &qp->receives;
    return is_in(qp->sends, (qp->send_mask + 1ul) * sizeof *qp->sends, wr_id) ||
           is_in(receives->works, receives->mask + 1ul, wr_id);
}

/* The completion of a failed datagram request has only its wr_id and its queue pair (ibv_poll_cq(3)). The job's
 * own wr_id is there when the request was not signaled. It would have to be an address within our rings to be taken
 * for a record. */
__attribute__((cold, noinline)) static struct work *find_failed(struct v_context *context, const struct ibv_wc *wc)
{
    struct work *work = NULL;
    pthread_mutex_lock(&virtual_mutex);
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    if (qp->real->qp_num == wc->qp_num && has_recorded(qp, wc->wr_id))
        work = (struct work *)(uintptr_t)wc->wr_id;
    pthread_mutex_unlock(&virtual_mutex);
    return work;
}

/* NULL: there is none. Only a datagram request that has failed may not be recorded. */
static inline struct work *record_of(struct v_context *context, const struct ibv_wc *wc, uint32_t *number)
{
    struct work *work = (struct work *)(uintptr_t)wc->wr_id;
    int failed = wc->status != IBV_WC_SUCCESS;
    *number =
        UNLIKELY(failed) || work->number == NUMBER_OF_SHARED ? virtual_number_of(context, wc->qp_num) : work->number;
    return UNLIKELY(failed) && !(*number & NUMBER_OF_CONNECTION) ? find_failed(context, wc) : work;
}

/* The port of a queue pair of the device. Records do not have it, since only a datagram with a GRH needs it. */
static inline const struct v_port *port_at(const struct v_context *context, uint32_t real_number)
{
    return &context->identity->ports[virtual_number_of(context, real_number) >> NUMBER_PORT_SHIFT & NUMBER_PORT_MASK];
}

/* Any completion. Returns 0 when it is none of the job's business: it did not ask for the one of this request. */
__attribute__((noinline)) static int name_any(struct v_context *context, struct ibv_wc *wc, uint64_t epoch)
{
    uint32_t number, real_number = wc->qp_num;
    struct work *work = record_of(context, wc, &number);
    wc->qp_num = number & NUMBER_MASK;
    if (UNLIKELY(!work))
        return 1;
    uint32_t state = __atomic_load_n(&work->state, __ATOMIC_RELAXED); /* who comes round the ring may be testing it */
    wc->wr_id = work->wr_id;
    if (state & WORK_RECEIVE && !(number & NUMBER_OF_CONNECTION)) {
        const struct receive_work *receive = CONTAINER(struct receive_work, work, work);
        COUNT(ud_receives, 1);
        if (LIKELY(wc->status == IBV_WC_SUCCESS))
            COUNT(ud_foreign,
                  !translate_source(wc, receive->sges, pieces_of(state), port_at(context, real_number), epoch));
    }
    int quiet =
        state & WORK_SEND && number & NUMBER_OF_CONNECTION && is_quiet(CONTAINER(struct request_work, work, work));
    free_work(work);
    return !(quiet && wc->status == IBV_WC_SUCCESS);
}

/* The usual ones: a receive of a connection, or of a datagram of a known endpoint without a GRH, by a queue pair with
 * receives of its own. Returns 0 for others. In a first incarnation only the wr_id is another one than the device's. */
static inline __attribute__((always_inline)) int name_received(gate_thread_here *self, struct ibv_wc *wc,
                                                               int translated)
{
    if (UNLIKELY(wc->status != IBV_WC_SUCCESS))
        return 0;
    struct work *work = (struct work *)(uintptr_t)wc->wr_id;
    int32_t number = (int32_t)work->number;
    if (LIKELY(number > 0)) {
        uint64_t epoch = translated ? __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE) : 0;
        const struct source *source = plain_source(wc);
        if (UNLIKELY(!source || (translated && source->epoch != epoch)))
            return 0;
        if (translated) {
            wc->src_qp = source->virtual_qpn;
            wc->slid = source->virtual_lid;
        }
        self->counters->ud_receives++;
    } else {
        if (!translated) /* once more, rather than in a register from before */
            number = *(volatile int32_t *)&work->number;
        if (UNLIKELY(number < (int32_t)NUMBER_RECEIVED))
            return 0;
        number &= NUMBER_MASK;
    }
    wc->wr_id = work->wr_id;
    if (translated)
        wc->qp_num = (uint32_t)number;
    free_work(work);
    return 1;
}

/* Any completions; returns how many are the job's. */
static int name_all(struct v_context *context, struct ibv_wc *wc, int count)
{
    uint64_t epoch = __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE);
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (!name_any(context, &wc[i], epoch))
            continue;
        if (UNLIKELY(left != i))
            wc[left] = wc[i];
        left++;
    }
    return left;
}

/* Until there is a completion of the job's, or none at all. */
static int poll_real(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    struct v_context *context = context_of(cq->cq.context);
    int got, left = 0;
    while (!left && (got = cq->real->context->ops.poll_cq(cq->real, count, wc)) > 0) {
        for (int i = 0; i < got && context->has_windows; i++)
            virtual_note_window(context, &wc[i]);
        left = name_all(context, wc, got);
    }
    if (LIKELY(left))
        return left;
    /* this incarnation's device may not know of an overflow in an earlier one */
    return UNLIKELY(cq->failed) ? -1 : got;
}

int virtual_poll_real(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    if (virtual_fused_path())
        return lower_device->poll_cq(cq->real, count, wc); /* the device has translated them */
    return poll_real(cq, count, wc);
}

/* From the first completion on that is not a usual one. In place of those that are not the job's the device is asked
 * for others. */
__attribute__((noinline)) static int name_rest_and_leave(struct v_cq *cq, struct ibv_wc *wc, int got, int named)
{
    int left = named + name_all(context_of(cq->cq.context), wc + named, got - named);
    if (UNLIKELY(left < got))
        left = virtual_add_polled(left, poll_real(cq, got - left, wc + left));
    gate_leave();
    return left;
}

/* Stashed completions come first, and the device's behind them in the same poll. While there are any, the gate sends
 * every thread this way. */
int generic_poll_after_look(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    if (!gate_enter_slow())
        return -1;
    if (!__atomic_load_n(&virtual_stashed, __ATOMIC_ACQUIRE))
        gate_nothing_stashed(); /* they went while a closing that failed was under way */
    int got = __atomic_load_n(&cq->stash_count, __ATOMIC_ACQUIRE) ? virtual_poll_stash(cq, count, wc) : 0;
    if (got < count)
        got = virtual_add_polled(got, poll_real(cq, count - got, wc + got));
    gate_leave();
    return got;
}

static inline __attribute__((always_inline)) int name_batch(struct v_cq *cq, struct ibv_wc *wc, int got, int translated)
{
    gate_thread_here *self = gate_self_anew();
    for (int named = 0; named < got; named++)
        if (UNLIKELY(!name_received(self, &wc[named], translated)))
            return name_rest_and_leave(cq, wc, got, named);
    gate_leave_anew(self);
    return got;
}

__attribute__((noinline)) static int name_batch_plain(struct v_cq *cq, struct ibv_wc *wc, int got)
{
    return name_batch(cq, wc, got, 0);
}

__attribute__((noinline)) static int name_batch_translated(struct v_cq *cq, struct ibv_wc *wc, int got)
{
    return name_batch(cq, wc, got, 1);
}

/* Calls the device and nothing else, and reads what it needs afterwards from memory: so no register is saved for
 * every poll. */
static inline __attribute__((always_inline)) int poll_usual(struct v_cq *cq, int count, struct ibv_wc *wc,
                                                            int translated)
{
    struct v_cq *volatile kept_cq = cq;
    struct ibv_wc *volatile kept_wc = wc;
    int got = LOOK_AT(generic_calls.poll_cq)(cq->real, count, wc);
    gate_thread_here *self = gate_self_anew();
    if (LIKELY(got == 1)) {
        wc = kept_wc;
        if (UNLIKELY(!name_received(self, wc, translated)))
            return name_rest_and_leave(kept_cq, wc, 1, 0);
    } else if (got > 1) {
        return translated ? name_batch_translated(kept_cq, kept_wc, got) : name_batch_plain(kept_cq, kept_wc, got);
    } else if (UNLIKELY(kept_cq->failed)) {
        got = -1; /* as in poll_real */
    }
    gate_leave_anew(self);
    return got;
}

int generic_poll_plain(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    return poll_usual(cq, count, wc, 0);
}

int generic_poll_translated(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    return poll_usual(cq, count, wc, 1);
}

int generic_poll_noted(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    int got = poll_real(cq, count, wc);
    gate_leave();
    return got;
}

/* Should a thread stay inside its verb for longer than any verb takes, it is not waited for. */
int virtual_others_have_left(void)
{
    enum { LONGEST_MS = 1000 };
    return !gate_await_others(LONGEST_MS);
}

/* Another thread may have polled a completion of a queue that is gone since, and read its record: if it does not leave,
 * the records are left to it rather than freed. */
int virtual_nobody_reads_records(void)
{
    return virtual_fused_path() || virtual_others_have_left();
}
