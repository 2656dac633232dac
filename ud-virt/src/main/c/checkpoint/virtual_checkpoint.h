/* What the control thread asks of the virtual device. All but the first two only with the gate closed. */
#pragma once
#include "udckpt_layout.h"
#include <stddef.h>

int virtual_is_wanted(void); /* 0: the job talks to the bare device (UDCKPT_VIRTUALIZE=0), and cannot be checkpointed */
int virtual_has_devices(void);

/* Descriptors that the open devices hold; returns how many there are, writes at most max. */
int virtual_owned_fds(int *fds, int max);
/* Mappings that the open devices hold; at most max are written. Returns how many there are; -1: more than max, or
 * unknown. */
int virtual_owned_ranges(struct udckpt_owned_range *ranges, int max);

/* Waits for the sends' completions and moves every arrived completion to the virtual queues. Returns 0 or an errno. */
int virtual_drain(int timeout_ms, unsigned *moved);

/* Moves what has completed to the virtual queues. Returns 0 or ENOMEM. */
int virtual_take_completions(unsigned *moved);

/* Before the gate opens: the device's descriptors are waited for again, and who slept on a queue is woken.
 * Returns 1 when completions are stashed, which the gate has to know. */
int virtual_resume(void);

/* In a restored process: every object anew, on the device that the message names. Returns 0, or -1 with a text. */
int virtual_rebuild(const struct udckpt_msg_rebuild *order, char *error, size_t size);
