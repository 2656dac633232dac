/* Events of inotify that a program never reads hold up no checkpoint. A restart does not have them, and says so as the
 * kernel does when its queue is full (IN_Q_OVERFLOW); new events come after that. */
#include "feature.h"
#include <sys/inotify.h>

/* In clock ticks since the boot: a restored process is a new one. */
static unsigned long long start_time(void) {
  char line[1024];
  unsigned long long time = 0;
  FILE *file = fopen("/proc/self/stat", "re");
  MUST(file && fgets(line, sizeof line, file) && !fclose(file));
  char *field = strrchr(line, ')') + 2; /* the third */
  for (int n = 3; n < 22; n++) field = strchr(field, ' ') + 1;
  MUST(sscanf(field, "%llu", &time) == 1);
  return time;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  MUST(fd >= 0 && !mkdir(scratch("watched"), 0755));
  int watch = inotify_add_watch(fd, scratch("watched"), IN_CREATE);
  MUST(watch > 0);
  close(open_scratch("watched/before", O_WRONLY | O_CREAT));
  unsigned long long started = start_time();
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  union {
    struct inotify_event event;
    char bytes[4096];
  } buffer;
  close(open_scratch("watched/after", O_WRONLY | O_CREAT));
  bool restored = start_time() != started;
  ssize_t n = read(fd, &buffer, sizeof buffer);
  struct inotify_event *first = &buffer.event,
                       *second = (struct inotify_event *)(buffer.bytes + sizeof *first + first->len);
  CHECK(n > (ssize_t)(2 * sizeof *first), "%zd bytes of events", n);
  CHECK(restored ? first->mask == IN_Q_OVERFLOW && first->wd == -1
                 : first->mask == IN_CREATE && !strcmp(first->name, "before"),
        "the first event is %#x of watch %d", first->mask, first->wd);
  CHECK(second->mask == IN_CREATE && second->wd == watch && !strcmp(second->name, "after"),
        "the second event is %#x of watch %d", second->mask, second->wd);
  CHECK(read(fd, &buffer, sizeof buffer) < 0 && errno == EAGAIN, "more events than two");
  return feature_pass();
}
