/* Filters of system calls: of all threads, of one thread, in their order (of two that give an error, the one that came
 * last decides), of a child that was forked with them, and strict mode. */
#include "feature.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>

enum { FIRST = 101, SECOND, OF_ONE_THREAD, OF_A_CHILD, OF_ALL };

static void forbid(int number, int error, unsigned flags) {
  struct sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog filter = {sizeof program / sizeof *program, program};
  MUST(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter));
}

/* 0: it is allowed. */
static int error_of(long number) {
  union {
    struct sysinfo info;
    struct rlimit limit;
  } room;
  errno = 0;
  return (number == SYS_sysinfo ? syscall(number, &room.info) : syscall(number, RLIMIT_CORE, &room.limit)) < 0 ? errno
                                                                                                               : 0;
}

static void check_errors(const char *who, int of_sysinfo, int of_getrlimit) {
  int info = error_of(SYS_sysinfo), limit = error_of(SYS_getrlimit);
  CHECK(info == of_sysinfo && limit == of_getrlimit, "%s: sysinfo %d, not %d; getrlimit %d, not %d", who, info,
        of_sysinfo, limit, of_getrlimit);
}

static void *with_its_own(void *unused) {
  forbid(SYS_getrlimit, OF_ONE_THREAD, 0);
  while (!feature_over) {
    check_errors("a thread with a filter of its own", SECOND, OF_ONE_THREAD);
    pause_ms(5);
  }
  return unused;
}

static _Atomic bool last;

static void *without(void *unused) {
  while (!feature_over) {
    check_errors("a thread", SECOND, 0);
    pause_ms(5);
  }
  while (!last) pause_ms(5);
  check_errors("a thread to which another has given its filters", SECOND, OF_ALL);
  return unused;
}

/* At the end, and so after a restart, a thread gives all others its filters, which works if what they have is his. */
static void *to_all(void *unused) {
  forbid(SYS_getrlimit, OF_ALL, SECCOMP_FILTER_FLAG_TSYNC);
  return unused;
}

static void check_sharing(void) {
  pthread_t giver;
  OK(pthread_create(&giver, NULL, to_all, NULL));
  OK(pthread_join(giver, NULL));
  check_errors("after a thread has given all its filters", SECOND, OF_ALL);
}

/* Each byte comes back; no call but read, write and exit is allowed. */
__attribute__((noreturn)) static void strict(int in, int out) {
  char byte;
  MUST(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
  while (read(in, &byte, 1) == 1) write(out, &byte, 1);
  syscall(SYS_exit, 0);
  abort();
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int to[2], from[2], status;
  MUST(!pipe(to) && !pipe(from));
  pid_t echo = fork();
  MUST(echo >= 0);
  if (!echo) {
    close(to[1]), close(from[0]);
    strict(to[0], from[1]);
  }
  close(to[0]), close(from[1]);
  MUST(!geteuid() || !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  forbid(SYS_sysinfo, FIRST, 0);
  forbid(SYS_sysinfo, SECOND, SECCOMP_FILTER_FLAG_LOG);
  pthread_t one, other;
  OK(pthread_create(&one, NULL, with_its_own, NULL));
  OK(pthread_create(&other, NULL, without, NULL));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    feature_child();
    forbid(SYS_getrlimit, OF_A_CHILD, 0);
    while (!feature_finishing()) {
      check_errors("a child", SECOND, OF_A_CHILD);
      pause_ms(5);
    }
    _exit(0);
  }
  feature_ready();
  for (unsigned char byte = 0, got; !feature_finishing(); byte++) {
    check_errors("the main thread", SECOND, 0);
    CHECK(write(to[1], &byte, 1) == 1 && read(from[0], &got, 1) == 1 && got == byte, "strict mode: %d for %d", got,
          byte);
    pause_ms(5);
  }
  feature_over = true;
  OK(pthread_join(one, NULL));
  check_sharing(); /* with the other thread */
  last = true;
  OK(pthread_join(other, NULL));
  MUST(!close(to[1]));
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child ended with %#x", status);
  MUST(waitpid(echo, &status, 0) == echo);
  CHECK(!status, "the process in strict mode ended with %#x", status);
  return feature_pass();
}
