/* Private and shared mappings of a file whose name is gone, and of which no descriptor is left: parts in an order of
 * addresses that is not the file's, pages that were never touched, written to by one process and not by the other, and
 * behind the file's end. An ordinary user's checkpoint sees such a file by its mappings only. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { PAGE = 4096, PAGES = 8, TAIL = 100 };

static char *map(char *at, int page, int count, int protection, int flags, int fd) {
  char *memory = mmap(at, count * PAGE, protection, flags | MAP_FIXED, fd, page * PAGE);
  MUST(memory == at);
  return memory;
}

static void check(const char *memory, int first, int count, const char *what) {
  for (int i = 0; i < count; i++)
    for (int byte = 0; byte < PAGE; byte++) {
      bool behind = first + i == PAGES && byte >= TAIL;
      CHECK(memory[i * PAGE + byte] == (behind ? 0 : 'a' + first + i), "%s: page %d of the file, byte %d is %d", what,
            first + i, byte, memory[i * PAGE + byte]);
    }
}

/* Pages 2 and 3 are private and the child's own; the parent has not touched them. */
static void own(char *memory, char mark) {
  memory[0] = mark, memory[PAGE + 7] = mark;
}

static void check_own(const char *memory, char mark) {
  for (int i = 0; i < 2; i++)
    for (int byte = 0; byte < PAGE; byte++)
      CHECK(memory[i * PAGE + byte] == (byte == 7 * i ? mark : 'a' + 2 + i), "a process's own page %d, byte %d is %d",
            i, byte, memory[i * PAGE + byte]);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = open_scratch("mapped", O_RDWR | O_CREAT | O_EXCL);
  char page[PAGE];
  for (int i = 0; i <= PAGES; i++) {
    memset(page, 'a' + i, PAGE);
    MUST(write(fd, page, i < PAGES ? PAGE : TAIL) == (i < PAGES ? PAGE : TAIL));
  }
  char *room = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(room != MAP_FAILED);
  char *late = map(room, 4, 2, PROT_READ, MAP_PRIVATE, fd),
       *early = map(room + 4 * PAGE, 0, 2, PROT_READ, MAP_PRIVATE, fd);
  char *middle = map(room + 8 * PAGE, 2, 2, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd),
       *shared = map(room + 12 * PAGE, 6, 2, PROT_READ | PROT_WRITE, MAP_SHARED, fd);
  char *end =
      map(room + 16 * PAGE, PAGES, 3, PROT_READ, MAP_PRIVATE, fd); /* two pages of it are behind the file's end */
  MUST(!unlink(scratch("mapped")) && !close(fd));
  int hold[2];
  MUST(!pipe(hold));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    char byte;
    feature_child();
    close(hold[1]);
    own(middle, '!');
    MUST(!munmap(early, 2 * PAGE) && write(open_scratch("forked", O_WRONLY | O_CREAT), "", 0) == 0);
    MUST(!fcntl(hold[0], F_SETFL, O_NONBLOCK));
    while (read(hold[0], &byte, 1) != 0) check_own(middle, '!'), check(late, 4, 2, "the child's"), pause_ms(3);
    _exit(0);
  }
  close(hold[0]);
  while (access(scratch("forked"), F_OK)) pause_ms(1);
  feature_ready();
  while (!feature_finishing()) pause_ms(3); /* nothing is touched before the restart */
  check(late, 4, 2, "mapped below"), check(early, 0, 2, "mapped above"),
      check(middle, 2, 2, "what the other has written to"), check(shared, 6, 2, "shared"),
      check(end, PAGES, 1, "the end");
  MUST(!close(hold[1]));
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
