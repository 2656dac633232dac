/* fanotify, as root: a group that hears of what happens to a file and in a directory, and ignores some of it; one that
 * tells handles and names. The checkpoint and the restart themselves are not heard of. */
#include "feature.h"
#include <sys/fanotify.h>
#include <sys/wait.h>

#ifndef FAN_REPORT_DFID_NAME
#define FAN_REPORT_DFID_NAME (0x400 | 0x800)
#endif
#ifndef FAN_CREATE
#define FAN_CREATE 0x100
#endif

static char lines[4096];

/* What the kernel tells of the marks, without the numbers of devices. */
static void read_lines(int fd, char *to, size_t size) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  FILE *file = fopen(path, "r");
  MUST(file);
  *to = 0;
  while (fgets(line, sizeof line, file))
    if (!strncmp(line, "fanotify", 8)) strncat(to, line, size - strlen(to) - 1);
  fclose(file);
}

static void mark(int group, unsigned flags, uint64_t mask, const char *path) {
  CHECK(!fanotify_mark(group, FAN_MARK_ADD | flags, mask, AT_FDCWD, path), "fanotify_mark %s", path);
}

static int next_event(int group, uint64_t mask, const char *what) {
  char buffer[4096];
  struct fanotify_event_metadata event;
  ssize_t got = read(group, buffer, sizeof buffer);
  CHECK(got >= (ssize_t)sizeof event, "no event of %s", what);
  memcpy(&event, buffer, sizeof event);
  CHECK(event.event_len == got && event.mask == mask && event.pid == getpid(),
        "%s: event %#llx of process %d, %zd of %u", what, (unsigned long long)event.mask, event.pid, got,
        event.event_len);
  return event.fd;
}

static void no_event(int group, const char *what) {
  char byte[64];
  CHECK(read(group, byte, sizeof byte) < 0 && errno == EAGAIN, "an event of nothing: %s", what);
}

static void check_path(int fd, const char *path) {
  char link[64], got[PATH_MAX] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  CHECK(readlink(link, got, sizeof got - 1) > 0 && !strcmp(got, path), "the event is of %s", got);
  MUST(!close(fd));
}

static void work(int group, int names) {
  char now[sizeof lines], path[PATH_MAX];
  no_event(group, "a group"), no_event(names, "names");
  read_lines(group, now, sizeof now);
  CHECK(!strcmp(now, lines), "marks were %s and are %s", lines, now);
  int fd = open_scratch("file", O_WRONLY);
  check_path(next_event(group, FAN_OPEN, "an open file"), realpath(scratch("file"), path));
  MUST(write(fd, "x", 1) == 1 && !close(fd));
  check_path(next_event(group, FAN_MODIFY, "a file"), realpath(scratch("file"), path)); /* its end is ignored */
  no_event(group, "what is ignored");
  close(open_scratch("d/child", O_RDONLY));
  check_path(next_event(group, FAN_OPEN, "a child"), realpath(scratch("d/child"), path));
  rmdir(scratch("d/new")); /* of who went on after the checkpoint, and was killed here */
  MUST(!mkdir(scratch("d/new"), 0700));
  CHECK(next_event(names, FAN_CREATE | FAN_ONDIR, "a new name") == FAN_NOFD, "a descriptor");
  MUST(!rmdir(scratch("d/new")));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int group = geteuid() ? -1 : fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY | O_NOATIME);
  int names = geteuid() ? -1 : fanotify_init(FAN_REPORT_DFID_NAME | FAN_NONBLOCK | FAN_UNLIMITED_QUEUE, 0);
  close(open_scratch("file", O_WRONLY | O_CREAT));
  MUST(!mkdir(scratch("d"), 0755));
  close(open_scratch("d/child", O_WRONLY | O_CREAT));
  bool has = group >= 0 && names >= 0;
  if (has) {
    mark(group, 0, FAN_OPEN | FAN_MODIFY | FAN_CLOSE, scratch("file"));
    mark(group, FAN_MARK_IGNORED_MASK | FAN_MARK_IGNORED_SURV_MODIFY, FAN_CLOSE, scratch("file"));
    mark(group, 0, FAN_OPEN | FAN_EVENT_ON_CHILD, scratch("d"));
    mark(names, 0, FAN_CREATE | FAN_ONDIR, scratch("d"));
    read_lines(group, lines, sizeof lines);
  }
  feature_ready();
  while (!feature_finishing()) {
    if (has) work(group, names), check_flags(group, O_RDWR | O_NONBLOCK, FD_CLOEXEC, "fanotify");
    pause_ms(5);
  }
  return feature_pass();
}
