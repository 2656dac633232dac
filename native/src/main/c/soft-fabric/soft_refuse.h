/* Datagrams and packets that are dropped, since their source is forged or is no process of the job: counted,
 * and said once. */
#pragma once
#include "soft_types.h"

__attribute__((cold, noinline)) void soft_refused(struct soft_qp *qp, enum soft_refusal why, uint16_t lid,
                                                  uint32_t qpn);
/* One of which only a part came through the filter (soft_filter.h). */
__attribute__((cold, noinline)) void soft_refused_part(struct soft_qp *qp);
const char *soft_refusal_text(enum soft_refusal why);
