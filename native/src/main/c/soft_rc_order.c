/* Order of arrival across the connections of a device. An adapter has one port, by which all comes in the order in which it came: when a
 * program sees what a packet did, all that arrived before it, for whatever connection, is in memory. Message libraries live on that, which
 * no specification promises (docs/soft-fabric.md). Here each connection has a socket of its own. So who has taken something from one looks at
 * all others before a program hears of it, until all have been looked at since something was last found. */
#include "soft_types.h"
#include "soft_rc.h"

enum { LOOKS = 8 }; /* at each at the most, lest a stream that never ends keep the program from what has come */

void soft_rc_order_add(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    soft_lock(&context->connections_lock);
    struct soft_rc *first = context->connections;
    if (!first)
        first = context->connections = rc->neighbour = rc;
    rc->neighbour = first->neighbour;
    first->neighbour = rc;
    context->connection_count++;
    soft_unlock(&context->connections_lock);
}

void soft_rc_order_remove(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    if (!rc->neighbour)
        return;
    soft_lock(&context->connections_lock);
    struct soft_rc *before = rc;
    while (before->neighbour != rc)
        before = before->neighbour;
    before->neighbour = rc->neighbour;
    context->connections = before == rc ? NULL : before;
    context->connection_count--;
    rc->neighbour = NULL;
    soft_unlock(&context->connections_lock);
}

/* Whether something came. Whoever has the lock is at it already. */
static bool look_at(struct soft_rc *rc)
{
    if (!soft_rc_listens(rc) || !soft_trylock(&rc->lock))
        return false;
    bool brought = soft_rc_take_rounds(rc, SOFT_RC_WINDOW / SOFT_RC_RECEIVE_BATCH);
    soft_unlock(&rc->lock);
    return brought;
}

void soft_rc_take_others(struct soft_rc *rc)
{
    struct soft_context *context = soft_context_of(rc->qp->base.context);
    if (__atomic_load_n(&context->connection_count, __ATOMIC_RELAXED) < 2 || !soft_trylock(&context->connections_lock))
        return;
    unsigned others = context->connection_count - 1, quiet = 0;
    for (unsigned looks = 0; quiet < others && looks < LOOKS * others; looks++) {
        rc = rc->neighbour;
        quiet = look_at(rc) ? 0 : quiet + 1;
    }
    soft_unlock(&context->connections_lock);
}
