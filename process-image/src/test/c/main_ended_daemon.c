/* A daemon in a session of its own whose main thread has ended while another one runs: /proc shows nothing of its
 * memory and descriptors by its number, and it is not left out for that. */
#include "feature.h"
#include <sys/wait.h>

static int held[2];

static void *stay(void *unused) {
  char byte;
  (void)unused;
  CHECK(read(held[0], &byte, 1) == 0, "the first process says something");
  int fd = open_scratch("daemon", O_WRONLY | O_CREAT);
  close(fd);
  syscall(SYS_exit_group, 0);
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!pipe(held));
  pid_t middle = fork();
  MUST(middle >= 0);
  if (!middle) {
    if (!fork()) {
      close(held[1]);
      MUST(setsid() == getpid());
      start_thread(stay, NULL);
      syscall(SYS_exit, 0);
    }
    _exit(0);
  }
  int status;
  MUST(waitpid(middle, &status, 0) == middle && !status);
  pause_ms(200);
  feature_ready();
  while (!feature_finishing()) pause_ms(2);
  close(held[1]);
  for (int i = 0; access(scratch("daemon"), F_OK); i++) {
    CHECK(i < 10000, "the daemon is gone");
    pause_ms(1);
  }
  return feature_pass();
}
