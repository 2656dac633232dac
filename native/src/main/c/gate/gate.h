/* The gate that every verb of the job passes, so that a checkpoint never finds a thread inside a device.
 *
 * Each thread has one word: how many verbs it is inside, and a sign that says "look before you go on".
 * Passing an open gate is one addition to it, whose own flags tell the sign, and one subtraction; both
 * are single instructions, so that a signal handler which enters and leaves finds a whole number. The
 * closing side sets the signs with locked instructions, then makes every thread pass a full fence with
 * membarrier(2) MEMBARRIER_CMD_PRIVATE_EXPEDITED: a sign that an unlocked addition under way has undone
 * is seen to be missing after that, and set again (gate_close.c). A thread that has never entered has
 * its sign set, so registration needs no check of its own.
 *
 * A signal handler whose thread is already inside a verb must go on, or that verb would never end; one whose thread is
 * only on its way in must wait. The closing side tells them apart: a thread that it finds outside it marks as
 * shut, in the same word, so that what the thread has counted since has all yet to go in. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>
#include <stdint.h>

/* GATE_LOOK: open, but completions of before the checkpoint wait in stashes: the signs stay. */
enum { GATE_OPEN = 0, GATE_CLOSED = 1, GATE_FORKED = 2, GATE_LOOK = 3 };
#define GATE_SIGN 0x80000000u
#define GATE_SHUT 0x40000000u

struct gate_thread {
    /* verbs that this thread is inside (more than one only in a signal handler), GATE_SIGN, GATE_SHUT */
    uint32_t inside;
    int registered;
    struct udckpt_counter_block *counters;
    int counter_slot;
    int settle;   /* the verb that this thread is inside has left something to do: gate_leave_fast() will say so */
    int slotless; /* all slots were taken: it counts in `own`, and adds that to the last slot when it enters */
    int awaited;  /* gate_await_others(); under gate_mutex */
    struct gate_thread *next;
    struct udckpt_counter_block own;
};

extern __thread struct gate_thread gate_self __attribute__((tls_model("initial-exec"), visibility("hidden")));

__attribute__((cold)) int gate_enter_slow(void);
void gate_register(void); /* for the control thread, which counts but never enters */

#ifdef __SANITIZE_THREAD__
#include "gate_atomic.h"
#else
/* Returns 1 when the thread may go on, without having looked for anything else; else gate_enter_slow() decides. */
static inline __attribute__((always_inline)) int gate_enter_fast(void)
{
    __asm__ goto("incl %0\n\tjs %l1" ::"m"(gate_self.inside) : "memory", "cc" : sign);
    return 1;
sign:
    __attribute__((cold));
    return 0;
}

static inline __attribute__((always_inline)) void gate_leave(void)
{
    __asm__ volatile("decl %0" : "+m"(gate_self.inside)::"memory", "cc"); /* x86 stores have release order */
}

/* gate_self, found once more: after a call into a device, when a register that still held its place would have had to
 * be saved for the call, which costs more. */
#ifdef __SANITIZE_ADDRESS__ /* before GCC 14 it takes an address relative to %fs for an absolute one */
typedef struct gate_thread gate_thread_here;
static inline gate_thread_here *gate_self_anew(void)
{
    return &gate_self;
}
#else
typedef struct gate_thread __seg_fs gate_thread_here;
static inline __attribute__((always_inline)) gate_thread_here *gate_self_anew(void)
{
    uintptr_t place;
    __asm__ volatile("movq gate_self@gottpoff(%%rip), %0" : "=r"(place));
    return (gate_thread_here *)place;
}
#endif

static inline __attribute__((always_inline)) void gate_leave_anew(gate_thread_here *self)
{
    __asm__ volatile("decl %0" : "+m"(self->inside)::"memory", "cc");
}

/* As gate_leave; returns 0 when there may be something to do in gate_self.settle. */
static inline __attribute__((always_inline)) int gate_leave_fast(void)
{
    __asm__ goto("decl %0\n\tjs %l1" ::"m"(gate_self.inside) : "memory", "cc" : sign);
    return 1;
sign:
    __attribute__((cold));
    return 0;
}
#endif

/* Returns 0, with errno EOPNOTSUPP, in a forked child, where verbs are refused. */
static inline __attribute__((always_inline)) int gate_enter(void)
{
    if (__builtin_expect(gate_enter_fast(), 1))
        return 1;
    return gate_enter_slow();
}

/* Waits until each other thread has been outside once, so that none still uses what it had found before. Not from
 * inside a verb. Returns 0 or ETIMEDOUT. */
int gate_await_others(int timeout_ms);

/* Closes the gate and waits until no thread is inside; on failure opens it again and returns an errno. */
int gate_close(int timeout_ms);
void gate_open(int look);        /* look: some stash has completions */
void gate_nothing_stashed(void); /* the last completion has left the stashes */
int gate_is_closed(void);
void gate_forked(int refuse);     /* in a forked child, which has one thread; refuse: its parent has opened a device */
void gate_refresh_counters(void); /* the counters have moved */

/* Counters of the calling thread's block in shared memory; only between gate_enter and gate_leave. */
#define COUNT(field, n) (gate_self.counters->field += (n))
