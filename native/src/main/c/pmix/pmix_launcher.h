/*
 * udckpt-pmix LAYOUT PROGRAM [ARG...]: starts the ranks of one unit of a job and is their PMIx server
 * (docs/user/running.md, Open MPI). To the agent it is one rank of PMI-1: PMI_FD is its connection, PMI_RANK the first
 * of its ranks. All other processes of the kind are reached by PMI-1 alone. */
#pragma once
#include <pmix_common.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The hosts of the job, as HostLayout (Java) writes them: "a:2,b:2". */
struct unit {
  char *name;
  int first, count; /* ranks */
};
struct layout {
  struct unit *units;
  int count, ranks;
  const struct unit *own; /* this launcher's */
};
void layout_parse(struct layout *layout, const char *text, int first_rank);
char *layout_names(const struct layout *layout); /* "a,b" */
char *layout_ranks(const struct layout *layout); /* "0,1;2,3" */
char *unit_ranks(const struct unit *unit);       /* "2,3" */

/* Says what failed and ends this process; the agent then ends the job. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/* PMI-1, as a client. One thread at a time may ask; pmi1_abort may come from any. */
void pmi1_open(void);
const char *pmi1_space(void); /* name of the job's key-value space: the same in all units and incarnations */
size_t pmi1_value_most(void); /* characters that a value can have */
void pmi1_put(const char *key, const char *value);
/* it will be got soon: the agent asks for all of these with the next one that it has to ask for */
void pmi1_expect(const char *key);
void pmi1_get(const char *key, char *value); /* pmi1_value_most() + 1 bytes */
void pmi1_barrier(void);
void pmi1_finalize(void);
void pmi1_abort(int rank, int code); /* the agent ends the job, this process with it */

/* A fence of all ranks of the job. The data are copied. */
void fence_start(const struct layout *layout);
void fence_enter(bool collects, const char *data, size_t size, pmix_modex_cbfunc_t answer, void *answer_data);

/* The PMIx server, and the ranks' environment by which they find it: malloc'ed, NULL at its end. */
void server_open(const struct layout *layout);
char **server_environment(int rank, char **base);
void server_close(void);

/* The unit's ranks. The words that PMIx brings about them come from its own thread. */
/* of signals that they begin with */
void ranks_start(const struct layout *layout, char **command, const sigset_t *mask);
int ranks_await(void); /* their exit codes, or'ed; a rank that takes the others with it aborts the job */
void rank_connected(int rank);
void rank_finalized(int rank);
