/* The agreement before a snapshot. A device that can hold its send queues finishes what it has begun and begins
 * nothing new; then each packet that was sent has been answered for, so both ends say the same of every request. Other
 * devices are given time to complete all; what then is still there waits for a receive of the peer. */
#include "rc.h"
#include "agent-client/control.h"
#include "checkpoint/virtual_checkpoint.h"
#include <errno.h>
#include <time.h>

static int64_t now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void hold_all(int on)
{
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    if (lower_device->hold)
        lower_device->hold(context->real, on);
}

/* A queue pair whose device still works on its sends, or NULL. */
static struct v_qp *unsettled(unsigned *waiting)
{
    *waiting = 0;
    FOR_EACH(struct v_context, link, context, &virtual_contexts)
    FOR_EACH(struct v_qp, link, qp, &context->qps)
    {
        if (!qp->rc)
            continue;
        unsigned queued = rc_outstanding(qp);
        int swallowed = ((struct v_cq *)qp->qp.send_cq)->failed; /* by an overflow: such completions never come */
        int busy = lower_device->is_settled ? !lower_device->is_settled(qp->real, &queued) : queued != 0 && !swallowed;
        *waiting += queued;
        if (busy)
            return qp;
    }
    return NULL;
}

int rc_settle(int timeout_ms, unsigned *waiting)
{
    struct timespec pause = {0, 20000};
    int64_t deadline = now_us() + timeout_ms * 1000LL;
    hold_all(1);
    for (;;) {
        struct v_qp *busy = unsettled(waiting);
        if (!busy)
            return 0;
        unsigned moved = 0;
        if (virtual_take_completions(&moved))
            return ENOMEM;
        if (now_us() > deadline) {
            control_log("queue pair 0x%06x: its peer (QPN 0x%06x of LID 0x%04x) does not acknowledge outstanding "
                        "requests",
                        busy->qp.qp_num, busy->rc->attributes.dest_qp_num, busy->rc->attributes.ah_attr.dlid);
            return ETIMEDOUT;
        }
        if (!moved)
            nanosleep(&pause, NULL);
    }
}

void rc_park(void)
{
    if (lower_device->park)
        lower_device->park(1);
}

void rc_resume(void)
{
    if (lower_device->park)
        lower_device->park(0);
    hold_all(0);
}
