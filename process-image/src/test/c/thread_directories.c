/* Threads with a working directory and umask of their own (unshare(2), CLONE_FS), beside one that has the process's; a
 * child that such a thread has made; and the process changes its own all the time. */
#include "feature.h"
#include <sched.h>
#include <sys/wait.h>

enum { THREADS = 4 };
/* the last one has what its process has */
static const char *const names[THREADS] = {"one", "two", ".", NULL};
static const mode_t masks[THREADS] = {077, 0, 022, 022};

static struct stat places[THREADS + 1];
static _Atomic int begun, child;

static void check(const struct stat *place, const char *who) {
  struct stat here;
  MUST(!stat(".", &here));
  CHECK(here.st_ino == place->st_ino && here.st_dev == place->st_dev, "%s is in another directory", who);
}

/* By a file: only its maker's mask decides about it. */
static void check_mask(int which, mode_t mask) {
  char name[32];
  struct stat made;
  snprintf(name, sizeof name, "made-%d", which);
  MUST(!unlink(name) || errno == ENOENT); /* made behind the checkpoint, before the job was killed */
  int fd = openat(AT_FDCWD, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  CHECK(fd >= 0 && !fstat(fd, &made), "%s of thread %d", name, which);
  CHECK((made.st_mode & 0777) == (0666 & ~mask), "thread %d makes files of mode %o", which, made.st_mode & 0777);
  MUST(!close(fd));
  MUST(!unlink(name) || errno == ENOENT); /* closed at the checkpoint, it is not in the image */
}

static void serve_child(const struct stat *place) {
  feature_child();
  while (!feature_finishing()) check(place, "the child"), pause_ms(3);
  _exit(0);
}

static void *work(void *argument) {
  int which = (int)(intptr_t)argument;
  bool own = names[which];
  char who[20];
  snprintf(who, sizeof who, "thread %d", which);
  if (own) {
    MUST(!unshare(CLONE_FS) && !chdir(names[which]));
    umask(masks[which]);
    MUST(!stat(".", &places[which]));
  }
  if (which == 0) {
    pid_t pid = fork();
    MUST(pid >= 0);
    if (!pid) serve_child(&places[0]);
    child = pid;
  }
  begun++;
  while (!feature_over) {
    if (own) check(&places[which], who), check_mask(which, masks[which]);
    pause_ms(2);
  }
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!chdir(feature_scratch) && !mkdir("one", 0700) && !mkdir("two", 0700) && !mkdir("three", 0700));
  umask(022);
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) OK(pthread_create(&threads[i], NULL, work, (void *)i));
  while (begun < THREADS) pause_ms(1);
  MUST(!chdir("three"));
  umask(027);
  MUST(!stat(".", &places[THREADS]));
  feature_ready();
  while (!feature_finishing()) check(&places[THREADS], "the process"), check_mask(THREADS, 027), pause_ms(2);
  int status;
  for (int i = 0; i < THREADS; i++) OK(pthread_join(threads[i], NULL));
  MUST(waitpid(child, &status, 0) == child && !status);
  return feature_pass();
}
