/* The ports of a device. Each has a LID, hence an address, of its own (soft_config.h). */
#pragma once
#include "soft_types.h"

/* Brings a queue pair that does not receive yet to a port of its device, from 1 on. Returns 0 or an errno value. */
int soft_port_move(struct soft_qp *qp, uint8_t port);
