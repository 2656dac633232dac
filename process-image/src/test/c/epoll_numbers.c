/* epoll: entries whose number was closed, or is another file's by now, live on with a duplicate (epoll(7), Q6): several
 * of one number, of which the last, the first, or none stays open; with the duplicate in another process only. */
#include "feature.h"
#include <sys/epoll.h>
#include <sys/wait.h>

enum { NUMBER = 350, ENTRIES = 7, ELSEWHERE = ENTRIES };

/* The last of the first number stays open, that of the second is closed, the third becomes another file. */
static const int numbers[ENTRIES] = {NUMBER, NUMBER, NUMBER, NUMBER + 1, NUMBER + 1, NUMBER + 2, NUMBER + 2};
static int ends[ENTRIES][2];

static int set;

static void watch(int fd, int number, uint64_t word) {
  struct epoll_event event = {.events = EPOLLIN, .data.u64 = word};
  MUST(dup2(fd, number) == number);
  CHECK(!epoll_ctl(set, EPOLL_CTL_ADD, number, &event), "entry %lu: epoll_ctl", word);
}

/* Each entry tells of its own file, and of no other. */
static void look(int from, uint64_t word) {
  struct epoll_event events[ENTRIES + 2];
  char byte = 1;
  int count = epoll_wait(set, events, ENTRIES + 2, 0);
  CHECK(count == 0, "%d entries are ready before entry %lu is", count, word);
  MUST(write(from, &byte, 1) == 1);
  count = epoll_wait(set, events, ENTRIES + 2, -1);
  CHECK(count == 1 && events[0].data.u64 == word, "entry %lu: %d are ready, the first is %lu", word, count,
        events[0].data.u64);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST((set = epoll_create1(0)) >= 0);
  for (int i = 0; i < ENTRIES; i++) {
    MUST(!pipe(ends[i]));
    watch(ends[i][0], numbers[i], i);
  }
  MUST(!close(NUMBER + 1) && dup2(1, NUMBER + 2) == NUMBER + 2);
  /* What the child alone has open, at a number that it did not add. */
  int elsewhere[2], asked[2], done[2];
  MUST(!pipe(elsewhere) && !pipe(asked) && !pipe(done));
  watch(elsewhere[0], NUMBER + 3, ELSEWHERE);
  fflush(NULL);
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    char byte;
    feature_child();
    MUST(!close(asked[1]) && !close(NUMBER + 3));
    while (read(asked[0], &byte, 1) == 1) {
      MUST(read(elsewhere[0], &byte, 1) == 1);
      MUST(write(done[1], &byte, 1) == 1);
    }
    _exit(0);
  }
  MUST(!close(NUMBER + 3) && !close(elsewhere[0]) && !close(asked[0]) && !close(done[1]));
  feature_ready();
  char byte = 0;
  do {
    for (int i = 0; i < ENTRIES; i++) {
      look(ends[i][1], i);
      MUST(read(ends[i][0], &byte, 1) == 1);
    }
    look(elsewhere[1], ELSEWHERE);
    MUST(write(asked[1], &byte, 1) == 1 && read(done[0], &byte, 1) == 1);
    pause_ms(3);
  } while (!feature_finishing());
  CHECK(fcntl(NUMBER, F_GETFD) == 0 && fcntl(NUMBER + 1, F_GETFD) < 0 && fcntl(NUMBER + 2, F_GETFD) == 0,
        "numbers are open or closed that were not so");
  MUST(!close(asked[1]) && waitpid(child, NULL, 0) == child);
  return feature_pass();
}
