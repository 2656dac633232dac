/* What a thread inside a verb may still be reading is freed only when it has left. */
#include "gate_private.h"
#include <errno.h>
#include <sched.h>
#include <time.h>

static pthread_mutex_t one_waiter = PTHREAD_MUTEX_INITIALIZER; /* the marks are one waiter's */

static int is_inside(const struct gate_thread *thread)
{
    uint32_t inside = __atomic_load_n(&thread->inside, __ATOMIC_ACQUIRE);
    return !(inside & GATE_SHUT) && inside & ~GATE_SIGN;
}

static void mark_who_is_inside(void)
{
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next)
        thread->awaited = thread != &gate_self && is_inside(thread);
    pthread_mutex_unlock(&gate_mutex);
}

static int some_are_awaited(void)
{
    int left = 0;
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next) {
        thread->awaited = thread->awaited && is_inside(thread);
        left += thread->awaited;
    }
    pthread_mutex_unlock(&gate_mutex);
    return left != 0;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int gate_await_others(int timeout_ms)
{
    int64_t deadline = now_ms() + timeout_ms;
    int error = 0;
    pthread_mutex_lock(&one_waiter);
    mark_who_is_inside();
    while (!error && some_are_awaited()) {
        sched_yield();
        error = now_ms() > deadline ? ETIMEDOUT : 0;
    }
    pthread_mutex_unlock(&one_waiter);
    return error;
}
