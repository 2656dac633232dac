/* The rank's counters in shared memory: one block a thread, read by anyone from outside. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>

/* Maps DIRECTORY/counters for this rank; a process without a rank (-1) counts in private memory. */
int counters_map(const char *directory, int rank, char *error, size_t size);
int counters_range(struct udckpt_owned_range *range);

/* A block for the calling thread; under the gate's mutex. */
struct udckpt_counter_block *counters_claim(int *slot, int *shared);
void counters_release(int slot);
void counters_forked(void); /* the child's one thread has no block yet */

/* The block of a slot: it moves when a restart maps a counters file of another size. */
struct udckpt_counter_block *counters_block(int slot);
