/* Robust mutexes: the kernel still knows each thread's list, so an owner's death is told to the next one. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

typedef struct {
  pthread_mutex_t by_process, by_thread;
  _Atomic bool locked, die;
} Shared;

static Shared *shared;

static void make(pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  OK(pthread_mutexattr_init(&attributes));
  OK(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
  OK(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
  OK(pthread_mutex_init(mutex, &attributes));
}

static void *thread_owner(void *unused) {
  OK(pthread_mutex_lock(&shared->by_thread));
  *(_Atomic bool *)unused = true;
  while (!feature_over) pause_ms(5);
  return NULL; /* dies as the owner */
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(shared != MAP_FAILED);
  make(&shared->by_process), make(&shared->by_thread);
  pid_t child = fork();
  if (!child) {
    OK(pthread_mutex_lock(&shared->by_process));
    shared->locked = true;
    while (!shared->die) pause_ms(5);
    _exit(0); /* dies as the owner */
  }
  _Atomic bool held = false;
  pthread_t thread = start_thread(thread_owner, (void *)&held);
  while (!shared->locked || !held) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(pthread_mutex_trylock(&shared->by_process) == EBUSY, "the child's mutex is free");
    CHECK(pthread_mutex_trylock(&shared->by_thread) == EBUSY, "the thread's mutex is free");
    pause_ms(5);
  }
  shared->die = true;
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  join_thread(thread);
  pthread_mutex_t *both[] = {&shared->by_process, &shared->by_thread};
  for (int i = 0; i < 2; i++) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 4;
    int error = pthread_mutex_timedlock(both[i], &limit);
    CHECK(error == EOWNERDEAD, "the death of owner %d was not told: %s", i, strerror(error));
    OK(pthread_mutex_consistent(both[i]));
    OK(pthread_mutex_unlock(both[i]));
  }
  return feature_pass();
}
