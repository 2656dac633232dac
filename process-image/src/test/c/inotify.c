/* inotify: watches, one of which has a number after a gap, and one of which is on a symbolic link itself, report what
 * happens afterwards. A capture that cannot keep them (it is not root's) must refuse by name. */
#include "feature.h"
#include <sys/inotify.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = inotify_init1(IN_CLOEXEC);
  MUST(fd >= 0 && !mkdir(scratch("watched"), 0755));
  int gap = inotify_add_watch(fd, argv[1], IN_UNMOUNT);
  MUST(gap > 0 && !mkdir(scratch("gap"), 0755) &&
       inotify_add_watch(fd, scratch("gap"), IN_DELETE_SELF | IN_ONESHOT) > gap);
  MUST(!inotify_rm_watch(fd, gap));
  int watch = inotify_add_watch(fd, scratch("watched"), IN_CREATE);
  MUST(watch >= 0 && !symlink("watched", scratch("link")));
  int link = inotify_add_watch(fd, scratch("link"), IN_DELETE_SELF | IN_DONT_FOLLOW);
  MUST(link > watch);
  char ignored[1024];
  MUST(read(fd, ignored, sizeof ignored) > 0); /* IN_IGNORED of the removed one */
  feature_ready();
  for (uint64_t n = 0; !feature_finishing(); n++) {
    char name[64], path[128];
    union {
      struct inotify_event event;
      char bytes[1024];
    } buffer;
    snprintf(name, sizeof name, "file-%lu", n);
    snprintf(path, sizeof path, "watched/%s", name);
    unlink(scratch(path)); /* the original may have been killed when it had just made it */
    close(open_scratch(path, O_WRONLY | O_CREAT));
    CHECK(read(fd, &buffer, sizeof buffer) > 0, "read of inotify");
    /* An event that was not read when the checkpoint was taken is lost, and that is told. */
    CHECK(buffer.event.mask & IN_Q_OVERFLOW ||
              (buffer.event.wd == watch && buffer.event.mask == IN_CREATE && !strcmp(buffer.event.name, name)),
          "the event is %#x for %s, not %s", buffer.event.mask, buffer.event.name, name);
    MUST(!unlink(scratch(path)));
    pause_ms(5);
  }
  MUST(!rmdir(scratch("gap")));
  union {
    struct inotify_event event;
    char bytes[1024];
  } last;
  CHECK(read(fd, &last, sizeof last.event) > 0 && last.event.wd > gap && last.event.wd < watch &&
            last.event.mask & IN_DELETE_SELF,
        "the event is %#x of watch %d", last.event.mask, last.event.wd);
  MUST(!unlink(scratch("link")));
  while (last.event.wd != link)
    CHECK(read(fd, &last, sizeof last.event) > 0 && (last.event.wd == link || last.event.mask & IN_IGNORED),
          "the event is %#x of watch %d", last.event.mask, last.event.wd);
  CHECK(last.event.mask & IN_DELETE_SELF, "the event of a link is %#x", last.event.mask);
  check_flags(fd, O_RDONLY, FD_CLOEXEC, "inotify");
  return feature_pass();
}
