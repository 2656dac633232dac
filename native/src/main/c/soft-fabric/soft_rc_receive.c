/* Packets that arrived for a reliable connection: taken by a poll of one of its completion queues, or by the engine. */
#include "soft_cq.h"
#include "soft_rc.h"
#include "soft_refuse.h"
#include "soft_tag.h"
#include "soft_xrc.h"
#include <string.h>

struct arrival {
    struct soft_tag tag;
    struct soft_rc_wire header;
    char payload[SOFT_XRC_BYTES + SOFT_MTU]; /* without tags, it is read together with the header */
};

static void arrived_otherwise(struct soft_rc *rc, const struct soft_rc_wire *header, const char *payload,
                              uint32_t length)
{
    bool request = header->opcode <= SOFT_RC_SEND_INVALIDATE;
    if (rc->service == SOFT_UC)
        soft_uc_arrived(rc, header, payload, length);
    else if (rc->service == SOFT_XRC_TARGET && request)
        soft_xrc_requested(rc, header, payload, length);
    else if (rc->service == SOFT_XRC_INITIATOR && !request)
        soft_rc_answered(rc, header, payload, length);
}

static void dispatch(struct soft_rc *rc, const struct arrival *arrival, uint32_t bytes, bool tagged)
{
    const struct soft_rc_wire *header = &arrival->header;
    uint32_t before = (uint32_t)(sizeof *header + (tagged ? sizeof arrival->tag : 0)), length = bytes - before;
    if (unlikely(bytes < before)) {
        soft_refused_part(rc->qp);
        return;
    }
    if (!soft_rc_listens(rc))
        return; /* an earlier packet of the batch has ended the connection */
    if (tagged && unlikely(!soft_tag_is_right_packet(rc->qp, header, &arrival->tag, arrival->payload, length)))
        return;
    rc->brought |= header->opcode < SOFT_RC_ACK;
    if (unlikely(rc->service != SOFT_RC))
        arrived_otherwise(rc, header, arrival->payload, length);
    else if (header->opcode <= SOFT_RC_SEND_INVALIDATE)
        soft_rc_requested(rc, header, arrival->payload, length);
    else
        soft_rc_answered(rc, header, arrival->payload, length);
}

/* Returns true when there may be more. */
static bool take_packets(struct soft_rc *rc)
{
    const bool tagged = soft_context_of(rc->qp->base.context)->config.tagged;
    struct arrival arrivals[SOFT_RC_RECEIVE_BATCH];
    struct iovec iov[SOFT_RC_RECEIVE_BATCH][3];
    struct mmsghdr messages[SOFT_RC_RECEIVE_BATCH];
    for (int i = 0; i < SOFT_RC_RECEIVE_BATCH; i++) {
        struct arrival *arrival = &arrivals[i];
        iov[i][0] = (struct iovec){&arrival->header, sizeof arrival->header + (tagged ? 0 : sizeof arrival->payload)};
        iov[i][1] = (struct iovec){&arrival->tag, sizeof arrival->tag};
        iov[i][2] = (struct iovec){arrival->payload, sizeof arrival->payload};
        messages[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = iov[i], .msg_iovlen = tagged ? 3 : 1}};
    }
    int got = recvmmsg(rc->qp->socket, messages, SOFT_RC_RECEIVE_BATCH, MSG_DONTWAIT, NULL);
    for (int i = 0; i < got; i++)
        if (!(messages[i].msg_hdr.msg_flags & MSG_TRUNC))
            dispatch(rc, &arrivals[i], messages[i].msg_len, tagged);
    if (got > 0) {
        if (!rc->stage) /* else when its completions are told */
            soft_rc_acknowledge(rc);
        if (soft_rc_state(rc) == IBV_QPS_RTS)
            soft_rc_pump(rc);
    }
    return got == SOFT_RC_RECEIVE_BATCH;
}

bool soft_rc_take_rounds(struct soft_rc *rc, int most)
{
    rc->brought = false;
    while (most-- && soft_rc_listens(rc) && take_packets(rc))
        ;
    return rc->brought;
}

int soft_rc_receive(struct soft_qp *qp, int count, struct ibv_wc *wc, bool *solicited)
{
    struct soft_rc *rc = qp->rc;
    __atomic_store_n(&rc->polls, __atomic_load_n(&rc->polls, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    if (soft_rc_listens(rc) && soft_trylock(&rc->lock)) {
        /* A program that is seldom given the processor takes a whole window at once. */
        bool brought = soft_rc_take_rounds(rc, SOFT_RC_WINDOW / SOFT_RC_RECEIVE_BATCH);
        soft_unlock(&rc->lock);
        if (brought)
            soft_rc_take_others(rc);
    }
    return 0; /* completions are in the queues' rings */
}

void soft_rc_take_last(struct soft_qp *qp)
{
    struct soft_rc *rc = qp->rc;
    if (!soft_rc_listens(rc))
        return;
    soft_lock(&rc->lock);
    bool brought = soft_rc_take_rounds(rc, SOFT_RC_WINDOW / SOFT_RC_RECEIVE_BATCH);
    soft_unlock(&rc->lock);
    if (brought)
        soft_rc_take_others(rc);
}
