/* The closing side of the gate; called by the control thread only. */
#define _GNU_SOURCE
#include "counters.h"
#include "gate_private.h"
#include "common/system_calls.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <time.h>
#include <unistd.h>

/* Every thread gets its sign; one that is outside is marked as shut in the same step. */
static void shut_threads(void)
{
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next) {
        uint32_t outside = GATE_SIGN;
        __atomic_fetch_or(&thread->inside, GATE_SIGN, __ATOMIC_SEQ_CST);
        __atomic_compare_exchange_n(&thread->inside, &outside, GATE_SIGN | GATE_SHUT, 0, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&gate_mutex);
}

static void take_marks_off(void)
{
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next)
        __atomic_fetch_and(&thread->inside, ~GATE_SHUT, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&gate_mutex);
}

static unsigned count_threads(uint32_t mask, uint32_t wanted)
{
    unsigned count = 0;
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next)
        count += (__atomic_load_n(&thread->inside, __ATOMIC_ACQUIRE) & mask) == wanted;
    pthread_mutex_unlock(&gate_mutex);
    return count;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* The registration for membarrier belongs to the address space in the kernel, so a restored process has
 * lost it: it is made anew each time (cheap when it is there). */
static int fence_all_threads(void)
{
    if (system_call(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0))
        return errno;
    return system_call(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0, 0, 0, 0) ? errno : 0;
}

/* Marks of an earlier closing: a thread on its way in may have seen the gate open since. While the gate is
 * open nobody sets one, so those that an addition under way brought back are gone after the fence, too. */
static int forget_earlier_closing(void)
{
    int error;
    do {
        take_marks_off();
        error = fence_all_threads();
    } while (!error && count_threads(GATE_SHUT, GATE_SHUT));
    return error;
}

/* Signs and marks, fence, look: what is there after the fence can no more be undone by an addition that began
 * before it. A thread that is shut then can enter only by the slow way, which sees the word and the mark. */
static int wait_until_shut(int timeout_ms)
{
    int64_t deadline = now_ms() + timeout_ms;
    struct timespec pause = {0, 20000};
    for (;;) {
        shut_threads();
        int error = fence_all_threads();
        if (error || !count_threads(GATE_SHUT, 0))
            return error;
        if (now_ms() > deadline)
            return ETIMEDOUT;
        nanosleep(&pause, NULL);
    }
}

int gate_close(int timeout_ms)
{
    if (gate_is_closed())
        return 0;
    int error = forget_earlier_closing();
    if (error)
        return error;
    uint32_t before = __atomic_exchange_n(&gate_word, GATE_CLOSED, __ATOMIC_SEQ_CST);
    error = wait_until_shut(timeout_ms);
    if (error)
        gate_open(before == GATE_LOOK);
    return error;
}

/* The signs go when their threads come by. */
void gate_open(int look)
{
    __atomic_store_n(&gate_word, look ? GATE_LOOK : GATE_OPEN, __ATOMIC_SEQ_CST);
    system_call(SYS_futex, (long)&gate_word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0, 0);
}

void gate_nothing_stashed(void)
{
    uint32_t look = GATE_LOOK;
    __atomic_compare_exchange_n(&gate_word, &look, GATE_OPEN, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

int gate_is_closed(void)
{
    return __atomic_load_n(&gate_word, __ATOMIC_SEQ_CST) == GATE_CLOSED;
}

void gate_refresh_counters(void)
{
    pthread_mutex_lock(&gate_mutex);
    for (struct gate_thread *thread = gate_threads; thread; thread = thread->next)
        thread->counters = thread->slotless ? &thread->own : counters_block(thread->counter_slot);
    pthread_mutex_unlock(&gate_mutex);
}
