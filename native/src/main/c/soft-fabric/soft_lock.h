/* A lock for very short sections: three instructions when free. It yields rather than spins for
 * long, because ranks usually outnumber the processors of a test machine. Its state is plain memory,
 * so a snapshot of a process carries it. */
#pragma once
#include <sched.h>
#include <stdatomic.h>

struct soft_lock {
    atomic_int held;
};

static inline int soft_trylock(struct soft_lock *lock)
{
    return !atomic_exchange_explicit(&lock->held, 1, memory_order_acquire);
}

__attribute__((cold, noinline, unused)) static void soft_lock_taken(struct soft_lock *lock)
{
    for (unsigned spins = 0; !soft_trylock(lock); spins++) {
        if (spins % 64 == 63)
            sched_yield();
        else
            __builtin_ia32_pause();
    }
}

/* The wait is out of line: the paths that lock keep no registers for it. */
static inline void soft_lock(struct soft_lock *lock)
{
    if (__builtin_expect(!soft_trylock(lock), 0))
        soft_lock_taken(lock);
}

static inline void soft_unlock(struct soft_lock *lock)
{
    atomic_store_explicit(&lock->held, 0, memory_order_release);
}
