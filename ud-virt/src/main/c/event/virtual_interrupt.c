/* Which signals end a wait for an event. On a real device it is read(2): a signal with a handler ends it with EINTR,
 * unless the handler was installed with SA_RESTART (signal(7), "Interruption of system calls"). Here it is ppoll(2),
 * which every handler ends. So the handlers of the process are looked at. While all of them are of one sort, that sort
 * tells what an interrupted ppoll means. While there are both, the signals of those that restart are blocked for a wait
 * of LOOK_AGAIN_MS at a time, and run between two of them (poll_masked).
 *
 * A look is 64 system calls. One that is at most LOOK_AGAIN_MS old serves for a first wait of that length, so that a
 * program which sleeps for each message does not pay for it. After a wait that was interrupted the next one looks anew.
 */
#define _GNU_SOURCE
#include "virtual.h"
#include "common/system_calls.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_AGAIN_MS = 10, SIGNALS = 64 };

struct handlers {
    uint64_t restarting, ending; /* a bit for each signal, from 1 */
};

/* As the kernel has it: glibc's sigaction(3) does not tell of the signals that it uses itself. */
struct kernel_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    uint64_t mask;
};

static struct handlers last;
static long last_ms; /* 0: look anew */

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct handlers look(void)
{
    struct handlers found = {0, 0};
    for (int signal = 1; signal <= SIGNALS; signal++) {
        struct kernel_action action = {0};
        uint64_t bit = 1ull << (signal - 1);
        if (system_call(SYS_rt_sigaction, signal, 0, (long)&action, sizeof action.mask, 0, 0))
            continue;
        if (action.handler == (void *)SIG_DFL || action.handler == (void *)SIG_IGN)
            continue;
        if (action.flags & SA_RESTART)
            found.restarting |= bit;
        else
            found.ending |= bit;
    }
    return found;
}

static struct handlers recent(int *is_new)
{
    long now = now_ms(), then = __atomic_load_n(&last_ms, __ATOMIC_ACQUIRE);
    *is_new = !then || now < then || now - then > LOOK_AGAIN_MS;
    if (!*is_new)
        return (struct handlers){__atomic_load_n(&last.restarting, __ATOMIC_RELAXED),
                                 __atomic_load_n(&last.ending, __ATOMIC_RELAXED)};
    struct handlers found = look();
    __atomic_store_n(&last.restarting, found.restarting, __ATOMIC_RELAXED);
    __atomic_store_n(&last.ending, found.ending, __ATOMIC_RELAXED);
    __atomic_store_n(&last_ms, now, __ATOMIC_RELEASE);
    return found;
}

/* The thread's signal mask, as the kernel has it: glibc lets nobody block the signals that it uses itself. */
struct own_mask {
    uint64_t before;
    int is_changed;
};

static void set_mask(struct own_mask *own, uint64_t more)
{
    uint64_t mask, old;
    int error = errno;
    if (!own->is_changed)
        system_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&own->before, sizeof own->before, 0, 0);
    own->is_changed = more != 0;
    mask = own->before | more;
    system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&old, sizeof mask, 0,
                0); /* what may run now, and has come, runs here */
    errno = error;
}

/* Where there are handlers that end the wait, their signals come in within ppoll alone: one that came between two waits
 * would end neither. Those of the other sort come in between. All are blocked in the thread's own mask, for a
 * checkpoint's stop lifts the mask that ppoll has for its own time. */
static int poll_masked(struct pollfd *wait, const struct timespec *limit, const struct handlers *known,
                       struct own_mask *own)
{
    sigset_t inside;
    if (own->is_changed)
        set_mask(own, known->ending);
    set_mask(own, known->ending | known->restarting);
    uint64_t word = own->before | known->restarting;
    sigemptyset(&inside);
    memcpy(&inside, &word, sizeof word); /* the kernel's 64 signals */
    return ppoll(wait, 1, limit, &inside);
}

/* Whether read(2) would have ended. A handler that was to run once (SA_RESETHAND) is not there any more. */
static int has_ended(const struct handlers *before, int is_new)
{
    __atomic_store_n(&last_ms, 0, __ATOMIC_RELEASE);
    if (is_new && before->ending) /* the others were blocked */
        return 1;
    struct handlers now = look();
    return now.ending != 0 || (!now.restarting && before->ending != 0);
}

int virtual_poll(struct pollfd *wait)
{
    const struct timespec soon = {.tv_nsec = LOOK_AGAIN_MS * 1000000L};
    struct own_mask own = {0, 0};
    for (;;) {
        int is_new;
        struct handlers known = recent(&is_new);
        const struct timespec *limit = (known.restarting && known.ending) || !is_new ? &soon : NULL;
        if (!known.ending && own.is_changed)
            set_mask(&own, 0);
        int ready = known.ending ? poll_masked(wait, limit, &known, &own) : ppoll(wait, 1, limit, NULL);
        if (ready > 0 ||
            (ready < 0 && (errno != EINTR || has_ended(&known, is_new)))) { /* looking leaves errno alone */
            if (own.is_changed)
                set_mask(&own, 0);
            return ready > 0 ? 0 : -1;
        }
    }
}
