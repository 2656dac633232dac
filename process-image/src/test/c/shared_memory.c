/* POSIX shared memory between a parent and its forked child: locks, condition variables and data in it. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { SOMEBODY = 33 };

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  uint64_t turn, stop;
  unsigned char bulk[100000];
} Shared;

/* Even turns are the parent's, odd ones the child's; each turn rewrites the whole area. */
static void take_turn(Shared *shared, uint64_t parity) {
  OK(pthread_mutex_lock(&shared->lock));
  while (shared->turn % 2 != parity && !shared->stop) OK(pthread_cond_wait(&shared->changed, &shared->lock));
  if (shared->turn % 2 == parity) {
    check_pattern(shared->bulk, sizeof shared->bulk, shared->turn, "shared area");
    fill_pattern(shared->bulk, sizeof shared->bulk, ++shared->turn);
    OK(pthread_cond_signal(&shared->changed));
  }
  OK(pthread_mutex_unlock(&shared->lock));
}

static Shared *make(char *name) {
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(fd >= 0, "shm_open(%s)", name);
  MUST(!ftruncate(fd, sizeof(Shared)) && (geteuid() || !fchown(fd, SOMEBODY, SOMEBODY)));
  Shared *shared = mmap(NULL, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  MUST(shared != MAP_FAILED && !close(fd));
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  OK(pthread_mutexattr_init(&mutex));
  OK(pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED));
  OK(pthread_mutex_init(&shared->lock, &mutex));
  OK(pthread_condattr_init(&condition));
  OK(pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED));
  OK(pthread_cond_init(&shared->changed, &condition));
  fill_pattern(shared->bulk, sizeof shared->bulk, 0);
  return shared;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char name[64], gone[64];
  snprintf(name, sizeof name, "/udckpt-feature-%d", getpid());
  snprintf(gone, sizeof gone, "/udckpt-feature-gone-%d", getpid());
  Shared *named = make(name), *unlinked = make(gone);
  MUST(!shm_unlink(gone)); /* as MPI libraries do: the segment lives by its mappings alone */
  pid_t child = fork();
  if (!child) {
    feature_child();
    while (!named->stop) take_turn(named, 1), take_turn(unlinked, 1);
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) take_turn(named, 0), take_turn(unlinked, 0), pause_ms(1);
  Shared *both[] = {named, unlinked};
  for (int i = 0; i < 2; i++) {
    OK(pthread_mutex_lock(&both[i]->lock));
    both[i]->stop = 1;
    OK(pthread_cond_broadcast(&both[i]->changed));
    OK(pthread_mutex_unlock(&both[i]->lock));
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  CHECK(named->turn > 2 && unlinked->turn > 2, "%lu and %lu turns", named->turn, unlinked->turn);
  int again = shm_open(name, O_RDWR, 0);
  CHECK(again >= 0, "the named segment cannot be opened any more");
  struct stat file;
  MUST(!fstat(again, &file));
  CHECK(geteuid() || (file.st_uid == SOMEBODY && file.st_gid == SOMEBODY),
        "the named segment belongs to user %d, group %d", file.st_uid, file.st_gid);
  Shared *view = mmap(NULL, sizeof(Shared), PROT_READ, MAP_SHARED, again, 0);
  MUST(view != MAP_FAILED);
  CHECK(view->turn == named->turn, "the name leads to another segment");
  MUST(!shm_unlink(name));
  return feature_pass();
}
