/* The engine: one thread of the process that does for reliable connections what a device does by itself: takes packets
 * when nobody polls (soft_rc_watch.c), and sends again what was not answered for.
 *
 * It is parked while a checkpoint is taken: then it waits on a condition, without a descriptor, and so it is found in
 * the restored process, whose connections are new ones. */
#include "soft_cq.h"
#include "soft_fault.h"
#include "soft_rc_watch.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

enum {
    MS = 1000000,
    BUSY_TICK_NS = 2 * MS,
    IDLE_TICK_NS = 20 * MS,
    TIMER_SLACK_NS = 1000, /* the kernel's default is as long as the shortest wait here */
    STACK_BYTES = 256 * 1024
};

static struct {
    pthread_mutex_t mutex; /* the ring, the watch, and the right to work on their members */
    pthread_cond_t changed;
    struct soft_rc *first;
    unsigned count;
    bool running, parked, is_parked;
} engine = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void soft_rc_engine_pass(void)
{
    pthread_mutex_lock(&engine.mutex);
    pthread_mutex_unlock(&engine.mutex);
}

/* Returns when to come again at the latest. The mutex is held. */
static uint64_t tick(uint64_t now)
{
    uint64_t again = now + IDLE_TICK_NS;
    struct soft_rc *rc = engine.first;
    for (unsigned i = 0; i < engine.count; i++, rc = rc->engine_next) {
        if (soft_rc_state(rc) != IBV_QPS_RTS)
            continue;
        if (!soft_trylock(&rc->lock)) { /* whoever has it sends or takes packets just now */
            again = now + BUSY_TICK_NS;
            continue;
        }
        soft_rc_tick(rc, now);
        if (rc->una != rc->sent || rc->receiver_ready_at)
            again = now + BUSY_TICK_NS;
        soft_unlock(&rc->lock);
        if (rc->qp->faults)
            soft_fault_release(rc->qp);
        soft_settle(soft_context_of(rc->qp->base.context));
    }
    return again;
}

static void *run(void *unused)
{
    prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS);
    for (;;) {
        pthread_mutex_lock(&engine.mutex);
        while (engine.parked || !engine.count) {
            engine.is_parked = true;
            pthread_cond_broadcast(&engine.changed);
            pthread_cond_wait(&engine.changed, &engine.mutex);
        }
        engine.is_parked = false;
        uint64_t now = soft_rc_now();
        soft_rc_watch_take(now);
        struct soft_rc_sleep sleep = soft_rc_watch_until(tick(now));
        pthread_mutex_unlock(&engine.mutex);
        soft_rc_watch_sleep(sleep);
    }
    return unused;
}

static int start(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (!error)
        pthread_setname_np(thread, "udckpt-rc");
    return error;
}

static void link_in(struct soft_rc *rc)
{
    if (!engine.first) {
        rc->engine_next = rc->engine_previous = engine.first = rc;
    } else {
        rc->engine_next = engine.first;
        rc->engine_previous = engine.first->engine_previous;
        rc->engine_previous->engine_next = rc->engine_next->engine_previous = rc;
    }
    engine.count++;
    pthread_cond_broadcast(&engine.changed);
}

static void take_out(struct soft_rc *rc)
{
    if (!rc->engine_next)
        return;
    rc->engine_previous->engine_next = rc->engine_next;
    rc->engine_next->engine_previous = rc->engine_previous;
    if (engine.first == rc)
        engine.first = rc->engine_next == rc ? NULL : rc->engine_next;
    rc->engine_next = rc->engine_previous = NULL;
    engine.count--;
}

int soft_rc_engine_add(struct soft_rc *rc)
{
    pthread_mutex_lock(&engine.mutex);
    int error = soft_rc_watch_open();
    if (!error)
        error = soft_rc_watch_add(rc);
    if (!error && !engine.running && !(error = start()))
        engine.running = true;
    if (!error)
        link_in(rc);
    pthread_mutex_unlock(&engine.mutex);
    return error;
}

void soft_rc_engine_remove(struct soft_rc *rc)
{
    pthread_mutex_lock(&engine.mutex);
    if (rc->engine_next)
        soft_rc_watch_remove(rc);
    take_out(rc);
    pthread_mutex_unlock(&engine.mutex);
}

void soft_rc_engine_leave(struct soft_context *context)
{
    pthread_mutex_lock(&engine.mutex);
    for (struct soft_object *o = context->objects.next; o != &context->objects; o = o->next) {
        struct soft_qp *qp = o->kind == SOFT_QP ? container_of(o, struct soft_qp, object) : NULL;
        if (qp && qp->rc) {
            soft_rc_watch_leave(qp->rc);
            take_out(qp->rc);
        }
    }
    pthread_mutex_unlock(&engine.mutex);
}

int soft_rc_engine_fds(int fds[2])
{
    return soft_rc_watch_fds(fds);
}

void soft_rc_engine_forget(void)
{
    soft_rc_watch_forget();
}

void soft_rc_engine_park(int parked)
{
    pthread_mutex_lock(&engine.mutex);
    engine.parked = parked;
    pthread_cond_broadcast(&engine.changed);
    if (parked)
        soft_rc_watch_wake();
    while (parked && engine.running && !engine.is_parked)
        pthread_cond_wait(&engine.changed, &engine.mutex);
    pthread_mutex_unlock(&engine.mutex);
}
