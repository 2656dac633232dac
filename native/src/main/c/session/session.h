/* The session of this process with its agent: it attaches when the first device is opened, carries out the agent's
 * orders in a thread of its own, and goes on in a restored process with the agent of that incarnation. */
#pragma once
#include "udckpt_layout.h"
#include "device/verbs_device.h"

/* Read by the capture. */
extern struct udckpt_attachment udckpt_attachment;

/* Before a device is opened: connects to the agent, once; the agent's answer configures `device`. Returns 0, or -1 with
 * errno when no device may be opened. */
int session_attach(const struct verbs_device *device);
void session_attachment_is(uint32_t state);
int session_start_thread(void); /* 0 or an errno */

/* What else is to be done in a restored process once its objects are rebuilt, with the gate closed. Returns 0, or -1
 * with a text. One function; NULL: nothing. */
void session_on_rebuilt(int (*rebuilt)(char *error, size_t size));
