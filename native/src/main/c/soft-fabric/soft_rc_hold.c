/* Before a checkpoint: connections come to rest where both ends agree on what was delivered. */
#include "soft_cq.h"
#include "soft_rc.h"

static void hold_one(struct soft_rc *rc, bool on)
{
    soft_lock(&rc->lock);
    rc->held = on;
    if (!on && soft_rc_state(rc) == IBV_QPS_RTS) {
        /* While it was held nobody could answer: that is not counted as time that a peer was silent. */
        rc->progress_at = soft_rc_now();
        soft_rc_pump(rc);
    }
    soft_unlock(&rc->lock);
}

void soft_rc_hold(struct ibv_context *base, int on)
{
    struct soft_context *context = soft_context_of(base);
    soft_lock(&context->lock);
    for (struct soft_object *o = context->objects.next; o != &context->objects; o = o->next) {
        struct soft_qp *qp = o->kind == SOFT_QP ? container_of(o, struct soft_qp, object) : NULL;
        if (qp && qp->rc)
            hold_one(qp->rc, on);
    }
    soft_unlock(&context->lock);
    soft_settle(context);
}

/* Also makes it go on, so that the caller need not wait for the engine. */
int soft_rc_is_settled(struct ibv_qp *base, unsigned *queued)
{
    struct soft_rc *rc = soft_qp_of(base)->rc;
    soft_lock(&rc->lock);
    if (soft_rc_listens(rc)) {
        while (soft_rc_take_rounds(rc, SOFT_RC_WINDOW / SOFT_RC_RECEIVE_BATCH))
            ;
        soft_rc_tick(rc, soft_rc_now());
    }
    int settled = base->state != IBV_QPS_RTS || rc->una == rc->sent || rc->receiver_ready_at;
    *queued = rc->tail - rc->head;
    soft_unlock(&rc->lock);
    soft_settle(soft_context_of(base->context));
    return settled;
}

/* A receiver may have taken a request whose answer had not come back: it was not ready at first, a second copy found
 * it ready, and then the snapshot was taken. So numbers go on where they were: what the sender posts again has its old
 * numbers, and the receiver knows them. */
void soft_rc_save(const struct ibv_qp *base, void *to)
{
    const struct soft_rc *rc = ((const struct soft_qp *)base)->rc;
    struct soft_rc_memory *memory = to;
    memory->unfinished = rc->head != rc->tail ? soft_rc_at(rc, rc->head)->first : rc->assigned;
    memory->expected = rc->expected;
    memory->established = rc->established;
    memory->atomics = rc->atomics;
}

void soft_rc_restore(struct ibv_qp *base, const void *from)
{
    struct soft_rc *rc = soft_qp_of(base)->rc;
    const struct soft_rc_memory *memory = from;
    soft_lock(&rc->lock);
    if (base->state == IBV_QPS_RTS || base->state == IBV_QPS_SQE)
        rc->una = rc->next = rc->sent = rc->assigned = memory->unfinished;
    rc->expected = memory->expected;
    rc->established = memory->established;
    rc->atomics = memory->atomics;
    soft_unlock(&rc->lock);
}
