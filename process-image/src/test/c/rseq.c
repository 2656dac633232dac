/* Restartable sequences: glibc's registration lives on, so the kernel keeps the processor number up to date. */
#include "feature.h"
#include <sched.h>
#include <sys/rseq.h>

static struct rseq *area(void) {
  return (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
}

static void *worker(void *unused) {
  cpu_set_t allowed, one;
  MUST(!sched_getaffinity(0, sizeof allowed, &allowed));
  while (!feature_over)
    for (int cpu = 0; cpu < 64; cpu++) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      MUST(!sched_setaffinity(0, sizeof one, &one));
      pause_ms(1);
      CHECK(__atomic_load_n(&area()->cpu_id, __ATOMIC_RELAXED) == (uint32_t)cpu, "on processor %d rseq says %d", cpu,
            (int)area()->cpu_id);
      CHECK(sched_getcpu() == cpu, "on processor %d sched_getcpu says %d", cpu, sched_getcpu());
    }
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  CHECK(__rseq_size > 0 && (int)area()->cpu_id >= 0, "glibc has not registered rseq here: nothing can be tested");
  pthread_t threads[] = {start_thread(worker, NULL), start_thread(worker, NULL)};
  feature_ready();
  while (!feature_finishing()) {
    CHECK((int)area()->cpu_id >= 0 && area()->cpu_id == area()->cpu_id_start, "rseq of the main thread says %d",
          (int)area()->cpu_id);
    pause_ms(5);
  }
  for (int i = 0; i < 2; i++) join_thread(threads[i]);
  /* registering again must fail: it is registered */
  CHECK(syscall(SYS_rseq, area(), 32, 0, RSEQ_SIG) == -1 && errno != ENOSYS, "the kernel had lost the registration");
  return feature_pass();
}
