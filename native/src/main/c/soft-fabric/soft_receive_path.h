/* Receiving, as templates: the caller of soft_receive_named says what a datagram's source is called. The bare device
 * (soft_receive.c) delivers the address in the header. `own`: the QP has no SRQ, `tagged`: datagrams have tags, as the
 * caller knows. */
#pragma once
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_filter.h"
#include "soft_memory.h"
#include "soft_multicast.h"
#include "soft_qp.h"
#include "soft_receive.h"
#include "soft_refuse.h"
#include "soft_rq.h"
#include "soft_tag.h"
#include <errno.h>
#include <string.h>

/* What a layer above calls the sources of datagrams. */
struct soft_source_names {
    /* Sets src_qp, pkey_index and slid of a completion; returns what rewrite_grh wants to know. Sets *refused, which
     * is false before, when nothing is to be taken from there. */
    const void *(*name)(const struct soft_wire *header, struct ibv_wc *wc, bool *refused);
    /* After the GRH was written to these elements; or NULL. */
    void (*rewrite_grh)(const struct soft_qp *qp, const void *source, const struct ibv_sge *sges, uint32_t count);
};

/* The first 40 bytes of the posted memory, which may be cut up between elements. */
static inline void soft_scatter_grh(struct soft_rq *rq, uint32_t at, const struct ibv_grh *grh)
{
    const char *from = (const char *)grh;
    uint32_t left = SOFT_GRH_BYTES;
    for (int i = 0; i < rq->wqe[at].num_sge && left; i++) {
        const struct ibv_sge *sge = &rq->sge[at * rq->max_sge + (unsigned)i];
        uint32_t n = sge->length < left ? sge->length : left;
        char *memory = n ? soft_memory(soft_context_of(rq->pd->context), rq->pd, sge, true) : NULL;
        if (memory)
            memcpy(memory, from, n);
        from += n;
        left -= n;
    }
}

/* InfiniBand Architecture 1.2.1, section 8.3: the packet behind the GRH is BTH 12, DETH 8, immediate
 * data 4, payload padded to 4, ICRC 4. */
static inline void soft_write_grh(struct soft_qp *qp, struct soft_rq *rq, uint32_t at, const struct soft_wire *header,
                                  uint32_t payload)
{
    uint32_t length = 24 + (header->flags & SOFT_WIRE_IMMEDIATE ? 4 : 0) + ((payload + 3) & ~3u);
    struct ibv_grh grh = {
        .version_tclass_flow = header->version_class_flow,
        .paylen = htons((uint16_t)length),
        .next_hdr = 0x1b,
        .hop_limit = header->hop_limit,
        .sgid = soft_gid(ntohs(header->source_lid)),
        .dgid = qp->group ? qp->group->gid : soft_gid(qp->lid),
    };
    soft_scatter_grh(rq, at, &grh);
}

/* Posted memory that holds not even the GRH and the payload is an error of this QP. */
static inline enum ibv_wc_status soft_status_of(struct soft_rq *rq, unsigned slot, uint32_t at)
{
    if (unlikely(rq->window_bad >> slot & 1))
        return IBV_WC_LOC_PROT_ERR;
    if (unlikely(rq->message[slot].msg_hdr.msg_flags & MSG_TRUNC))
        return IBV_WC_LOC_LEN_ERR;
    if (unlikely(rq->message[slot].msg_hdr.msg_iovlen == 1)) { /* nothing behind the GRH: does the GRH fit? */
        uint32_t room = 0;
        for (int i = 0; i < rq->wqe[at].num_sge; i++)
            room += rq->sge[at * rq->max_sge + (unsigned)i].length;
        if (room < SOFT_GRH_BYTES)
            return IBV_WC_LOC_LEN_ERR;
    }
    return IBV_WC_SUCCESS;
}

/* Completes the head of the receive queue with the message in its slot; returns false, and leaves the head where it
 * is, when that is not taken. */
static inline __attribute__((always_inline)) bool soft_complete(struct soft_qp *qp, struct soft_rq *rq,
                                                                struct ibv_wc *wc, bool *solicited,
                                                                const struct soft_source_names *names, bool tagged)
{
    const uint32_t header_bytes = (uint32_t)(sizeof(struct soft_wire) + (tagged ? sizeof(struct soft_tag) : 0));
    unsigned slot = rq->window_first;
    uint32_t at = rq->head & rq->mask;
    const struct soft_wire *header = &rq->header[slot].wire;
    uint32_t payload = rq->message[slot].msg_len;
    if (unlikely(payload < header_bytes)) {
        if (payload == SOFT_REFUSED_BYTES)
            soft_refused_part(qp);
        return false;
    }
    payload -= header_bytes;
    if (tagged && unlikely(!soft_tag_is_right(qp, &rq->header[slot], &rq->message[slot].msg_hdr, payload)))
        return false;
    wc->wr_id = rq->wqe[at].wr_id;
    wc->status = soft_status_of(rq, slot, at);
    wc->opcode = IBV_WC_RECV;
    wc->vendor_err = 0;
    wc->byte_len = payload + SOFT_GRH_BYTES;
    wc->imm_data = header->immediate;
    wc->qp_num = qp->number;
    wc->wc_flags = header->flags & SOFT_WIRE_IMMEDIATE ? IBV_WC_WITH_IMM : 0;
    wc->sl = header->service_level;
    wc->dlid_path_bits = 0;
    const void *source = NULL;
    if (names) {
        bool refused = false;
        source = names->name(header, wc, &refused);
        if (unlikely(refused)) {
            soft_refused(qp, SOFT_STRANGER, ntohs(header->source_lid), ntohl(header->source_qpn));
            return false;
        }
    } else {
        wc->pkey_index = 0;
        wc->src_qp = ntohl(header->source_qpn);
        wc->slid = ntohs(header->source_lid);
    }
    if (unlikely(header->flags & SOFT_WIRE_GRH) && wc->status == IBV_WC_SUCCESS) {
        wc->wc_flags |= IBV_WC_GRH;
        soft_write_grh(qp, rq, at, header, payload);
        if (names && names->rewrite_grh)
            names->rewrite_grh(qp, source, &rq->sge[at * rq->max_sge], (uint32_t)rq->wqe[at].num_sge);
    }
    if (header->flags & SOFT_WIRE_SOLICITED)
        *solicited = true;
    soft_rq_consume(rq);
    return true;
}

/* The low-water mark is reported once, then it must be armed anew (ibv_modify_srq(3)). */
static inline void soft_check_limit(struct soft_srq *srq)
{
    if (likely(!srq->limit) || srq->rq.tail - srq->rq.head >= srq->limit)
        return;
    srq->limit = 0;
    soft_event_post(soft_context_of(srq->base.context),
                    (struct ibv_async_event){.element.srq = &srq->base, .event_type = IBV_EVENT_SRQ_LIMIT_REACHED});
}

/* The kernel could not write to the posted memory: nothing is mapped there any more. The datagram is
 * gone, the work request fails. */
static inline int soft_memory_fault(struct soft_qp *qp, struct soft_rq *rq, struct ibv_wc *wc)
{
    *wc = (struct ibv_wc){.wr_id = rq->wqe[rq->head & rq->mask].wr_id,
                          .status = IBV_WC_LOC_PROT_ERR,
                          .opcode = IBV_WC_RECV,
                          .qp_num = qp->number};
    soft_rq_consume(rq);
    return 1;
}

/* The rest of a batch from its i-th datagram on, which is not taken. */
__attribute__((cold, noinline, unused)) static int soft_finish_batch(struct soft_qp *qp, struct soft_rq *rq,
                                                                     struct ibv_wc *wc, int i, int got, bool *solicited,
                                                                     bool *failed,
                                                                     const struct soft_source_names *names, bool tagged)
{
    soft_rq_drop(rq, (unsigned)(--got - i));
    while (i < got) {
        if (!soft_complete(qp, rq, &wc[i], solicited, names, tagged)) {
            soft_rq_drop(rq, (unsigned)(--got - i));
        } else if (wc[i++].status != IBV_WC_SUCCESS) {
            *failed = *solicited = true;
            break;
        }
    }
    return i;
}

/* One system call's worth. Returns the completions made, sets *failed after one with an error. Fewer than `want` do
 * not mean that no more are there, if some were not taken: who has no completion comes again. */
static inline __attribute__((always_inline)) int soft_receive_batch(struct soft_qp *qp, int fd, struct soft_rq *rq,
                                                                    unsigned want, struct ibv_wc *wc, bool *solicited,
                                                                    bool *failed, const struct soft_source_names *names,
                                                                    bool tagged)
{
    unsigned n = soft_rq_window(rq, want);
    int got = n ? recvmmsg(fd, rq->message + rq->window_first, n, MSG_DONTWAIT, NULL) : 0;
    if (got < 0) {
        if (likely(errno != EFAULT))
            return 0; /* nothing there; other errors of a datagram socket tell of earlier sends */
        *failed = *solicited = true;
        return soft_memory_fault(qp, rq, wc);
    }
    for (int i = 0; i < got; i++) {
        if (unlikely(!soft_complete(qp, rq, &wc[i], solicited, names, tagged)))
            return soft_finish_batch(qp, rq, wc, i, got, solicited, failed, names, tagged);
        if (unlikely(wc[i].status != IBV_WC_SUCCESS)) {
            *failed = *solicited = true;
            return i + 1;
        }
    }
    return got;
}

static inline __attribute__((always_inline)) int soft_receive_named(struct soft_qp *qp, int count, struct ibv_wc *wc,
                                                                    bool *solicited,
                                                                    const struct soft_source_names *names, bool own,
                                                                    bool tagged)
{
    struct soft_rq *rq = own ? &qp->own_rq : qp->rq;
    if (soft_rq_empty(rq) || !atomic_load_explicit(&qp->receives, memory_order_relaxed))
        return 0;
    int got = 0;
    bool failed = false;
    soft_lock(&rq->lock);
    while (got < count && !failed) {
        unsigned want = count - got < SOFT_BATCH ? (unsigned)(count - got) : SOFT_BATCH;
        unsigned n =
            (unsigned)soft_receive_batch(qp, qp->socket, rq, want, wc + got, solicited, &failed, names, tagged);
        got += (int)n;
        if (n < want)
            break;
    }
    if (!own && got && qp->srq)
        soft_check_limit(qp->srq);
    soft_unlock(&rq->lock);
    if (unlikely(failed))
        soft_receive_failed(qp);
    return got;
}

/* Receives for a queue pair in multicast groups: after its own datagrams, those of the groups. */
static inline int soft_receive_grouped_named(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited,
                                             const struct soft_source_names *names, bool tagged)
{
    struct soft_rq *rq = qp->rq;
    bool failed = false;
    int got = soft_receive_named(qp, count, wc, solicited, names, false, tagged), before = got, n;
    if (got == count || soft_rq_empty(rq) || !atomic_load_explicit(&qp->receives, memory_order_relaxed))
        return got;
    soft_lock(&rq->lock);
    for (const struct soft_group *group = qp->groups; group && got < count && !failed; group = group->next) {
        qp->group = group;
        do {
            unsigned want = count - got < SOFT_BATCH ? (unsigned)(count - got) : SOFT_BATCH;
            got += n = soft_receive_batch(qp, group->socket, rq, want, wc + got, solicited, &failed, names, tagged);
        } while (n == SOFT_BATCH && got < count && !failed);
    }
    qp->group = NULL;
    if (got > before && qp->srq)
        soft_check_limit(qp->srq);
    soft_unlock(&rq->lock);
    if (failed)
        soft_receive_failed(qp);
    return got;
}

static inline __attribute__((always_inline)) int soft_post_receive(struct ibv_qp *base, struct ibv_recv_wr *wr,
                                                                   struct ibv_recv_wr **bad, bool own)
{
    struct soft_qp *qp = soft_qp_of(base);
    struct soft_rq *rq = &qp->own_rq;
    if (unlikely(soft_state(base) == IBV_QPS_RESET || (!own && qp->srq))) {
        *bad = wr;
        return EINVAL;
    }
    soft_lock(&rq->lock);
    if (unlikely(soft_state(base) == IBV_QPS_ERR)) {
        soft_unlock(&rq->lock);
        soft_flush_receives(qp, wr);
        return 0;
    }
    /* What arrived while nothing was posted is lost, as on a real device. */
    if (soft_rq_empty(rq) && atomic_load_explicit(&qp->receives, memory_order_relaxed))
        soft_discard(qp);
    int status = soft_rq_post(rq, wr, bad);
    soft_unlock(&rq->lock);
    return status;
}
