/* Ports that go down and come back, and devices that are taken away, on purpose: for tests of programs that have to
 * bear it. */
#pragma once
#include "soft_types.h"

/* What a device and its ports tell by themselves, to each open context of the device in this process. `device`: such
 * as "soft0". IBV_EVENT_PORT_ERR: the port is DOWN and carries nothing until IBV_EVENT_PORT_ACTIVE.
 * IBV_EVENT_DEVICE_FATAL: all queue pairs are in error, and there will be no other ones. LID_CHANGE, PKEY_CHANGE,
 * SM_CHANGE, CLIENT_REREGISTER and GID_CHANGE are only told. Returns how many contexts were told, or a negative errno
 * value. */
int udckpt_soft_event(const char *device, enum ibv_event_type type, unsigned port);

bool soft_port_is_down(const struct soft_context *context, unsigned port); /* from 1 */
void soft_trouble_opened(struct soft_context *context);
void soft_trouble_closed(struct soft_context *context);
