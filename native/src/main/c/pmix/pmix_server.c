/* The PMIx server of the unit's ranks, by libpmix: what it is told of the job, and what it asks of its host, which is
 * this program. */
#include <pmix.h>
#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix_launcher.h"

static const struct layout *layout;
static pmix_nspace_t job;

static void require(pmix_status_t status, const char *what) {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) die("%s: %s", what, PMIx_Error_string(status));
}

static pmix_status_t connected(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *done_data) {
  rank_connected((int)proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done, void *done_data) {
  rank_finalized((int)proc->rank);
  return PMIX_OPERATION_SUCCEEDED;
}

/* MPI_Abort, whichever communicator it names. */
static pmix_status_t aborted(const pmix_proc_t *proc, void *object, int status, const char message[],
                             pmix_proc_t procs[], size_t count, pmix_op_cbfunc_t done, void *done_data) {
  pmi1_abort((int)proc->rank, status);
  rank_finalized((int)proc->rank); /* how it ends has been said */
  return PMIX_OPERATION_SUCCEEDED;
}

/* PMI-1's barrier is of all ranks. (Fences among the ranks of one unit libpmix does itself.) */
static bool of_all(const pmix_proc_t procs[], size_t count) {
  return count == (size_t)layout->ranks || (count == 1 && procs[0].rank == PMIX_RANK_WILDCARD);
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t count, const pmix_info_t info[], size_t infos, char *data,
                           size_t size, pmix_modex_cbfunc_t done, void *done_data) {
  bool collects = false;
  for (size_t i = 0; i < infos; i++)
    if (PMIX_CHECK_KEY(&info[i], PMIX_COLLECT_DATA)) collects = PMIX_INFO_TRUE(&info[i]);
  if (!of_all(procs, count)) {
    fprintf(stderr,
            "udckpt-pmix: a PMIx fence over some of the ranks on several hosts is not supported: only over all\n");
    return PMIX_ERR_NOT_SUPPORTED;
  }
  fence_enter(collects, data, size, done, done_data);
  return PMIX_SUCCESS;
}

/* What another unit's rank has put is here after the fence that collects it; what is not here then it has not put. */
static pmix_status_t not_put(const pmix_proc_t *proc, const pmix_info_t info[], size_t infos, pmix_modex_cbfunc_t done,
                             void *done_data) {
  return PMIX_ERR_NOT_FOUND;
}

static pmix_server_module_t host = {.client_connected = connected,
                                    .client_finalized = finalized,
                                    .abort = aborted,
                                    .fence_nb = fence,
                                    .direct_modex = not_put};

static void *list(void) {
  void *list = PMIx_Info_list_start();
  if (!list) die("out of memory");
  return list;
}

static void add(void *list, const char *key, const void *value, pmix_data_type_t type) {
  require(PMIx_Info_list_add(list, key, value, type), key);
}
static void add_number(void *list, const char *key, int number) {
  add(list, key, &(uint32_t){(uint32_t)number}, PMIX_UINT32);
}
static void add_rank(void *list, const char *key, int rank) {
  add(list, key, &(pmix_rank_t){(pmix_rank_t)rank}, PMIX_PROC_RANK);
}

static pmix_data_array_t array_of(void *list, const char *what) {
  pmix_data_array_t array;
  require(PMIx_Info_list_convert(list, &array), what);
  PMIx_Info_list_release(list);
  return array;
}

static void add_array(void *list, const char *key, pmix_data_array_t array) {
  add(list, key, &array, PMIX_DATA_ARRAY);
  PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static void add_compressed(void *list, const char *key, char *text, pmix_status_t (*compress)(const char *, char **)) {
  char *regex;
  require(compress(text, &regex), key);
  add(list, key, regex, PMIX_REGEX);
  free(regex);
  free(text);
}

static pmix_data_array_t about_rank(int unit, int rank) {
  const struct unit *on = &layout->units[unit];
  uint16_t place = (uint16_t)(rank - on->first);
  void *about = list();
  add_rank(about, PMIX_RANK, rank); /* must be the first */
  add_number(about, PMIX_APPNUM, 0);
  add_rank(about, PMIX_GLOBAL_RANK, rank);
  add_rank(about, PMIX_APP_RANK, rank);
  add(about, PMIX_LOCAL_RANK, &place, PMIX_UINT16);
  add(about, PMIX_NODE_RANK, &place, PMIX_UINT16);
  add_number(about, PMIX_NODEID, unit);
  add(about, PMIX_HOSTNAME, on->name, PMIX_STRING);
  return array_of(about, "the data of a rank");
}

/* What the ranks may ask of their job (PMIx standard, Job-level information); Open MPI 4's ess/pmi wants most of it. */
static pmix_data_array_t about_job(void) {
  const struct unit *own = layout->own;
  void *about = list();
  add(about, PMIX_JOBID, job, PMIX_STRING);
  add(about, PMIX_SPAWNED, &(bool){false}, PMIX_BOOL);
  add_number(about, PMIX_UNIV_SIZE, layout->ranks);
  add_number(about, PMIX_JOB_SIZE, layout->ranks);
  add_number(about, PMIX_MAX_PROCS, layout->ranks);
  add_number(about, PMIX_JOB_NUM_APPS, 1);
  add_number(about, PMIX_NUM_NODES, layout->count);
  add_number(about, PMIX_LOCAL_SIZE, own->count);
  add_number(about, PMIX_NODE_SIZE, own->count);
  add_number(about, PMIX_NODEID, (int)(own - layout->units));
  add_rank(about, PMIX_LOCALLDR, own->first);
  char *peers = unit_ranks(own);
  add(about, PMIX_LOCAL_PEERS, peers, PMIX_STRING);
  free(peers);
  add_compressed(about, PMIX_NODE_MAP, layout_names(layout), PMIx_generate_regex);
  add_compressed(about, PMIX_PROC_MAP, layout_ranks(layout), PMIx_generate_ppn);
  for (int unit = 0; unit < layout->count; unit++)
    for (int rank = layout->units[unit].first; rank < layout->units[unit].first + layout->units[unit].count; rank++)
      add_array(about, PMIX_PROC_INFO_ARRAY, about_rank(unit, rank));
  return array_of(about, "the data of the job");
}

static void open_library(void) {
  void *about = list();
  /* as the ranks shall see it, also where two units are on one host */
  add(about, PMIX_HOSTNAME, layout->own->name, PMIX_STRING);
  pmix_data_array_t info = array_of(about, "the data of the server");
  require(PMIx_server_init(&host, info.array, info.size), "PMIx_server_init");
  PMIX_DATA_ARRAY_DESTRUCT(&info);
}

void server_open(const struct layout *of) {
  layout = of;
  PMIX_LOAD_NSPACE(job, pmi1_space());
  open_library();
  pmix_data_array_t info = about_job();
  require(PMIx_server_register_nspace(job, layout->own->count, info.array, info.size, NULL, NULL),
          "PMIx_server_register_nspace");
  PMIX_DATA_ARRAY_DESTRUCT(&info);
  for (int rank = layout->own->first; rank < layout->own->first + layout->own->count; rank++) {
    pmix_proc_t proc;
    PMIX_LOAD_PROCID(&proc, job, rank);
    require(PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL), "PMIx_server_register_client");
  }
}

char **server_environment(int rank, char **base) {
  size_t count = 0;
  while (base[count]) count++;
  char **copy = calloc(count + 1, sizeof *copy);
  for (size_t i = 0; copy && i < count; i++)
    if (!(copy[i] = strdup(base[i]))) die("out of memory");
  if (!copy) die("out of memory");
  pmix_proc_t proc;
  PMIX_LOAD_PROCID(&proc, job, rank);
  require(PMIx_server_setup_fork(&proc, &copy), "PMIx_server_setup_fork");
  return copy;
}

void server_close(void) {
  require(PMIx_server_finalize(), "PMIx_server_finalize");
}
