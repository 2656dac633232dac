/* dup'ed descriptors share one offset, also across fork; separate opens do not. */
#include "feature.h"
#include <sys/wait.h>

static int word_at(int fd) {
  int value;
  CHECK(read(fd, &value, 4) == 4, "read of words");
  return value;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int made = open_scratch("words", O_WRONLY | O_CREAT | O_EXCL);
  for (int i = 0; i < 100000; i++) MUST(write(made, &i, 4) == 4);
  MUST(!close(made));
  int first = open_scratch("words", O_RDONLY), second = dup(first), third = fcntl(first, F_DUPFD_CLOEXEC, 200),
      other = open_scratch("words", O_RDONLY);
  int to_child[2], to_parent[2], twin[2];
  MUST(!pipe(to_child) && !pipe(to_parent) && !pipe(twin));
  int twin_writer = dup2(twin[1], 300);
  pid_t child = fork();
  if (!child) { /* reads the next word from the shared offset each time it is asked */
    feature_child();
    close(to_child[1]), close(to_parent[0]);
    char question;
    while (read(to_child[0], &question, 1) == 1) {
      int value = word_at(second);
      CHECK(write(to_parent[1], &value, 4) == 4, "answer");
    }
    _exit(0);
  }
  close(to_child[0]), close(to_parent[1]);
  feature_ready();
  int expected = 0, other_expected = 0, answer;
  while (!feature_finishing()) {
    if (expected > 99990) {
      MUST(lseek(third, 0, SEEK_SET) == 0);
      expected = 0;
    }
    CHECK(word_at(first) == expected++, "the first descriptor is not at word %d", expected - 1);
    CHECK(word_at(second) == expected++, "the second descriptor is not at word %d", expected - 1);
    CHECK(word_at(third) == expected++, "the third descriptor is not at word %d", expected - 1);
    MUST(write(to_child[1], "?", 1) == 1);
    CHECK(read(to_parent[0], &answer, 4) == 4 && answer == expected++, "the child read word %d, not %d", answer,
          expected - 1);
    if (other_expected > 99990) {
      MUST(lseek(other, 0, SEEK_SET) == 0);
      other_expected = 0;
    }
    CHECK(word_at(other) == other_expected++, "a separate open shares the offset");
    MUST(write(twin_writer, "x", 1) == 1);
    char byte;
    MUST(read(twin[0], &byte, 1) == 1);
    pause_ms(2);
  }
  check_flags(third, O_RDONLY, FD_CLOEXEC, "third");
  check_flags(first, O_RDONLY, 0, "first");
  MUST(fcntl(first, F_SETFL, O_NONBLOCK) == 0);
  CHECK(fcntl(second, F_GETFL) & O_NONBLOCK, "status flags are not shared any more");
  CHECK(!(fcntl(other, F_GETFL) & O_NONBLOCK), "a separate open shares the status flags");
  close(to_child[1]);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
