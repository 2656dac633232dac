/* The choice of the device beneath the virtual layer: UDCKPT_DEVICE in a job's first incarnation, the agent's word in
 * later ones. */
#pragma once
#include "verbs_device.h"

/* The real devices that the job may see, with + between their names; NULL: all. */
const char *lower_device_name(void);

/* Whether UDCKPT_DEVICE of this value, which is not "auto", is the soft fabric. */
int lower_device_is_soft(const char *wanted);

/* For a restored process, with the gate closed: soft0, or the name of a real device. Returns 0 or an errno. */
int lower_device_switch(const char *name);
