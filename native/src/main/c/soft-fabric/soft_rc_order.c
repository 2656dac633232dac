/* Order of arrival across the connections of a device. An adapter has one port, by which all comes in the order in
 * which it came: when a program sees what a packet did, all that arrived before it, for whatever connection, is in
 * memory. Message libraries live on that, which no specification promises (docs/internals/soft-fabric.md). Here each
 * connection has a socket of its own. So who has taken something from one looks at all others before a program hears
 * of it, until all have been looked at since something was last found. */
#include "soft_cq.h"
#include "soft_rc.h"

enum {
    LOOKS = 8, /* at each at the most, lest a stream that never ends keep the program from what has come */
    STAGED = 256,
};

void soft_rc_order_add(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    soft_lock(&context->connections_lock);
    struct soft_rc *first = context->connections;
    if (!first)
        first = context->connections = rc->neighbour = rc;
    rc->neighbour = first->neighbour;
    first->neighbour = rc;
    __atomic_add_fetch(&context->connection_count, 1, __ATOMIC_RELAXED);
    soft_unlock(&context->connections_lock);
}

void soft_rc_order_remove(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    soft_lock(&context->connections_lock);
    struct soft_rc *before = rc;
    while (before->neighbour != rc)
        before = before->neighbour;
    before->neighbour = rc->neighbour;
    context->connections = before == rc ? NULL : before;
    __atomic_sub_fetch(&context->connection_count, 1, __ATOMIC_RELAXED);
    rc->neighbour = NULL;
    soft_unlock(&context->connections_lock);
}

/* Completions that wait for the end of a round, in their order, and the connections that they are of, which stay locked
 * until then: so nobody tells of what came later to one of them before. Their packets are answered for then, too: a
 * sender does not hear earlier than the receiver. */
struct soft_rc_stage {
    struct soft_rc *locked;
    unsigned count;
    struct {
        struct soft_cq *cq;
        struct ibv_wc wc;
        bool solicited;
    } waiting[STAGED];
};

static void tell(struct soft_rc_stage *stage)
{
    for (unsigned i = 0; i < stage->count; i++)
        soft_cq_push(stage->waiting[i].cq, &stage->waiting[i].wc, stage->waiting[i].solicited);
    stage->count = 0;
}

void soft_rc_push(struct soft_rc *rc, struct soft_cq *cq, const struct ibv_wc *wc, bool solicited)
{
    struct soft_rc_stage *stage = rc->stage;
    if (stage && stage->count == STAGED) /* they cannot wait any longer */
        tell(stage);
    if (!stage) {
        soft_cq_push(cq, wc, solicited);
        return;
    }
    stage->waiting[stage->count].cq = cq;
    stage->waiting[stage->count].wc = *wc;
    stage->waiting[stage->count++].solicited = solicited;
}

/* Takes packets of a connection that is locked, and keeps it locked while it has completions to report. Returns whether
 * something came. */
static bool take_locked(struct soft_rc *rc, struct soft_rc_stage *stage, int rounds)
{
    bool again = stage && rc->stage == stage;
    unsigned before = stage ? stage->count : 0;
    rc->stage = stage;
    bool brought = soft_rc_take_rounds(rc, rounds);
    if (stage && !again && (brought || stage->count != before)) {
        rc->next_staged = stage->locked;
        stage->locked = rc;
    } else if (!again) {
        rc->stage = NULL;
        soft_unlock(&rc->lock);
    }
    return brought;
}

/* Whether something came. */
static bool look_at(struct soft_rc *rc, struct soft_rc_stage *stage)
{
    if (!soft_rc_listens(rc))
        return false;
    if (!stage || __atomic_load_n(&rc->stage, __ATOMIC_RELAXED) != stage)
        soft_lock(&rc->lock);
    return take_locked(rc, stage, SOFT_RC_WINDOW / SOFT_RC_RECEIVE_BATCH);
}

/* With connections_lock held, which is taken before any rc->lock. */
static void look_at_others(struct soft_rc *rc, struct soft_rc_stage *stage)
{
    unsigned others = soft_context_of(rc->qp->base.context)->connection_count - 1, quiet = 0;
    for (unsigned looks = 0; quiet < others && looks < LOOKS * others; looks++) {
        rc = rc->neighbour;
        quiet = look_at(rc, stage) ? 0 : quiet + 1;
    }
}

void soft_rc_take_others(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    if (__atomic_load_n(&context->connection_count, __ATOMIC_RELAXED) < 2)
        return;
    soft_lock(&context->connections_lock);
    look_at_others(rc, NULL);
    soft_unlock(&context->connections_lock);
}

static void release(struct soft_rc_stage *stage)
{
    tell(stage);
    while (stage->locked) {
        struct soft_rc *done = stage->locked;
        stage->locked = done->next_staged;
        __atomic_store_n(&done->stage, NULL, __ATOMIC_RELAXED);
        soft_rc_acknowledge(done);
        soft_unlock(&done->lock);
    }
}

bool soft_rc_take_staged(struct soft_rc *rc, int rounds)
{
    static struct soft_rc_stage stage; /* the engine's, guarded by its mutex */
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    soft_lock(&context->connections_lock);
    bool taken = soft_trylock(&rc->lock);
    if (taken) {
        if (take_locked(rc, &stage, rounds) && rc->neighbour)
            look_at_others(rc, &stage);
        release(&stage);
    }
    soft_unlock(&context->connections_lock);
    return taken;
}
