/* Code, shared data and input that stay on disk are there after a restart: what was not touched before comes from the
 * files then. A second argument is the directory of the files. */
#include "feature.h"
#include <sys/mman.h>

enum { PAGE = 4096, SIZE = 4 * PAGE, SEED = 70, AT = 5 };
static const char *directory;

static char *place(const char *name) {
  static char paths[3][PATH_MAX];
  static int next;
  snprintf(paths[next], PATH_MAX, "%s/%s", directory, name);
  return paths[next++];
}

/* Written once: a file that is there is used. */
static int file(const char *name, const void *content) {
  const char *path = place(name);
  int made = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (made >= 0) {
    MUST(write(made, content, SIZE) == SIZE && !fchmod(made, 0644) && !close(made));
  }
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  MUST(fd >= 0);
  return fd;
}

static void *map(int fd, int protection, int flags) {
  void *at = mmap(NULL, SIZE, protection, flags, fd, 0);
  CHECK(at != MAP_FAILED, "mmap");
  MUST(!close(fd));
  return at;
}

int main(int argc, char **argv) {
  feature_start(2, argv);
  directory = argc > 2 ? argv[2] : feature_scratch;
  unsigned char code[SIZE] = {0}, data[SIZE], seen[SIZE];
  const unsigned char answer[] = {0xb8, 0x2a, 0, 0, 0, 0xc3}; /* mov $42, %eax; ret */
  memcpy(code + 3 * PAGE, answer, sizeof answer);
  fill_pattern(data, SIZE, SEED);
  unsigned char *program = map(file("code.so", code), PROT_READ | PROT_EXEC, MAP_PRIVATE);
  unsigned char *shared = map(file("shared.map", data), PROT_READ, MAP_SHARED);
  int input = file("input", data);
  MUST(read(input, seen, AT) == AT);
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  int value = ((int (*)(void))(program + 3 * PAGE))();
  CHECK(value == 42, "somebody else's code ran: %d", value);
  check_pattern(shared, SIZE, SEED, "shared file");
  MUST(read(input, seen, SIZE) == SIZE - AT);
  CHECK(!memcmp(seen, data + AT, SIZE - AT), "somebody else's input was read");
  feature_pass();
}
