/* The fused path, the default on the soft fabric: its post and poll (soft_send.h, soft_receive_path.h, soft_poll.h)
 * with the gate and the translation inlined. Other devices take the generic path: generic_send.c, generic_receive.c,
 * generic_poll.c, rc_send.c. fused_path.h says what the two share. */
#define _GNU_SOURCE /* sendmmsg(2) in soft_send.h */
#include "fused_path.h"
#include "counters.h"
#include "address/virtual_grh.h"
#include "address/virtual_route.h"
#include "address/virtual_source.h"
#include "agent-client/control.h"
#include "soft-fabric/soft_poll.h"
#include "soft-fabric/soft_rc.h"
#include "soft-fabric/soft_receive_path.h"
#include "soft-fabric/soft_refuse.h"
#include "soft-fabric/soft_send.h"
#include "soft-fabric/soft_srq.h"
#include "soft-fabric/soft_window.h"
#include "soft-fabric/soft_xrc.h"

_Static_assert(sizeof(struct soft_destination) <= sizeof((struct route *)0)->prepared,
               "a destination fits into a route");

static inline const struct soft_destination *find_destination(const struct ibv_send_wr *wr)
{
    const struct route *route = known_route((struct v_ah *)wr->wr.ud.ah, wr->wr.ud.remote_qpn,
                                            __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE));
    if (UNLIKELY(!route))
        return NULL;
    COUNT(ud_sends, 1);
    return (const struct soft_destination *)route->prepared;
}

/* The device's call for soft_settle(): by the thread's sign, so that the paths have no look at it of their own. */
static void cq_failing(void)
{
    gate_self.settle = 1;
    __atomic_fetch_or(&gate_self.inside, GATE_SIGN, __ATOMIC_SEQ_CST);
}

/* After a verb that was left with the sign set. It takes no object, so that the paths need not keep one for it. */
__attribute__((cold, noinline)) static void settle(void)
{
    if (!gate_self.settle || !gate_enter())
        return;
    gate_self.settle = 0;
    pthread_mutex_lock(&virtual_mutex);
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    soft_settle(soft_context_of(context->real));
    pthread_mutex_unlock(&virtual_mutex);
    gate_leave();
}

static int post_datagrams(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (UNLIKELY(!gate_enter())) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    int error = soft_send(((struct v_qp *)qp)->real, wr, bad, find_destination);
    if (UNLIKELY(!gate_leave_fast()))
        settle();
    return error;
}

/* As many as the device has taken: all, or those before *bad. */
__attribute__((noinline)) static int post_list(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    int error = soft_rc_post_send(soft_qp_of(((struct v_qp *)qp)->real), wr, bad);
    for (const struct ibv_send_wr *end = error ? *bad : NULL; wr != end; wr = wr->next)
        COUNT(rc_sends, 1);
    return error;
}

/* One is counted before it is posted, so that nothing need be kept over the call but whether it failed. */
static inline int post_one(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    COUNT(rc_sends, 1);
    int error = soft_rc_post_send(soft_qp_of(((struct v_qp *)qp)->real), wr, bad);
    if (UNLIKELY(error))
        COUNT(rc_sends, -1);
    return error;
}

static int post_connected(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    if (UNLIKELY(!gate_enter())) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    int error = UNLIKELY(!wr || wr->next) ? post_list(qp, wr, bad) : post_one(qp, wr, bad);
    if (UNLIKELY(!gate_leave_fast()))
        settle();
    return error;
}

static int post_any(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return UNLIKELY(((struct v_qp *)qp)->transport != NULL) ? post_connected(qp, wr, bad) : post_datagrams(qp, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (UNLIKELY(!gate_enter())) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    int error = soft_post_receive(((struct v_qp *)qp)->real, wr, bad, true);
    gate_leave();
    return error;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    if (UNLIKELY(!gate_enter())) {
        *bad = wr;
        return EOPNOTSUPP;
    }
    int error = soft_post_srq_recv(((struct v_srq *)srq)->real, wr, bad);
    gate_leave();
    return error;
}

/* Stashed completions come first, and the device's behind them in the same poll: a program that gets fewer than it has
 * room for takes the queue for empty, and sleeps. While there are any, the gate sends every thread this way. */
__attribute__((cold, noinline)) static int poll_cq_slow(struct v_cq *cq, int count, struct ibv_wc *wc)
{
    if (!gate_enter_slow())
        return -1;
    if (!__atomic_load_n(&virtual_stashed, __ATOMIC_ACQUIRE))
        gate_nothing_stashed(); /* they went while a closing that failed was under way */
    int got = __atomic_load_n(&cq->stash_count, __ATOMIC_ACQUIRE) ? virtual_poll_stash(cq, count, wc) : 0;
    if (got < count)
        got = virtual_add_polled(got, soft_device.poll_cq(cq->real, count - got, wc + got));
    gate_leave();
    return got;
}

/* The eight header bytes that name the source: QPN, LID, partition key. */
static inline uint64_t wire_key(const struct soft_wire *header)
{
    uint64_t key;
    _Static_assert(offsetof(struct soft_wire, source_lid) == offsetof(struct soft_wire, source_qpn) + 4,
                   "QPN and LID are neighbours");
    memcpy(&key, &header->source_qpn, sizeof key);
    return key;
}

__attribute__((cold, noinline)) static const struct source *miss(const struct soft_wire *header, uint64_t epoch,
                                                                 bool *refused)
{
    uint64_t key = (uint64_t)ntohs(header->source_lid) << 24 | (ntohl(header->source_qpn) & 0xffffff);
    int stranger;
    const struct source *source = virtual_find_source(key, epoch, &stranger);
    *refused = stranger;
    return source;
}

/* No memory to remember it: delivered as it is. */
__attribute__((cold, noinline)) static const void *deliver_as_is(const struct soft_wire *header, struct ibv_wc *wc)
{
    COUNT(ud_foreign, 1);
    wc->src_qp = ntohl(header->source_qpn);
    wc->pkey_index = 0;
    wc->slid = ntohs(header->source_lid);
    return NULL;
}

/* Returns the sender; NULL if it is unknown or refused. */
static inline const struct source *find_source(const struct soft_wire *header, bool *refused)
{
    uint64_t epoch = __atomic_load_n(address_epoch, __ATOMIC_ACQUIRE);
    /* The low bytes of QPN and LID: source_slot() of the same source. */
    unsigned slot = ((const uint8_t *)&header->source_qpn)[3] ^ ((const uint8_t *)&header->source_lid)[1];
    const struct source *source = __atomic_load_n(&virtual_sources[slot % SOURCES], __ATOMIC_ACQUIRE);
    if (UNLIKELY(source->wire != wire_key(header)) || UNLIKELY(source->epoch != epoch))
        return miss(header, epoch, refused);
    return source;
}

static inline const void *name_source(const struct soft_wire *header, struct ibv_wc *wc, bool *refused)
{
    const struct source *source = find_source(header, refused);
    if (UNLIKELY(*refused))
        return NULL;
    COUNT(ud_receives, 1);
    if (UNLIKELY(!source))
        return deliver_as_is(header, wc);
    if (UNLIKELY(!source->known))
        COUNT(ud_foreign, 1);
    wc->src_qp = source->virtual_qpn;
    memcpy(&wc->pkey_index, &source->pkey_index, sizeof wc->pkey_index + sizeof wc->slid);
    return source;
}

static void rewrite_grh(const struct soft_qp *qp, const void *source, const struct ibv_sge *sges, uint32_t count)
{
    if (source)
        virtual_rewrite_grh(sges, count, source, ((const struct v_qp *)qp->base.qp_context)->port,
                            GRH_BYTES); /* of an InfiniBand job: the length is not asked for */
}

static const struct soft_source_names names = {.name = name_source, .rewrite_grh = rewrite_grh};

static inline __attribute__((always_inline)) int receive_inlined(struct soft_qp *qp, int count, struct ibv_wc *wc,
                                                                 bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &names, true, false);
}

static int receive(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return receive_inlined(qp, count, wc, solicited);
}

static int poll_cq(struct ibv_cq *virtual, int count, struct ibv_wc *wc)
{
    struct v_cq *cq = (struct v_cq *)virtual;
    if (UNLIKELY(!gate_enter_fast()))
        return poll_cq_slow(cq, count, wc);
    int got = soft_poll(cq->real, count, wc, false, receive, receive_inlined);
    if (UNLIKELY(!gate_leave_fast()))
        settle();
    return got;
}

static int receive_shared(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &names, false, false);
}

static int receive_grouped(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, &names, false);
}

static int receive_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &names, false, true);
}

static int receive_grouped_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, &names, true);
}

/* On the generic path sources keep their real names here, and are looked at only. */
static inline const void *check_source(const struct soft_wire *header, struct ibv_wc *wc, bool *refused)
{
    wc->pkey_index = 0;
    wc->src_qp = ntohl(header->source_qpn);
    wc->slid = ntohs(header->source_lid);
    return find_source(header, refused);
}

static const struct soft_source_names checks = {.name = check_source};

static int receive_checked(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &checks, false, false);
}

static int receive_checked_own(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &checks, true, false);
}

static int receive_grouped_checked(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, &checks, false);
}

static int receive_checked_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_named(qp, count, wc, solicited, &checks, false, true);
}

static int receive_grouped_checked_tagged(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    return soft_receive_grouped_named(qp, count, wc, solicited, &checks, true);
}

/* The engine's thread is here, too, which has no counters of its own. */
static void refused(enum soft_refusal why, uint16_t lid, uint32_t qpn)
{
    static unsigned said; /* one line for each reason */
    __atomic_fetch_add(&counters_block(UDCKPT_COUNTER_SLOTS - 1)->refused, 1, __ATOMIC_RELAXED);
    if (__atomic_fetch_or(&said, 1u << why, __ATOMIC_RELAXED) & 1u << why)
        return;
    if (why == SOFT_FROM_ELSEWHERE)
        control_log("dropped a datagram: %s. 'udckpt status' counts further ones", soft_refusal_text(why));
    else
        control_log("dropped a datagram that claims to be from LID 0x%04x QPN 0x%06x: %s. 'udckpt status' counts "
                    "further ones",
                    lid, qpn, soft_refusal_text(why));
}

static void receive_by(struct soft_qp *qp, soft_receive_function own, soft_receive_function grouped)
{
    qp->receive_grouped = grouped;
    __atomic_store_n(&soft_context_of(qp->base.context)->refused, refused, __ATOMIC_RELAXED);
    if (!qp->rc)
        __atomic_store_n(&qp->receive, own, __ATOMIC_RELAXED);
}

static void adopt(struct ibv_qp *real, uint32_t virtual_qpn)
{
    struct soft_qp *qp = soft_qp_of(real);
    bool tagged = soft_context_of(real->context)->config.tagged;
    qp->number = virtual_qpn;
    receive_by(qp,
               tagged    ? receive_tagged
               : qp->srq ? receive_shared
                         : receive,
               tagged ? receive_grouped_tagged : receive_grouped);
    __atomic_store_n(&soft_context_of(real->context)->cq_failing, cq_failing, __ATOMIC_RELAXED);
}

static void guard(struct ibv_qp *real)
{
    bool tagged = soft_context_of(real->context)->config.tagged;
    receive_by(soft_qp_of(real),
               tagged                  ? receive_checked_tagged
               : soft_qp_of(real)->srq ? receive_checked
                                       : receive_checked_own,
               tagged ? receive_grouped_checked_tagged : receive_grouped_checked);
}

static void prepare(struct route *route, const struct ibv_ah *real)
{
    struct ibv_ah *ah = (struct ibv_ah *)real;
    soft_prepare(ah, route->real_qpn, (struct soft_destination *)route->prepared);
}

static uint64_t source_key(uint16_t lid, uint32_t qpn)
{
    struct soft_wire header = {.source_qpn = htonl(qpn), .source_lid = htons(lid), .pkey = htons(SOFT_PKEY)};
    return wire_key(&header);
}

static void name_peer(struct ibv_qp *real, uint32_t qpn, uint16_t lid)
{
    soft_qp_of(real)->rc->peer = qpn;
    soft_qp_of(real)->rc->peer_lid = lid;
}

const struct fused_path soft_fused_path = {
    .poll_cq = poll_cq,
    .post_send = post_datagrams,
    .post_any = post_any,
    .post_recv = post_recv,
    .post_srq_recv = post_srq_recv,
    .prepare = prepare,
    .source_key = source_key,
    .adopt = adopt,
    .guard = guard,
    .register_as = soft_reg_mr_as,
    .save_window = soft_window_save,
    .window_as = soft_alloc_mw_as,
    .outstanding = fused_outstanding,
    .name_peer = name_peer,
    .outstanding_sends = fused_outstanding_sends,
    .outstanding_shared = fused_outstanding_shared,
};
