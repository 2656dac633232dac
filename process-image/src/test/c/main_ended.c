/* Processes whose main thread has ended while others run: descriptors, memory, directories, timers, identities and
 * children are the others'; the main thread's exit code stays. As rank, as child, as a child's child, as daemon. */
#include "feature.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

enum { MAIN_CODE = 7, LAST_CODE = 9, CHILDREN = 3, DAEMON };

struct shared {
  _Atomic int rounds[DAEMON + 1]; /* of the second thread of each process */
  _Atomic pid_t grandchild;
};

static struct shared *shared;
static int pair[2];
static pid_t first;
static char *memory;

/* Of the main thread: its state, and when that is Z, its exit code. */
static char state_of_main(void) {
  char path[64], text[512] = {0};
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0, "open %s", path);
  CHECK(read(fd, text, sizeof text - 1) > 0, "read %s", path);
  close(fd);
  char *name = strrchr(text, ')');
  CHECK(name, "stat: %s", text);
  int field = 3, code = -1;
  for (char *at = name + 2; *at; at++)
    if (*at == ' ' && ++field == 52) code = atoi(at + 1);
  CHECK(name[2] != 'Z' || code == MAIN_CODE << 8, "the main thread's exit code is 0x%x", code);
  return name[2];
}

static bool finishing(void) {
  return !access(scratch("finish"), F_OK);
}

static void *second(void *argument) {
  long who = (long)argument;
  while (!finishing()) {
    shared->rounds[who]++;
    pause_ms(1);
  }
  return NULL; /* the last one says how the process ends */
}

/* What the process has: all of it must be seen, and come back, by way of a thread that lives. */
struct things {
  int file, event, timer, pipes[2];
};

static void make(struct things *things, int who) {
  char name[32];
  snprintf(name, sizeof name, "file-%d", who);
  things->file = open_scratch(name, O_RDWR | O_CREAT | O_CLOEXEC);
  MUST(dprintf(things->file, "content %d", who) > 0);
  MUST((things->event = eventfd(40 + who, EFD_CLOEXEC)) >= 0);
  MUST((things->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) >= 0);
  struct itimerspec far = {.it_interval = {0, 0}, .it_value = {100000, 0}};
  MUST(timerfd_settime(things->timer, 0, &far, NULL) == 0);
  MUST(pipe2(things->pipes, O_CLOEXEC) == 0);
  MUST(write(things->pipes[1], "in the pipe", 11) == 11);
}

static void check(struct things *things, int who) {
  char text[64] = {0}, want[64];
  snprintf(want, sizeof want, "content %d", who);
  CHECK(pread(things->file, text, sizeof text - 1, 0) > 0 && !strcmp(text, want), "the file has '%s'", text);
  CHECK(lseek(things->file, 0, SEEK_CUR) == (off_t)strlen(want), "the file's offset");
  uint64_t count;
  CHECK(read(things->event, &count, sizeof count) == 8 && count == (uint64_t)(40 + who), "eventfd");
  MUST(write(things->event, &count, sizeof count) == 8);
  struct itimerspec left;
  MUST(timerfd_gettime(things->timer, &left) == 0);
  CHECK(left.it_value.tv_sec > 90000 && left.it_value.tv_sec <= 100000, "timerfd: %ld s", (long)left.it_value.tv_sec);
  CHECK(read(things->pipes[0], text, sizeof text) == 11 && !memcmp(text, "in the pipe", 11), "pipe");
  MUST(write(things->pipes[1], "in the pipe", 11) == 11);
  check_pattern(memory, 1 << 20, 5, "private memory");
}

/* The thread that works when main has ended. */
static void work(int who) {
  struct things things;
  Identity me = identity();
  make(&things, who);
  while (state_of_main() != 'Z') pause_ms(1);
  if (!who) feature_ready();
  while (!finishing()) {
    check_identity(&me);
    CHECK(state_of_main() == 'Z', "the main thread is there again: %c", state_of_main());
    check(&things, who);
    pause_ms(2);
  }
  CHECK(shared->rounds[who] > 0, "the other thread of %d has not run", who);
}

static void *child_work(void *argument) {
  pthread_t other = start_thread(second, argument);
  work((int)(long)argument);
  OK(pthread_join(other, NULL));
  /* the first child ends by its last thread's own end */
  if ((long)argument != 1) syscall(SYS_exit_group, LAST_CODE);
  syscall(SYS_exit, LAST_CODE);
  return NULL;
}

__attribute__((noreturn)) static void end_main(void) {
  syscall(SYS_exit, MAIN_CODE);
  __builtin_unreachable();
}

static pid_t make_child(int who) {
  pid_t pid = fork();
  CHECK(pid >= 0, "fork");
  if (pid) return pid;
  feature_child();
  if (who == 2) { /* a child of its own, which it waits for */
    pid_t grandchild = make_child(3);
    shared->grandchild = grandchild;
  }
  start_thread(child_work, (void *)(long)who);
  end_main();
}

/* Nobody's child. */
static void make_daemon(void) {
  int status;
  pid_t between = fork();
  CHECK(between >= 0, "fork");
  if (!between) {
    MUST(setsid() > 0);
    make_child(DAEMON);
    _exit(0);
  }
  MUST(waitpid(between, &status, 0) == between && status == 0);
}

static void *rank(void *unused) {
  pthread_t other = start_thread(second, 0);
  char byte;
  (void)unused;
  work(0);
  for (int who = 1; who < CHILDREN; who++) {
    int status;
    pid_t pid = wait(&status);
    CHECK(pid > 0, "wait");
    /* where threads end one by one, newer kernels take the last one's code, and older ones the main thread's */
    bool older = pid == first && status == MAIN_CODE << 8;
    CHECK(older || status == LAST_CODE << 8, "child %d ended with 0x%x", pid, status);
  }
  OK(pthread_join(other, NULL));
  MUST(write(pair[1], "x", 1) == 1 && read(pair[0], &byte, 1) == 1);
  feature_pass();
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(shared != MAP_FAILED);
  memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(memory != MAP_FAILED);
  fill_pattern(memory, 1 << 20, 5);
  MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  first = make_child(1);
  make_child(2);
  make_daemon();
  while (!shared->grandchild) pause_ms(1);
  start_thread(rank, NULL);
  end_main();
}
