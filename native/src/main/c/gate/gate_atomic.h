/* The three instructions of gate.h in C, for ThreadSanitizer, which does not see into assembly and would
 * take what the gate orders for a race. Included by gate.h only. */
#pragma once

static inline int gate_enter_fast(void)
{
    return !(__atomic_add_fetch(&gate_self.inside, 1, __ATOMIC_SEQ_CST) & GATE_SIGN);
}

static inline int gate_leave_fast(void)
{
    return !(__atomic_sub_fetch(&gate_self.inside, 1, __ATOMIC_SEQ_CST) & GATE_SIGN);
}

typedef struct gate_thread gate_thread_here;

static inline gate_thread_here *gate_self_anew(void)
{
    return &gate_self;
}

static inline void gate_leave_anew(gate_thread_here *self)
{
    (void)__atomic_sub_fetch(&self->inside, 1, __ATOMIC_SEQ_CST);
}

static inline void gate_leave(void)
{
    (void)gate_leave_fast();
}
