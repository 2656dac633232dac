/*
 * PMI-1 without the agent (MPICH src/pmi, "wire protocol" of simple_pmi.c): enough for a job that runs to come to its
 * end. Barriers and finalize work, abort ends the job. A rank that puts or looks up is still in MPI_Init, which only
 * an agent can bring to its end: some of its peers would wait for it for ever, so the job ends at once. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "shepherd.h"
#include "shepherd_relay.h"

static bool is(const char *line, const char *name) {
  size_t length = strlen(name);
  return strncmp(line, "cmd=", 4) == 0 && strncmp(line + 4, name, length) == 0 &&
         (line[4 + length] == ' ' || line[4 + length] == 0);
}

/* All ranks that still have a PMI connection are in: let them out. */
void alone_check_barrier(void) {
  int in = 0;
  for (int i = 0; relay_at(i); i++) {
    struct relay *relay = relay_at(i);
    if (!relay->used) continue;
    if (!relay->in_barrier) return;
    in++;
  }
  for (int i = 0; in && relay_at(i); i++) {
    struct relay *relay = relay_at(i);
    if (!relay->used) continue;
    relay->in_barrier = false;
    relay_say(relay, "cmd=barrier_out\n");
  }
}

static void abort_job(struct relay *relay, const char *line) {
  const char *text = strstr(line, "exitcode=");
  int code = text ? atoi(text + 9) : 1;
  fprintf(stderr, "udckpt: the agent of this job is gone, and rank %d aborted the job with code %d\n", relay->rank,
          code);
  job_set_code(code ? code & 0xff : 1);
  children_kill_roots();
}

static void end_of_start(struct relay *relay) {
  fprintf(stderr, "udckpt: the agent of this job is gone while rank %d is in MPI_Init, which needs it: the job ends\n",
          relay->rank);
  job_set_code(1);
  children_kill_roots();
}

void alone_answer(struct relay *relay, const char *line) {
  if (is(line, "barrier_in")) {
    relay->in_barrier = true;
    alone_check_barrier();
  } else if (is(line, "finalize")) {
    relay_say(relay, "cmd=finalize_ack\n");
  } else if (is(line, "abort")) {
    abort_job(relay, line);
  } else if (is(line, "init") || is(line, "get_maxes") || is(line, "get_appnum") || is(line, "get_my_kvsname") ||
             is(line, "put") || is(line, "get") || is(line, "getbyidx")) {
    end_of_start(relay);
  } else if (is(line, "get_universe_size")) {
    relay_say(relay, "cmd=universe_size size=-1\n");
  } else if (is(line, "publish_name") || is(line, "unpublish_name") || is(line, "lookup_name")) {
    relay_say(relay, "cmd=%.*s rc=-1 msg=the_agent_is_gone\n", (int)strcspn(line + 4, "_"), line + 4);
  } else if (strncmp(line, "endcmd", 6) == 0) { /* the end of mcmd=spawn, the one request of several lines */
    relay_say(relay, "cmd=spawn_result rc=-1 msg=the_agent_is_gone\n");
  } else if (strncmp(line, "cmd=", 4) == 0) {
    relay_say(relay, "cmd=unknown rc=-1 msg=the_agent_is_gone\n");
  }
}
