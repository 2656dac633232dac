#pragma once
#include <stdint.h>

/* After a restart: UCX's clock leaves out this much more wall-clock time. */
void clock_add_downtime(uint64_t nanoseconds);
