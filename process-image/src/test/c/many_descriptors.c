/* A tree whose processes have the same thousand open files each, under numbers of their own. */
#include "feature.h"
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { CHILDREN = 6, FILES = 480, HIGH = 2000 };

static int own[FILES][2], counters[FILES];

/* Data written to one end comes out of the other end, and not of another file. */
static void check_files(int process) {
  for (int i = process; i < FILES; i += CHILDREN + 1) {
    uint64_t value = i + 1, got = 0;
    CHECK(write(own[i][1], &value, sizeof value) == sizeof value && read(own[i][0], &got, sizeof got) == sizeof got &&
              got == value,
          "pipe %d gives %llu", i, (unsigned long long)got);
    CHECK(write(counters[i], &value, sizeof value) == sizeof value &&
              read(counters[i], &got, sizeof got) == sizeof got && got == value,
          "counter %d gives %llu", i, (unsigned long long)got);
  }
}

/* Other numbers than the parent's: some moved, some twice, some closed when it executes. */
static void move_files(int process) {
  for (int i = 0; i < FILES; i += 3) {
    int high = fcntl(own[i][0], F_DUPFD_CLOEXEC, HIGH + 5 * i + process);
    MUST(high >= HIGH && !close(own[i][0]));
    own[i][0] = high;
  }
}

static void check_closed_by_exec(void) {
  for (int i = 0; i < FILES; i++) {
    CHECK(fcntl(own[i][0], F_GETFD) == (i % 3 ? 0 : FD_CLOEXEC), "flags of pipe %d", i);
    CHECK(fcntl(own[i][1], F_GETFD) == 0, "flags of the other end of pipe %d", i);
  }
}

static void run(int process) {
  while (!feature_finishing()) {
    check_files(process);
    check_closed_by_exec();
    pause_ms(5);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < FILES; i++) MUST(!pipe(own[i]) && (counters[i] = eventfd(0, 0)) >= 0);
  pid_t children[CHILDREN];
  for (int i = 0; i < CHILDREN; i++) {
    MUST((children[i] = fork()) >= 0);
    if (children[i]) continue;
    feature_child();
    move_files(i + 1);
    run(i + 1);
    _exit(0);
  }
  move_files(0);
  feature_ready();
  run(0);
  for (int i = 0; i < CHILDREN; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "child %d ended with %#x", i, status);
  }
  return feature_pass();
}
