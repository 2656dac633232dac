/* Reliable connections as objects: made, connected, ended. */
#include "soft_cq.h"
#include "soft_event.h"
#include "soft_qp.h"
#include "soft_rc.h"
#include "soft_rq.h"
#include "soft_socket.h"
#include "soft_trouble.h"
#include "soft_xrc.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum soft_rc_service service_of(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_UC:
        return SOFT_UC;
    case IBV_QPT_XRC_SEND:
        return SOFT_XRC_INITIATOR;
    case IBV_QPT_XRC_RECV:
        return SOFT_XRC_TARGET;
    default:
        return SOFT_RC;
    }
}

int soft_rc_create(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc = calloc(1, sizeof *rc);
    if (!rc)
        return ENOMEM;
    uint32_t slots = 1;
    while (slots < qp->cap.max_send_wr && qp->base.qp_type != IBV_QPT_UC)
        slots *= 2;
    rc->qp = qp;
    rc->service = service_of(qp->base.qp_type);
    rc->size = rc->service == SOFT_RC ? qp->cap.max_send_wr : 0;
    rc->rq = qp->rq;
    rc->srq = qp->srq;
    rc->recv_cq = qp->recv_cq;
    rc->pd = qp->base.pd;
    qp->unusual |= rc->service == SOFT_XRC_INITIATOR;
    rc->mask = slots - 1;
    rc->max_sge = qp->cap.max_send_sge ? qp->cap.max_send_sge : 1;
    rc->max_inline = qp->cap.max_inline_data;
    rc->wqe = calloc(slots, sizeof *rc->wqe);
    rc->sge = calloc((size_t)slots * rc->max_sge, sizeof *rc->sge);
    rc->inline_data = malloc((size_t)slots * rc->max_inline + 1);
    rc->srq_numbers = rc->service == SOFT_XRC_INITIATOR ? calloc(slots, sizeof *rc->srq_numbers) : NULL;
    if (!rc->wqe || !rc->sge || !rc->inline_data || (!rc->srq_numbers && rc->service == SOFT_XRC_INITIATOR))
        return ENOMEM;
    /* else other threads read it by now */
    if (__atomic_load_n(&qp->base.context->ops.post_send, __ATOMIC_RELAXED) != soft_post_send)
        __atomic_store_n(&qp->base.context->ops.post_send, soft_post_send, __ATOMIC_RELEASE);
    return soft_rc_engine_add(rc);
}

void soft_rc_free(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc;
    if (!rc)
        return;
    free(rc->wqe);
    free(rc->sge);
    free(rc->inline_data);
    free(rc->srq_numbers);
    free(rc);
    qp->rc = NULL;
}

/* Numbers begin far enough from 0 that those before the first one exist, too. */
static uint64_t first_number(uint32_t psn)
{
    return 1ull << 32 | psn;
}

/* A port that is down lets nothing pass: nobody takes a packet without the sign. */
void soft_rc_sign(struct soft_rc *rc)
{
    const struct soft_context *context = soft_context_of(rc->qp->base.context);
    rc->header.magic =
        soft_port_is_down(context, rc->qp->lid - context->config.lid + 1u) ? 0 : htonl(soft_rc_magic(&context->config));
}

int soft_rc_ready_to_receive(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc;
    const struct soft_config *config = &soft_context_of(qp->base.context)->config;
    const struct ibv_qp_attr *attr = &qp->attr;
    soft_lock(&rc->lock);
    rc->peer = attr->dest_qp_num;
    rc->peer_lid = attr->ah_attr.dlid;
    rc->mtu = 128u << attr->path_mtu;
    rc->expected = first_number(attr->rq_psn);
    rc->to = (struct sockaddr_in){
        .sin_family = AF_INET,
        .sin_addr.s_addr = soft_host(config->network, attr->ah_attr.dlid),
        .sin_port = attr->dest_qp_num <= 0xffff ? htons((uint16_t)attr->dest_qp_num) : 0,
    };
    rc->header = (struct soft_rc_wire){
        .destination_qpn = htonl(attr->dest_qp_num),
        .source_qpn = htonl(qp->base.qp_num),
        .source_lid = htons(qp->lid),
    };
    soft_rc_sign(rc);
    soft_unlock(&rc->lock);
    return soft_socket_accept_peer(qp, attr->dest_qp_num, attr->ah_attr.dlid);
}

void soft_rc_ready_to_send(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc;
    soft_lock(&rc->lock);
    rc->una = rc->next = rc->sent = rc->assigned = first_number(qp->attr.sq_psn);
    rc->rnr_left = qp->attr.rnr_retry;
    soft_unlock(&rc->lock);
}

void soft_rc_reset(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc;
    soft_lock(&rc->lock);
    rc->head = rc->tail = rc->cursor = 0;
    rc->reading = 0;
    rc->receiver_ready_at = 0;
    rc->has_refused = rc->probing = rc->established = rc->has_receive = rc->in_message = rc->ack_due = rc->nak_due =
        false;
    memset(&rc->atomics, 0, sizeof rc->atomics);
    soft_unlock(&rc->lock);
}

void soft_rc_event(struct soft_rc *rc, enum ibv_event_type type)
{
    soft_event_post(soft_context_of(rc->qp->base.context),
                    (struct ibv_async_event){.element.qp = &rc->qp->base, .event_type = type});
}

/* The order is that of posting: sends in theirs, receives in theirs, the one that was being filled first. */
void soft_rc_fail_locked(struct soft_rc *rc)
{
    struct soft_qp *qp = rc->qp;
    if (__atomic_exchange_n(&qp->base.state, IBV_QPS_ERR, __ATOMIC_ACQ_REL) == IBV_QPS_ERR)
        return;
    while (rc->head != rc->tail)
        soft_rc_complete_head(rc, IBV_WC_WR_FLUSH_ERR);
    rc->una = rc->next = rc->sent = rc->assigned;
    rc->receiver_ready_at = 0;
    struct ibv_wc wc = {.status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV, .qp_num = qp->number};
    if (rc->has_receive) {
        wc.wr_id = rc->receive.wr_id;
        rc->has_receive = false;
        if (rc->service == SOFT_XRC_TARGET && !rc->srq)
            soft_xrc_flush(rc, &wc);
        else
            soft_rc_push(rc, rc->recv_cq, &wc, true);
    }
    if (!qp->srq) {
        struct soft_rq *rq = &qp->own_rq;
        soft_lock(&rq->lock);
        for (uint32_t i = rq->head; i != rq->tail; i++) {
            wc.wr_id = rq->wqe[i & rq->mask].wr_id;
            soft_rc_push(rc, qp->recv_cq, &wc, true);
        }
        soft_rq_clear(rq);
        soft_unlock(&rq->lock);
    } else { /* the SRQ's other QPs go on with its receives: say that this one takes no more */
        soft_rc_event(rc, IBV_EVENT_QP_LAST_WQE_REACHED);
    }
    if (!rc->has_refused)
        soft_socket_refuse(qp);
}

void soft_rc_fail(struct soft_qp *qp)
{
    soft_lock(&qp->rc->lock);
    soft_rc_fail_locked(qp->rc);
    soft_unlock(&qp->rc->lock);
}
