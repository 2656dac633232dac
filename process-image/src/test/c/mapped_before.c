/* Private memory of files whose names lead to others in a mount namespace of the job's own: of a file of the same name
 * that a process had before it was there, beside one that its child has of the namespace; and memory of such a file
 * that a process and its child have in common.
 */
#include "own_user.h"
#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES = 1 << 20 };

/* A file of this letter. */
static void fill(const char *path, char letter) {
  char block[4096];
  memset(block, letter, sizeof block);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  MUST(fd >= 0);
  for (int i = 0; i < BYTES; i += (int)sizeof block) MUST(write(fd, block, sizeof block) == (ssize_t)sizeof block);
  MUST(!close(fd));
}

/* Its memory, of which one page in eight is changed. */
static char *map(const char *path, char letter) {
  int fd = open(path, O_RDONLY);
  MUST(fd >= 0);
  char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
  MUST(memory != MAP_FAILED && !close(fd));
  for (int i = 0; i < BYTES; i += 8 * 4096) memory[i] = (char)(letter + 1);
  return memory;
}

static void check(const char *memory, char letter) {
  for (int i = 0; i < BYTES; i++) {
    char wanted = (char)(i % (8 * 4096) ? letter : letter + 1);
    CHECK(memory[i] == wanted, "byte %#x of the memory of file %c is %c", i, letter, memory[i]);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char place[PATH_MAX], file[PATH_MAX], link[PATH_MAX], linked[PATH_MAX], over[PATH_MAX], covered[PATH_MAX];
  char layers[3 * PATH_MAX];
  snprintf(place, sizeof place, "%s", scratch("place"));
  snprintf(file, sizeof file, "%s", scratch("place/file"));
  snprintf(link, sizeof link, "%s", scratch("link"));
  snprintf(linked, sizeof linked, "%s", scratch("link/file"));
  MUST(!mkdir(place, 0700) && !mkdir(link, 0700));
  fill(file, 'A');
  fill(linked, 'X');
  snprintf(over, sizeof over, "%s", scratch("over"));
  snprintf(covered, sizeof covered, "%s", scratch("over/file"));
  MUST(!mkdir(over, 0755) && !mkdir(scratch("layer"), 0755) && !mkdir(scratch("below"), 0755));
  fill(covered, 'C');
  fill(scratch("layer/file"), 'L');
  char *before = map(file, 'A'), *beneath = map(covered, 'C');
  own_mounts();
  snprintf(layers, sizeof layers, "lowerdir=%s", scratch("layer"));
  snprintf(layers + strlen(layers), sizeof layers - strlen(layers), ":%s", scratch("below"));
  MUST(!mount("over", over, "overlay", 0, layers));
  MUST(!mount("place", place, "tmpfs", 0, NULL));
  fill(file, 'M');
  MUST(!mount(place, link, NULL, MS_BIND, NULL)); /* its file is another one than outside */
  char *common = map(linked, 'M');
  pid_t child = fork();
  if (!child) {
    feature_child();
    MUST(!munmap(before, BYTES) && !munmap(beneath, BYTES));
    char *here = map(file, 'M'), *layered = map(covered, 'L');
    write_file(scratch("child"), "");
    while (!feature_finishing()) {
      check(here, 'M');
      check(layered, 'L');
      check(common, 'M');
      pause_ms(3);
    }
    _exit(0);
  }
  while (access(scratch("child"), F_OK)) pause_ms(1);
  feature_ready();
  int status;
  while (!feature_finishing()) {
    check(before, 'A');
    check(beneath, 'C');
    check(common, 'M');
    pause_ms(3);
  }
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
