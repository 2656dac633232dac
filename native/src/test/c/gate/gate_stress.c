/* The gate (gate.h) under stress: threads enter, nest and leave, signals arrive whose handlers enter too, threads
 * come and go, and the gate is closed and opened as fast as it can be.
 *
 *   gate_stress SECONDS SEED
 *
 * Each stay inside looks at the number of the closing when it begins and when it ends: an odd one, or one that has
 * changed, is a stay while the gate was closed. Linked with the gate itself: what is tested are its instructions. */
#define _GNU_SOURCE
#include "counters.h"
#include "gate/gate_private.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKERS = 4,
    PASSERS_BY = 2,
    TARGETS = WORKERS + PASSERS_BY,
    CLOSE_TIMEOUT_MS = 30000,
    PROGRESS_S = 30,
    DEPTH = 3
};

static atomic_uint closings; /* odd while the gate is closed */
static atomic_long stays, handled, lives;
static atomic_uint progress[WORKERS];
static atomic_int targets[TARGETS]; /* thread ids, 0 for none */
static atomic_int stop;
/* Many, so that handlers nest; such as do not queue, so that a slow machine is not flooded. */
static const int signals[] = {SIGUSR1, SIGUSR2, SIGURG, SIGIO, SIGPWR, SIGALRM, SIGVTALRM, SIGPROF};
enum { SIGNALS = sizeof signals / sizeof *signals };
static __thread uint64_t state; /* of this thread's random numbers; a handler may take one, too */

/* What gate_entry.c wants from the rest of the library. */
void control_log(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

static void fail(const char *what, long a, long b)
{
    fprintf(stderr, "gate_stress: %s (%ld, %ld) after %u closings\n", what, a, b, atomic_load(&closings) / 2);
    abort();
}

/* splitmix64 */
static unsigned chance(unsigned of)
{
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (unsigned)((z ^ z >> 31) >> 33) % of;
}

static void linger(unsigned turns)
{
    for (unsigned i = chance(turns + 1); i; i--)
        __builtin_ia32_pause();
}

static void stay(int depth)
{
    if (chance(2) ? !gate_enter() : !gate_enter_fast() && !gate_enter_slow())
        fail("an entry was refused", errno, depth);
    unsigned before = atomic_load(&closings);
    COUNT(ud_sends, 1);
    linger(20);
    if (depth < DEPTH && !chance(4))
        stay(depth + 1);
    unsigned after = atomic_load(&closings);
    if (before & 1 || before != after)
        fail("a thread was inside while the gate was closed", before, after);
    atomic_fetch_add_explicit(&stays, 1, memory_order_relaxed);
    if (chance(2))
        gate_leave();
    else
        (void)gate_leave_fast();
}

/* Each thread has two timers of its own, which interrupt it after so few microseconds that the next one often
 * meets the handler of the one before, anywhere on its way. */
enum { TIMERS = 2, SOONEST_NS = 1000, LATEST_NS = 30000 };
struct timers {
    timer_t ids[TIMERS];
};
static __thread struct timers *own_timers;

static void set_timer(timer_t timer)
{
    struct itimerspec soon = {.it_value.tv_nsec = SOONEST_NS + chance(LATEST_NS - SOONEST_NS)};
    if (timer_settime(timer, 0, &soon, NULL))
        fail("timer_settime", errno, 0);
}

static void make_timers(struct timers *timers)
{
    for (int i = 0; i < TIMERS; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signals[i]};
        event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
        if (timer_create(CLOCK_MONOTONIC, &event, &timers->ids[i]))
            fail("timer_create", errno, i);
        set_timer(timers->ids[i]);
    }
    own_timers = timers;
}

static void delete_timers(struct timers *timers)
{
    for (int i = 0; i < TIMERS; i++)
        timer_delete(timers->ids[i]);
}

static void on_signal(int number)
{
    int saved = errno;
    atomic_fetch_add_explicit(&handled, 1, memory_order_relaxed);
    stay(1);
    for (int i = 0; i < TIMERS && own_timers; i++)
        if (signals[i] == number) /* only now, so that the thread itself gets on in any case */
            set_timer(own_timers->ids[i]);
    errno = saved;
}

static void *work(void *argument)
{
    struct timers timers;
    unsigned number = (unsigned)(uintptr_t)argument;
    state += number;
    atomic_store(&targets[number], (int)syscall(SYS_gettid));
    make_timers(&timers);
    while (!atomic_load(&stop)) {
        stay(1);
        atomic_fetch_add(&progress[number], 1);
        linger(10);
    }
    delete_timers(&timers);
    return NULL;
}

/* A thread's destructors may call verbs, too. */
static pthread_key_t farewell;

static void stay_once_more(void *unused)
{
    stay(1);
}

struct passer_by {
    unsigned number;
    struct timers timers;
};

static void *pass_by(void *argument)
{
    struct passer_by *self = argument;
    state += (uint64_t)atomic_fetch_add(&lives, 1) << 32;
    atomic_store(&targets[self->number], (int)syscall(SYS_gettid));
    make_timers(&self->timers);
    pthread_setspecific(farewell, &state);
    for (unsigned i = chance(3); i; i--)
        stay(1);
    return NULL;
}

static void *bring_passers_by(void *argument)
{
    struct passer_by passer_by = {.number = (unsigned)(uintptr_t)argument};
    pthread_t thread;
    while (!atomic_load(&stop)) {
        if (pthread_create(&thread, NULL, pass_by, &passer_by) || pthread_join(thread, NULL))
            fail("pthread_create", errno, 0);
        delete_timers(&passer_by.timers);
    }
    atomic_store(&targets[passer_by.number], 0);
    return NULL;
}

/* Bursts for one thread, so that a signal meets the handler of the one before anywhere on its way; passers-by get more
 * than their share, because they have so many beginnings and ends. */
static void *send_signals(void *unused)
{
    while (!atomic_load(&stop)) {
        unsigned target = chance(2) ? chance(TARGETS) : WORKERS + chance(PASSERS_BY);
        for (unsigned i = chance(2 * SIGNALS); i; i--) {
            int thread = atomic_load(&targets[target]);
            if (thread && syscall(SYS_tgkill, getpid(), thread, signals[chance(SIGNALS)]) && errno != ESRCH)
                fail("tgkill", errno, thread);
            linger(10);
        }
        linger(chance(4) ? 100 : 5000);
    }
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* With the gate open each thread gets on. */
static void expect_progress(void)
{
    double end = now() + PROGRESS_S;
    for (int i = 0; i < WORKERS; i++)
        for (unsigned before = atomic_load(&progress[i]); atomic_load(&progress[i]) == before; sched_yield())
            if (now() > end)
                fail("a thread is lost: the gate is open and it does not get on", i, before);
}

static void close_and_open(void)
{
    int error = gate_close(CLOSE_TIMEOUT_MS);
    if (error)
        fail("gate_close", error, 0);
    if (gate_close(CLOSE_TIMEOUT_MS))
        fail("closing a closed gate", 0, 0);
    atomic_fetch_add(&closings, 1);
    long before = atomic_load(&stays);
    linger(chance(4) ? 2000 : 20000);
    if (atomic_load(&stays) != before)
        fail("stays ended while the gate was closed", before, atomic_load(&stays));
    gate_refresh_counters();
    atomic_fetch_add(&closings, 1);
    int look = !chance(4);
    gate_open(look);
    linger(chance(3) ? 0 : 2000);
    if (look && chance(2))
        gate_nothing_stashed();
}

/* Whoever stands still for so long hangs: say so while the threads can still be looked at. */
static void *watch(void *unused)
{
    unsigned before = 0;
    for (int still = 0; !atomic_load(&stop); before = atomic_load(&closings)) {
        still = atomic_load(&closings) == before ? still + 1 : 0;
        if (still > CLOSE_TIMEOUT_MS + 1000 * PROGRESS_S)
            fail("the closing side hangs", before, still);
        usleep(1000);
    }
    return NULL;
}

/* Nobody has stayed in the list, and no stay was lost or counted twice. */
static void check_end(void)
{
    if (gate_threads != &gate_self || gate_self.next)
        fail("threads that have ended are still in the list", gate_threads != &gate_self, 0);
    uint64_t counted = 0;
    for (int i = 0; i < UDCKPT_COUNTER_SLOTS; i++)
        counted += counters_block(i)->ud_sends;
    if (counted != (uint64_t)atomic_load(&stays))
        fail("the counters do not hold the number of stays", (long)counted, atomic_load(&stays));
}

static void start_threads(pthread_t *threads, int *count)
{
    for (uintptr_t i = 0; i < WORKERS; i++)
        pthread_create(&threads[(*count)++], NULL, work, (void *)i);
    for (uintptr_t i = WORKERS; i < TARGETS; i++)
        pthread_create(&threads[(*count)++], NULL, bring_passers_by, (void *)i);
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&threads[(*count)++], NULL, send_signals, NULL);
    pthread_create(&threads[(*count)++], NULL, watch, NULL);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: gate_stress SECONDS SEED\n");
        return 64;
    }
    double end = now() + atof(argv[1]);
    struct sigaction action = {.sa_handler = on_signal}; /* none blocks another */
    pthread_t threads[TARGETS + 2];
    int count = 0;
    state = strtoull(argv[2], NULL, 0);
    for (int i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &action, NULL);
    pthread_key_create(&farewell, stay_once_more);
    gate_register();
    start_threads(threads, &count);
    for (unsigned i = 1; now() < end; i++) {
        close_and_open();
        if (i % 256 == 0)
            expect_progress();
    }
    expect_progress();
    atomic_store(&stop, 1);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    check_end();
    printf("%u closings, %ld stays, %ld signals, %ld threads that came and went\n", atomic_load(&closings) / 2,
           atomic_load(&stays), atomic_load(&handled), atomic_load(&lives));
    return 0;
}
