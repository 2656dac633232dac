/* Memory that is locked as soon as it is mapped (mlockall(2), MCL_FUTURE), with all its pages, or each page when it is
 * touched; and a process that has only some memory locked. */
#include "smaps.h"
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PAGE = 4096, SIZE = 8 * PAGE, KINDS = 3 };
static const int kinds[KINDS] = {0, MCL_FUTURE, MCL_FUTURE | MCL_ONFAULT};

static int resident(char *at) {
  unsigned char pages[SIZE / PAGE];
  int count = 0;
  MUST(!mincore(at, SIZE, pages));
  for (int i = 0; i < SIZE / PAGE; i++) count += pages[i] & 1;
  return count;
}

static void check(int kind) {
  char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(at != MAP_FAILED);
  CHECK(has_flag(at, "lo") == (kinds[kind] != 0), "new memory of kind %d is%s locked", kind,
        has_flag(at, "lo") ? "" : " not");
  CHECK(resident(at) == (kinds[kind] == MCL_FUTURE ? SIZE / PAGE : 0), "of new memory of kind %d, %d pages are there",
        kind, resident(at));
  MUST(!munmap(at, SIZE));
}

static void locker(int kind, int hold) {
  char byte;
  feature_child();
  MUST(!kinds[kind] || !mlockall(kinds[kind]));
  char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(at != MAP_FAILED && (kinds[kind] || !mlock(at, SIZE)));
  MUST(write(hold, "r", 1) == 1 && !fcntl(hold, F_SETFL, O_NONBLOCK));
  for (; read(hold, &byte, 1) != 0; pause_ms(3)) check(kind);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int ends[KINDS][2], status;
  pid_t children[KINDS];
  char byte;
  for (int k = 0; k < KINDS; k++) {
    MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends[k]));
    MUST((children[k] = fork()) >= 0);
    if (!children[k]) {
      for (int other = 0; other <= k; other++) close(ends[other][0]);
      locker(k, ends[k][1]);
    }
    MUST(!close(ends[k][1]) && read(ends[k][0], &byte, 1) == 1);
  }
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int k = 0; k < KINDS; k++) {
    MUST(!close(ends[k][0]));
    CHECK(waitpid(children[k], &status, 0) == children[k] && !status, "child %d ended with %#x", k, status);
  }
  return feature_pass();
}
