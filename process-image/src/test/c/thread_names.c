/* Names: each thread's comm, the command line and the environment as /proc shows them. */
#include "feature.h"
#include <sys/prctl.h>

static void *worker(void *argument) {
  char want[16], got[16];
  snprintf(want, sizeof want, "worker (%ld) x", (long)argument);
  OK(pthread_setname_np(pthread_self(), want));
  while (!feature_over) {
    MUST(!prctl(PR_GET_NAME, got));
    CHECK(!strcmp(want, got), "thread %ld is called \"%s\"", (long)argument, got);
    pause_ms(5);
  }
  return NULL;
}

static size_t slurp(const char *path, char *buffer, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(fd >= 0, "open %s", path);
  size_t done = 0;
  for (ssize_t got; done < size && (got = read(fd, buffer + done, size - done)) > 0; done += got) {
  }
  close(fd);
  return done;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  static char lines[3][65536], now[65536], executable[PATH_MAX], target[PATH_MAX];
  const char *const paths[] = {"/proc/self/cmdline", "/proc/self/environ", "/proc/self/auxv"};
  size_t sizes[3];
  for (int i = 0; i < 3; i++) sizes[i] = slurp(paths[i], lines[i], sizeof lines[i]);
  ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  MUST(length > 0 && sizes[0] > 0);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) threads[i] = start_thread(worker, (void *)i);
  MUST(!prctl(PR_SET_NAME, "renamed main"));
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    char name[16];
    MUST(!prctl(PR_GET_NAME, name));
    CHECK(!strcmp(name, "renamed main"), "the main thread is called \"%s\"", name);
    for (int i = 0; i < 3; i++) {
      size_t bytes = slurp(paths[i], now, sizeof now);
      CHECK(bytes == sizes[i] && !memcmp(now, lines[i], bytes), "%s changed (%zu bytes, then %zu)", paths[i], sizes[i],
            bytes);
    }
    memset(target, 0, sizeof target);
    CHECK(readlink("/proc/self/exe", target, sizeof target - 1) == length && !strcmp(target, executable),
          "/proc/self/exe is %s", target);
    pause_ms(5);
  }
  for (int i = 0; i < 3; i++) join_thread(threads[i]);
  return feature_pass();
}
