/* What every kernel-feature program shares: start, "ready", the question "shall I finish?", the verdict.
 *
 * Contract with the driver: argv[1] is a scratch directory. The program makes `ready` there (and prints it) once it
 * is set up, works and checks itself until the file `finish` appears, and then leaves PASS or FAIL REASON in `result`.
 * The first verdict of a process tree is the one that counts. */
#ifndef FEATURE_H
#define FEATURE_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

/* A clock that moves further than this between two looks of the main thread was not carried over; on a busy machine a
 * stop or a restore may take many seconds. */
#define FEATURE_JUMP_NS 20000000000LL

static const char *feature_scratch;
static pid_t feature_pid, feature_tid;
static int64_t feature_clock;
static _Atomic bool feature_over; /* what threads look at */

static inline int64_t clock_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline int64_t now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

/* The path of NAME in the scratch directory; valid until 15 further calls in the same thread. */
static inline char *scratch(const char *name) {
  static __thread char paths[16][PATH_MAX];
  static __thread unsigned next;
  char *path = paths[next++ % 16];
  snprintf(path, PATH_MAX, "%s/%s", feature_scratch, name);
  return path;
}

__attribute__((noreturn)) static inline void feature_verdict(const char *text, int code) {
  int fd = open(scratch("result"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd >= 0) {
    dprintf(fd, "%s\n", text);
    close(fd);
  } else if (errno == EEXIST)
    code = code ? code : 1; /* another process of this program was first, and its verdict can only be a failure */
  signal(SIGPIPE, SIG_IGN);
  dprintf(1, "%s\n", text);
  _exit(code);
}

__attribute__((noreturn, format(printf, 3, 4))) static inline void feature_fail(const char *file, int line,
                                                                                const char *format, ...) {
  int error = errno;
  char reason[600], text[900];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  const char *slash = strrchr(file, '/');
  snprintf(text, sizeof text, "FAIL %s (%s:%d, pid %d, tid %ld, errno %d %s)", reason, slash ? slash + 1 : file, line,
           getpid(), syscall(SYS_gettid), error, strerror(error));
  feature_verdict(text, 1);
}

#define FAIL(...) feature_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition, ...) \
  do { \
    if (!(condition)) FAIL(__VA_ARGS__); \
  } while (0)
/* For set-up calls, where the text of the call says it all. */
#define MUST(condition) \
  do { \
    errno = 0; \
    if (!(condition)) FAIL("%s", #condition); \
  } while (0)
/* For pthread_* calls, which return their error. */
#define OK(call) \
  do { \
    int must_error = (call); \
    if (must_error) { \
      errno = must_error; \
      FAIL("%s", #call); \
    } \
  } while (0)

static inline int feature_pass(void) {
  feature_verdict("PASS", 0);
}

static inline void feature_start(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s SCRATCH-DIRECTORY\n", argv[0]);
    exit(64);
  }
  feature_scratch = argv[1];
  feature_pid = getpid();
  feature_tid = (pid_t)syscall(SYS_gettid);
  feature_clock = now_ns();
}

static inline void feature_ready(void) {
  int fd = open(scratch("ready"), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  CHECK(fd >= 0, "cannot write %s", scratch("ready"));
  close(fd);
  dprintf(1, "ready\n");
}

/* Called by the main thread of each process, often: checks what must never change, and says whether to finish. */
static inline bool feature_finishing(void) {
  CHECK(getpid() == feature_pid, "pid %d became %d", feature_pid, getpid());
  CHECK(syscall(SYS_gettid) == feature_tid, "tid %d became %ld", feature_tid, syscall(SYS_gettid));
  int64_t now = now_ns();
  CHECK(now >= feature_clock, "CLOCK_MONOTONIC went back by %lld ns", (long long)(feature_clock - now));
  CHECK(now - feature_clock < FEATURE_JUMP_NS, "CLOCK_MONOTONIC jumped by %lld ns", (long long)(now - feature_clock));
  feature_clock = now;
  if (access(scratch("finish"), F_OK)) return false;
  feature_over = true;
  return true;
}

/* After fork, in the child: it has an identity of its own. */
static inline void feature_child(void) {
  feature_pid = getpid();
  feature_tid = (pid_t)syscall(SYS_gettid);
  feature_clock = now_ns();
}

/* Sleeps; a signal that the program handles does not shorten it. */
static inline void pause_ms(int milliseconds) {
  struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  while (nanosleep(&rest, &rest)) CHECK(errno == EINTR, "nanosleep");
}

typedef struct {
  pid_t pid, tid;
  pthread_t self;
} Identity;

static inline Identity identity(void) {
  return (Identity){getpid(), (pid_t)syscall(SYS_gettid), pthread_self()};
}

static inline void check_identity(const Identity *then) {
  CHECK(getpid() == then->pid, "pid %d became %d", then->pid, getpid());
  CHECK(syscall(SYS_gettid) == then->tid, "tid %d became %ld", then->tid, syscall(SYS_gettid));
  CHECK(pthread_equal(pthread_self(), then->self), "pthread_self changed");
}

static inline pthread_t start_thread(void *(*body)(void *), void *argument) {
  pthread_t thread;
  OK(pthread_create(&thread, NULL, body, argument));
  return thread;
}

static inline void join_thread(pthread_t thread) {
  OK(pthread_join(thread, NULL));
}

/* Reproducible bytes: the same seed gives the same sequence before and after a restore. */
static inline uint64_t next_random(uint64_t *state) {
  uint64_t x = *state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return *state = x;
}

static inline void fill_pattern(void *memory, size_t bytes, uint64_t seed) {
  unsigned char *p = memory;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < bytes; i++) p[i] = (unsigned char)(next_random(&state) >> 24);
}

static inline void check_pattern(const void *memory, size_t bytes, uint64_t seed, const char *what) {
  const unsigned char *p = memory;
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (size_t i = 0; i < bytes; i++) {
    unsigned char want = (unsigned char)(next_random(&state) >> 24);
    CHECK(p[i] == want, "%s: byte %zu of %zu is %02x, not %02x", what, i, bytes, p[i], want);
  }
}

static inline int open_scratch(const char *name, int flags) {
  int fd = open(scratch(name), flags, 0644);
  CHECK(fd >= 0, "open %s", scratch(name));
  return fd;
}

/* O_LARGEFILE is what the kernel adds on its own; the rest of the status flags must stay. */
static inline void check_flags(int fd, int status, int descriptor, const char *what) {
  int got = fcntl(fd, F_GETFL), gotfd = fcntl(fd, F_GETFD);
  CHECK(got >= 0 && gotfd >= 0, "%s: descriptor %d is gone", what, fd);
  CHECK((got & ~0100000) == (status & ~0100000), "%s: status flags of %d were %#o, are %#o", what, fd, status, got);
  CHECK(gotfd == descriptor, "%s: descriptor flags of %d were %d, are %d", what, fd, descriptor, gotfd);
}
#endif
