/* What the two sides of the gate share. */
#pragma once
#include "gate.h"
#include <pthread.h>

extern uint32_t gate_word;
extern struct gate_thread *gate_threads; /* registered threads; under gate_mutex */
extern pthread_mutex_t gate_mutex;
