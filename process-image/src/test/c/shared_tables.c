/* Processes that have one table of descriptors (clone(2), CLONE_FILES), one working directory and umask (CLONE_FS), or
 * both, with their parent: children, a grandchild, one with a second thread; and a child that has copies. What one
 * opens, locks or enters, exactly those have. kcmp(2) says the same all the time. */
#include "feature.h"
#include <linux/kcmp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { FILES, FILES_BELOW, DIRECTORY, BOTH, COPY, ALL };
static const int flags[ALL] = {CLONE_FILES, CLONE_FILES, CLONE_FS, CLONE_FILES | CLONE_FS, 0};

static struct shared {
  _Atomic int round, done[ALL], pids[ALL];
  _Atomic int descriptor;
} * shared;
static struct stat directories[2], begun;
static int locked;
static pid_t first;

static bool same(pid_t one, pid_t other, int what) {
  long result = syscall(SYS_kcmp, one, other, what, 0, 0);
  CHECK(result >= 0, "kcmp of %d and %d", one, other);
  return result == 0;
}

static mode_t mask(int round) {
  return round % 2 ? 027 : 077;
}

static void check_directory(int which, int round) {
  struct stat here;
  MUST(!stat(".", &here));
  bool shares = flags[which] & CLONE_FS;
  ino_t expected = shares ? directories[round % 2].st_ino : begun.st_ino;
  CHECK(here.st_ino == expected, "%d is in another directory in round %d", which, round);
  mode_t now = umask(shares ? mask(round) : 022);
  CHECK(now == (shares ? mask(round) : 022), "%d has the umask %o in round %d", which, now, round);
}

static void check_lock(bool own) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
  int fd = own ? locked : open(scratch("locked"), O_RDWR | O_CLOEXEC);
  MUST(fd >= 0 && !fcntl(fd, F_GETLK, &lock));
  CHECK((lock.l_type == F_UNLCK) == own, "the lock is%s its own", own ? " not" : "");
  if (!own) MUST(!close(fd));
}

static void answer(int which, int round) {
  check_directory(which, round);
  int fd = shared->descriptor;
  uint64_t one = 1;
  if (flags[which] & CLONE_FILES) CHECK(write(fd, &one, sizeof one) == sizeof one, "%d has no %d", which, fd);
  else CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF, "%d has %d", which, fd);
  shared->done[which] = round;
}

static void *idle(void *nothing) {
  while (!feature_over) pause_ms(5);
  return nothing;
}

static pid_t begin(int which);

static void serve(int which) {
  feature_child();
  pid_t child = 0, copy = 0;
  pthread_t thread;
  if (which == FILES) child = begin(FILES_BELOW), copy = begin(COPY);
  if (which == BOTH) OK(pthread_create(&thread, NULL, idle, NULL));
  shared->pids[which] = feature_pid;
  int before = 0;
  while (!feature_finishing()) {
    int round = shared->round;
    if (round != before) answer(which, round), before = round;
    if (which == COPY) check_lock(false);
    pause_ms(1);
  }
  int status;
  if (which == BOTH) OK(pthread_join(thread, NULL));
  if (child) MUST(waitpid(child, &status, 0) == child && !status && waitpid(copy, &status, 0) == copy && !status);
  _exit(0);
}

static pid_t begin(int which) {
  pid_t pid = (pid_t)syscall(SYS_clone, (unsigned long)(flags[which] | SIGCHLD), 0, 0, 0, 0);
  MUST(pid >= 0);
  if (!pid) serve(which);
  while (!shared->pids[which]) pause_ms(1);
  return pid;
}

static void check_relations(void) {
  for (int i = 0; i < ALL; i++) {
    CHECK(same(first, shared->pids[i], KCMP_FILES) == !!(flags[i] & CLONE_FILES), "the descriptors of %d", i);
    CHECK(same(first, shared->pids[i], KCMP_FS) == !!(flags[i] & CLONE_FS), "the directory of %d", i);
    CHECK(!same(first, shared->pids[i], KCMP_VM), "the memory of %d", i);
  }
}

static bool play(int round) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), expected = 0;
  MUST(fd >= 0 && !chdir(scratch(round % 2 ? "d1" : "d0")));
  umask(mask(round));
  shared->descriptor = fd;
  shared->round = round;
  for (int i = 0; i < ALL; i++) {
    while (shared->done[i] != round) {
      if (feature_finishing()) return false;
      pause_ms(1);
    }
    expected += !!(flags[i] & CLONE_FILES);
  }
  uint64_t got = 0;
  CHECK(read(fd, &got, sizeof got) == sizeof got && got == (uint64_t)expected, "%d answers", (int)got);
  MUST(!close(fd));
  return true;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  first = feature_pid;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(shared != MAP_FAILED && !mkdir(scratch("d0"), 0755) && !mkdir(scratch("d1"), 0755));
  MUST(!stat(scratch("d0"), &directories[0]) && !stat(scratch("d1"), &directories[1]) && !stat(".", &begun));
  umask(022);
  locked = open(scratch("locked"), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5};
  MUST(locked >= 0 && !fcntl(locked, F_SETLK, &lock));
  pid_t children[] = {begin(FILES), begin(DIRECTORY), begin(BOTH)};
  int round = 1;
  MUST(play(round++));
  feature_ready();
  do {
    check_relations();
    check_lock(true);
    pause_ms(2);
  } while (play(round++) && !feature_finishing());
  feature_over = true;
  int status;
  for (int i = 0; i < 3; i++) MUST(waitpid(children[i], &status, 0) == children[i] && !status);
  return feature_pass();
}
