#include "soft_cq.h"
#include "soft_channel.h"
#include "soft_event.h"
#include "soft_fault.h"
#include "soft_objects.h"
#include "soft_poll.h"
#include "soft_qp.h"
#include "soft_receive.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint32_t ring_size(int cqe)
{
    uint32_t size = 1;
    while (size < (uint32_t)cqe)
        size *= 2;
    return size;
}

struct ibv_cq *soft_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
                              int vector)
{
    if (cqe < 1 || cqe > SOFT_MAX_CQE || vector < 0 || vector >= context->num_comp_vectors) {
        errno = EINVAL;
        return NULL;
    }
    struct soft_cq *cq = calloc(1, sizeof *cq);
    uint32_t size = ring_size(cqe);
    if (!cq || !(cq->ring = malloc(size * sizeof *cq->ring))) {
        free(cq);
        errno = ENOMEM;
        return NULL;
    }
    cq->mask = size - 1;
    cq->base.context = context;
    cq->base.channel = channel;
    cq->base.cq_context = cq_context;
    cq->base.cqe = cqe;
    pthread_mutex_init(&cq->base.mutex, NULL);
    pthread_cond_init(&cq->base.cond, NULL);
    if (channel)
        soft_channel_join(soft_channel_of(channel), cq);
    soft_add(soft_context_of(context), &cq->object, SOFT_CQ);
    return &cq->base;
}

int soft_resize_cq(struct ibv_cq *base, int cqe)
{
    struct soft_cq *cq = soft_cq_of(base);
    if (cqe < 1 || cqe > SOFT_MAX_CQE)
        return EINVAL;
    uint32_t size = ring_size(cqe);
    struct ibv_wc *ring = malloc(size * sizeof *ring), *old = ring;
    if (!ring)
        return ENOMEM;
    soft_lock(&cq->ring_lock);
    uint32_t used = cq->tail - cq->head;
    int status = used > (uint32_t)cqe ? EINVAL : 0;
    if (!status) {
        for (uint32_t i = 0; i < used; i++)
            ring[i] = cq->ring[(cq->head + i) & cq->mask];
        old = cq->ring;
        cq->ring = ring;
        cq->mask = size - 1;
        cq->look_at = used;
        __atomic_store_n(&cq->head, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&cq->tail, used, __ATOMIC_RELEASE);
        base->cqe = cqe;
    }
    soft_unlock(&cq->ring_lock);
    free(old);
    return status;
}

int soft_destroy_cq(struct ibv_cq *base)
{
    struct soft_cq *cq = soft_cq_of(base);
    soft_lock(&cq->receive_lock); /* no thread is inside an arrival */
    int users = atomic_load(&cq->users);
    soft_unlock(&cq->receive_lock);
    if (users)
        return EBUSY;
    if (base->channel)
        soft_channel_leave(soft_channel_of(base->channel), cq);
    soft_event_withdraw(soft_context_of(base->context), base);
    /* ibv_destroy_cq(3) waits until each event that was handed out is acknowledged. */
    pthread_mutex_lock(&base->mutex);
    while (base->comp_events_completed != cq->events_delivered || base->async_events_completed != cq->async_delivered)
        pthread_cond_wait(&base->cond, &base->mutex);
    pthread_mutex_unlock(&base->mutex);
    soft_remove(soft_context_of(base->context), &cq->object);
    free(cq->ring);
    free(cq->receivers);
    free(cq);
    return 0;
}

/* With receive_lock held: receives into the ring. The receive that fails a queue pair completes before those that are
 * flushed by that. */
static int receive_into_ring(struct soft_cq *cq, struct soft_qp *qp, int want, bool *solicited)
{
    struct ibv_wc wc[SOFT_BATCH];
    cq->receives_into_ring = true;
    int got = soft_receiver(qp)(qp, want, wc, solicited);
    cq->receives_into_ring = false;
    for (int i = 0; i < got; i++)
        soft_cq_push(cq, &wc[i], *solicited);
    if (unlikely(got && wc[got - 1].status != IBV_WC_SUCCESS && !qp->rc))
        soft_qp_fail(qp);
    return got;
}

/* A program that sends as fast as its sends complete fills each poll with those completions, and a full poll takes no
 * datagrams in: so a sender does, between its own completions, and less and less often while there are none. */
static bool take_some_in(struct soft_cq *cq)
{
    bool some = false;
    if (!__atomic_load_n(&cq->receiver_count, __ATOMIC_RELAXED) || !soft_trylock(&cq->receive_lock))
        return false;
    for (unsigned i = 0; i < cq->receiver_count; i++) {
        struct soft_qp *qp = cq->receivers[i];
        bool solicited = false;
        uint32_t used = __atomic_load_n(&cq->tail, __ATOMIC_RELAXED) - __atomic_load_n(&cq->head, __ATOMIC_RELAXED);
        int room = (cq->base.cqe - (int)used) / 2; /* the rest is for the sends */
        if (!qp->rc && room > 0)
            some |= receive_into_ring(cq, qp, room < SOFT_BATCH ? room : SOFT_BATCH, &solicited) > 0;
    }
    soft_unlock(&cq->receive_lock);
    return some;
}

static void overflowed(struct soft_cq *cq)
{
    if (atomic_exchange(&cq->failed, true))
        return;
    struct soft_context *context = soft_context_of(cq->base.context);
    soft_event_post(context, (struct ibv_async_event){.element.cq = &cq->base, .event_type = IBV_EVENT_CQ_ERR});
    atomic_store(&context->cq_failed, true);
    void (*failing)(void) = __atomic_load_n(&context->cq_failing, __ATOMIC_RELAXED);
    if (failing)
        failing();
}

static inline void put(struct soft_cq *cq, const struct ibv_wc *wc)
{
    cq->ring[cq->tail & cq->mask] = *wc;
    __atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELEASE);
}

/* With ring_lock held: where the next look is due, if there is room up to there. */
static void look_again(struct soft_cq *cq)
{
    uint32_t room = (uint32_t)cq->base.cqe - (cq->tail - cq->head);
    cq->look_at = cq->tail + (room < cq->look_distance ? room : cq->look_distance);
}

/* At look_at: the ring may be full, or it is time for a sender to look for datagrams, behind its own completion, as
 * what it has sent to itself comes. False: it is full. */
__attribute__((cold, noinline)) static bool put_looking(struct soft_cq *cq, const struct ibv_wc *wc, bool sent)
{
    soft_lock(&cq->ring_lock);
    bool first = !cq->look_distance, taken = cq->tail - cq->head < (uint32_t)cq->base.cqe;
    if (taken)
        put(cq, wc);
    if (first)
        cq->look_distance = SOFT_BATCH;
    look_again(cq);
    soft_unlock(&cq->ring_lock);
    if (first || !sent || !taken)
        return taken;
    bool some = take_some_in(cq);
    soft_lock(&cq->ring_lock);
    cq->look_distance = some ? SOFT_BATCH : cq->look_distance < SOFT_LOOK_MOST ? 2 * cq->look_distance : SOFT_LOOK_MOST;
    look_again(cq);
    soft_unlock(&cq->ring_lock);
    return true;
}

static inline __attribute__((always_inline)) void push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited,
                                                       bool sent)
{
    soft_lock(&cq->ring_lock);
    bool look = cq->tail == cq->look_at; /* never behind it */
    if (likely(!look))
        put(cq, wc);
    soft_unlock(&cq->ring_lock);
    if (unlikely(look) && !put_looking(cq, wc, sent)) {
        overflowed(cq);
        return;
    }
    if (cq->base.channel)
        soft_channel_completed(cq, solicited || wc->status != IBV_WC_SUCCESS);
}

void soft_cq_push(struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
    push(cq, wc, solicited, false);
}

void soft_cq_push_sent(struct soft_cq *cq, const struct ibv_wc *wc)
{
    push(cq, wc, false, true);
}

void soft_cq_fail(struct ibv_cq *cq)
{
    atomic_store(&soft_cq_of(cq)->failed, true);
}

void soft_cq_clean(struct soft_cq *cq, uint32_t qpn)
{
    soft_lock(&cq->ring_lock);
    uint32_t kept = cq->head;
    for (uint32_t i = cq->head; i != cq->tail; i++)
        if (cq->ring[i & cq->mask].qp_num != qpn)
            cq->ring[kept++ & cq->mask] = cq->ring[i & cq->mask];
    __atomic_store_n(&cq->tail, kept, __ATOMIC_RELEASE);
    soft_unlock(&cq->ring_lock);
}

int soft_cq_attach(struct soft_cq *cq, struct soft_qp *qp)
{
    int status = 0;
    soft_lock(&cq->receive_lock);
    if (cq->receiver_count == cq->receiver_room) {
        unsigned room = cq->receiver_room ? 2 * cq->receiver_room : 4;
        struct soft_qp **more = realloc(cq->receivers, room * sizeof *more);
        if (more) {
            cq->receivers = more;
            cq->receiver_room = room;
        } else {
            status = ENOMEM;
        }
    }
    if (!status) {
        cq->receivers[cq->receiver_count] = qp;
        __atomic_store_n(&cq->receiver_count, cq->receiver_count + 1, __ATOMIC_RELAXED);
    }
    soft_unlock(&cq->receive_lock);
    return status;
}

void soft_cq_detach(struct soft_cq *cq, struct soft_qp *qp)
{
    soft_lock(&cq->receive_lock);
    for (unsigned i = 0; i < cq->receiver_count; i++)
        if (cq->receivers[i] == qp) {
            cq->receivers[i] = cq->receivers[cq->receiver_count - 1];
            __atomic_store_n(&cq->receiver_count, cq->receiver_count - 1, __ATOMIC_RELAXED);
            break;
        }
    cq->receiver_first = 0;
    soft_unlock(&cq->receive_lock);
}

void soft_cq_take_in(struct soft_cq *cq)
{
    for (unsigned i = 0; i < cq->receiver_count; i++) {
        for (;;) {
            uint32_t room = (uint32_t)cq->base.cqe - (cq->tail - cq->head);
            int want = room < SOFT_BATCH ? (int)room : SOFT_BATCH;
            bool solicited = false;
            int got = want ? receive_into_ring(cq, cq->receivers[i], want, &solicited) : 0;
            if (!want) /* full: the completions that are there are reason enough to wake */
                soft_channel_completed(cq, true);
            if (got < SOFT_BATCH)
                break;
        }
        if (!cq->receivers[i]->rc)
            soft_discard_unposted(cq->receivers[i]);
    }
}

/* A program may take "nothing" for its answer and look for an event of the connection manager next. libfabric (2.1,
 * rxm) then destroys the queue pair of a peer that has ended, and takes requests whose completions it has not seen for
 * failed: what came before the event has to be polled before it. */
int soft_look_again(struct soft_cq *cq, int count, struct ibv_wc *wc)
{
    int got = 0;
    if (soft_ring_is_empty(cq) && soft_trylock(&cq->receive_lock)) {
        got = soft_take_arrived(cq, count, wc, NULL, NULL);
        soft_unlock(&cq->receive_lock);
    }
    return got ? got : soft_take_ring(cq, count, wc);
}

int soft_poll_cq(struct ibv_cq *base, int count, struct ibv_wc *wc)
{
    return soft_poll(base, count, wc, true, NULL, NULL);
}

static bool to_be_failed(struct soft_object *object)
{
    if (object->kind != SOFT_QP)
        return false;
    struct soft_qp *qp = container_of(object, struct soft_qp, object);
    enum ibv_qp_state state = soft_state(&qp->base);
    return state != IBV_QPS_ERR && state != IBV_QPS_RESET &&
           (atomic_load(&qp->send_cq->failed) || atomic_load(&qp->recv_cq->failed));
}

void soft_settle_slow(struct soft_context *context)
{
    soft_lock(&context->lock);
    /* Flushing one QP can overflow its other CQ: go round until nothing changes. */
    while (atomic_exchange(&context->cq_failed, false))
        for (struct soft_object *o = context->objects.next; o != &context->objects; o = o->next)
            if (to_be_failed(o))
                soft_qp_fail(container_of(o, struct soft_qp, object));
    soft_unlock(&context->lock);
}
