/* The slow side of entering the gate: registration of a thread, sleeping, forked children. */
#define _GNU_SOURCE
#include "counters.h"
#include "gate_private.h"
#include "agent-client/control.h"
#include "common/system_calls.h"
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

uint32_t gate_word = GATE_OPEN;
struct gate_thread *gate_threads;
pthread_mutex_t gate_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t exit_key;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static void prepare(void);

__thread struct gate_thread gate_self __attribute__((tls_model("initial-exec"))) = {.inside = GATE_SIGN};

/* A handler that comes between finds what is left, so nothing is counted twice. */
static void add_own_counts(struct gate_thread *self)
{
    uint64_t *from = (uint64_t *)&self->own, *to = (uint64_t *)counters_block(self->counter_slot);
    for (size_t i = 0; i < sizeof self->own / sizeof *from; i++)
        if (from[i])
            __atomic_fetch_add(&to[i], __atomic_exchange_n(&from[i], 0, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* The thread ends. Its signals stay blocked: a handler that called a verb would wait for the mutex for ever, or
 * leave a thread in the list whose memory goes away. */
static void unregister_thread(void *argument)
{
    struct gate_thread *self = argument;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread **link = &gate_threads; *link; link = &(*link)->next)
        if (*link == self) {
            *link = self->next;
            break;
        }
    if (self->slotless)
        add_own_counts(self);
    counters_release(self->counter_slot);
    self->registered = 0;
    __atomic_fetch_or(&self->inside, GATE_SIGN, __ATOMIC_SEQ_CST);
    __atomic_fetch_and(&self->inside, ~GATE_SHUT, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&gate_mutex);
}

static void add_to_list(struct gate_thread *self)
{
    pthread_mutex_lock(&gate_mutex);
    self->counters = counters_claim(&self->counter_slot, &self->slotless);
    if (self->slotless)
        self->counters = &self->own;
    /* Whoever closed the gate has not seen this thread, which has never been inside. */
    if (gate_is_closed())
        __atomic_fetch_or(&self->inside, GATE_SHUT, __ATOMIC_SEQ_CST);
    self->next = gate_threads;
    gate_threads = self;
    self->registered = 1;
    pthread_mutex_unlock(&gate_mutex);
    pthread_once(&prepared, prepare); /* another library's constructor may call verbs before ours has run */
    pthread_setspecific(exit_key, self);
}

/* Signals are blocked, because a handler may call verbs and would wait for the mutex for ever. One that came
 * before they were has registered the thread already. */
static void register_thread(struct gate_thread *self)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!self->registered)
        add_to_list(self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void gate_register(void)
{
    register_thread(&gate_self);
}

static int refuse_in_child(struct gate_thread *self)
{
    static int said;
    __atomic_fetch_sub(&self->inside, 1, __ATOMIC_RELEASE);
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
        control_log("pid %d: a forked child called a verb, but verbs work only in the process that opened the device "
                    "(call fork before ibv_open_device, or exec)",
                    getpid());
    errno = EOPNOTSUPP;
    return 0;
}

/* Open: the sign goes, if nothing else wants this way. When the gate is closing meanwhile, whoever closes
 * it finds this thread inside, and sets the sign again. */
static int pass(struct gate_thread *self, uint32_t word)
{
    if (self->slotless)
        add_own_counts(self);
    else if (word == GATE_OPEN)
        __atomic_fetch_and(&self->inside, ~(GATE_SIGN | GATE_SHUT), __ATOMIC_SEQ_CST);
    return 1;
}

/* Sleeps outside, with all that the thread has counted on its way in. When the gate has opened and closed again before
 * the sleep, the thread sleeps on, and keeps nobody from closing it. */
static void wait_outside(struct gate_thread *self, uint32_t counted)
{
    int saved = errno;
    __atomic_fetch_sub(&self->inside, counted, __ATOMIC_SEQ_CST);
    system_call(SYS_futex, (long)&gate_word, FUTEX_WAIT_PRIVATE, GATE_CLOSED, 0, 0, 0);
    __atomic_fetch_add(&self->inside, counted, __ATOMIC_SEQ_CST);
    errno = saved;
}

int gate_enter_slow(void)
{
    struct gate_thread *self = &gate_self;
    for (;;) {
        if (!self->registered && __atomic_load_n(&gate_word, __ATOMIC_RELAXED) != GATE_FORKED)
            register_thread(self);
        uint32_t word = __atomic_load_n(&gate_word, __ATOMIC_SEQ_CST);
        uint32_t inside = __atomic_load_n(&self->inside, __ATOMIC_SEQ_CST), counted = inside & ~(GATE_SIGN | GATE_SHUT);
        if (word == GATE_FORKED)
            return refuse_in_child(self);
        /* A signal handler inside a verb: whoever closes the gate is waiting for the outer verb. */
        if (word != GATE_CLOSED || (counted > 1 && !(inside & GATE_SHUT)))
            return pass(self, word);
        wait_outside(self, counted);
    }
}

void gate_forked(int refuse)
{
    pthread_mutex_init(&gate_mutex, NULL);
    gate_word = refuse ? GATE_FORKED : GATE_OPEN;
    gate_self.inside |= GATE_SIGN;
    gate_self.registered = 0;
    gate_threads = NULL;
}

static void prepare(void)
{
    pthread_key_create(&exit_key, unregister_thread);
}

__attribute__((constructor(101))) static void start(void)
{
    pthread_once(&prepared, prepare);
}
