/* inotify: watches report what happens afterwards. A capture that cannot keep them must refuse by name. */
#include "feature.h"
#include <sys/inotify.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = inotify_init1(IN_CLOEXEC);
  MUST(fd >= 0 && !mkdir(scratch("watched"), 0755));
  int watch = inotify_add_watch(fd, scratch("watched"), IN_CREATE);
  MUST(watch >= 0);
  feature_ready();
  for (uint64_t n = 0; !feature_finishing(); n++) {
    char name[64], path[128];
    union {
      struct inotify_event event;
      char bytes[1024];
    } buffer;
    snprintf(name, sizeof name, "file-%lu", n);
    snprintf(path, sizeof path, "watched/%s", name);
    close(open_scratch(path, O_WRONLY | O_CREAT));
    CHECK(read(fd, &buffer, sizeof buffer) > 0, "read of inotify");
    CHECK(buffer.event.wd == watch && buffer.event.mask == IN_CREATE && !strcmp(buffer.event.name, name), "the event is %#x for %s, not %s", buffer.event.mask, buffer.event.name, name);
    MUST(!unlink(scratch(path)));
    pause_ms(5);
  }
  check_flags(fd, O_RDONLY, FD_CLOEXEC, "inotify");
  return feature_pass();
}
