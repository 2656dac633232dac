/* What the session asks of reliable connections. All with the gate closed. */
#pragma once
#include <stddef.h>

/* Ends what is under way between connected queue pairs, so that sender and receiver agree on what was delivered;
 * requests that were not begun, or for which the peer has no receive, wait. Returns 0, or ETIMEDOUT after a line that
 * names the queue pair. *waiting: requests that wait. Peers go on being answered. */
int rc_settle(int timeout_ms, unsigned *waiting);

/* In a restored process, when all ranks are rebuilt: connects again. Returns 0, or -1 with a text. */
int rc_connect_all(char *error, size_t size);
