/* A PMI relay's state, shared by the relay and by the answers of last resort. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

enum { RELAY_BUFFER = 16384, RELAY_LINE = 8192 };

struct stream { /* bytes on their way to one descriptor */
  char bytes[RELAY_BUFFER];
  size_t used;
};

struct relay {
  bool used;
  int rank;
  int rank_fd;  /* our end of the rank's socket pair */
  int spare_fd; /* the rank's end, until the rank has it; -1 then */
  int agent_fd; /* pmi.sock; -1 when the agent is gone */
  struct stream to_rank;
  struct stream to_agent; /* alone: requests that wait for room for their answers */
  char line[RELAY_LINE];  /* the request that the rank is writing */
  size_t line_used;
  char pending[RELAY_LINE]; /* its last request, until an answer's first byte: "" when none */
  bool in_barrier;          /* served alone: waits for the others */
};

void relay_say(struct relay *relay, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct relay *relay_at(int index); /* NULL past the end; may be unused */
