/* Which counters of a source's tags have been seen: the last ones, by bits (as RFC 4303, 3.4.3 and appendix A2). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct soft_replay;

/* Notes a counter of a source, whose tag was right, in *replay, which is made when it is first needed. Returns false
 * if it has been seen, is too far behind the latest one to tell, or there is no memory for a source that is new. */
bool soft_replay_is_new(struct soft_replay **replay, uint64_t source, uint64_t counter);
void soft_replay_free(struct soft_replay *replay);
