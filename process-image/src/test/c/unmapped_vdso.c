/* A child that has unmapped the vDSO, by which C libraries ask for the time, lives by system calls alone; it is not
 * mapped again behind its back. */
#include "feature.h"
#include <sys/mman.h>
#include <sys/wait.h>

static _Atomic unsigned *rounds;

/* Neither stdio's nor the C library's clocks: what is asked of the kernel directly. */
static int has_vdso(void) {
  static char text[1 << 16];
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t length = 0;
  for (ssize_t n; fd >= 0 && (n = read(fd, text + length, sizeof text - 1 - length)) > 0;) length += (size_t)n;
  text[length] = 0;
  close(fd);
  return strstr(text, "[vdso]") || strstr(text, "[vvar");
}

__attribute__((noreturn)) static void child_without(void) {
  static char text[1 << 16];
  int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t length = 0;
  for (ssize_t n; (n = read(fd, text + length, sizeof text - 1 - length)) > 0;) length += (size_t)n;
  close(fd);
  for (char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
    char *end = strchr(line, '\n');
    if (end) *end = 0;
    unsigned long from, to;
    if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
        munmap((void *)from, to - from))
      _exit(2);
    if (end) *end = '\n';
  }
  if (has_vdso()) _exit(3);
  for (;;) {
    struct timespec now, rest = {0, 2000000};
    if (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) || has_vdso()) _exit(4);
    (*rounds)++;
    syscall(SYS_nanosleep, &rest, NULL);
    if (!syscall(SYS_access, scratch("finish"), F_OK)) _exit(0);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  MUST(rounds != MAP_FAILED);
  scratch("finish");
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) child_without();
  while (!*rounds) {
    int status;
    CHECK(!waitpid(child, &status, WNOHANG), "the child ended at once, with %#x", status);
    pause_ms(1);
  }
  feature_ready();
  while (!feature_finishing()) {
    unsigned before = *rounds;
    for (int i = 0; i < 2000 && *rounds == before && !feature_finishing(); i++) pause_ms(2);
    CHECK(*rounds != before || feature_finishing(), "the child stands still");
  }
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child ended with %#x", status);
  return feature_pass();
}
