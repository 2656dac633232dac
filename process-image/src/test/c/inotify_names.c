/* inotify: who is not root cannot ask what is watched, and its checkpoint has to find the names. Watched by relative
 * names, through a symbolic link, by a call that no library sees, of files that were renamed or removed since, by a
 * parent for its child. Each watch has an event under its number afterwards. */
#include "feature.h"
#include <sys/inotify.h>
#include <sys/wait.h>

enum { RELATIVE, LINKED, ROTATED, BESIDE, OPEN, ABOVE, LINKED_ELSEWHERE, REMOVED, WATCHES };
static int watches[WATCHES];

/* No library knows of it. */
static int watch_unseen(int fd, const char *path, uint32_t mask) {
  return (int)syscall(SYS_inotify_add_watch, fd, path, mask);
}

static void expect(int fd, int which, uint32_t mask, const char *name) {
  union {
    struct inotify_event event;
    char bytes[sizeof(struct inotify_event) + NAME_MAX + 1];
  } buffer;
  CHECK(read(fd, &buffer, sizeof buffer) > 0, "read of inotify");
  if (buffer.event.mask & IN_Q_OVERFLOW) return; /* not read when the checkpoint was taken: told as lost */
  CHECK(buffer.event.wd == watches[which] && buffer.event.mask == mask &&
            !strcmp(buffer.event.len ? buffer.event.name : "", name),
        "watch %d: the event is %#x of watch %d (%s), not %#x of %d (%s)", which, buffer.event.mask, buffer.event.wd,
        buffer.event.len ? buffer.event.name : "", mask, watches[which], name);
}

static void create_in(int fd, const char *directory, int which) {
  char path[64];
  snprintf(path, sizeof path, "%s/new", directory);
  unlink(scratch(path)); /* the original may have been killed when it had just made it */
  close(open_scratch(path, O_WRONLY | O_CREAT | O_EXCL));
  expect(fd, which, IN_CREATE, "new");
  MUST(!unlink(scratch(path)));
}

static void append_to(int fd, const char *file, int which) {
  int writer = open_scratch(file, O_WRONLY | O_APPEND);
  MUST(write(writer, "x", 1) == 1 && !close(writer));
  expect(fd, which, IN_MODIFY, "");
}

static void rounds(int fd, int open_file, int removed) {
  while (!feature_finishing()) {
    create_in(fd, "relative", RELATIVE);
    create_in(fd, "linked", LINKED);
    append_to(fd, "logs/log.1", ROTATED);
    append_to(fd, "logs/beside", BESIDE);
    MUST(write(open_file, "x", 1) == 1);
    expect(fd, OPEN, IN_MODIFY, "");
    create_in(fd, "open", ABOVE);
    append_to(fd, "logs/other", LINKED_ELSEWHERE);
    MUST(write(removed, "x", 1) == 1);
    expect(fd, REMOVED, IN_MODIFY, "");
    pause_ms(5);
  }
}

int main(int argc, char **argv) {
  static const char *const directories[] = {"relative", "linked", "logs", "open"};
  feature_start(argc, argv);
  for (int i = 0; i < 4; i++) MUST(!mkdir(scratch(directories[i]), 0755));
  MUST(!symlink("linked", scratch("link")));
  int fd = inotify_init1(IN_CLOEXEC), open_file = open_scratch("open/file", O_WRONLY | O_CREAT);
  close(open_scratch("logs/log", O_WRONLY | O_CREAT));
  close(open_scratch("logs/beside", O_WRONLY | O_CREAT));
  close(open_scratch("logs/one", O_WRONLY | O_CREAT));
  int removed = open_scratch("open/removed", O_WRONLY | O_CREAT);
  MUST(fd >= 0 && !chdir(scratch("relative")));
  watches[RELATIVE] = inotify_add_watch(fd, ".", IN_CREATE);
  MUST(!chdir("/"));
  watches[LINKED] = inotify_add_watch(fd, scratch("link"), IN_CREATE);
  int go[2];
  MUST(!pipe(go));
  pid_t child = fork();
  if (child == 0) { /* it reads what its parent has asked for since */
    feature_child();
    MUST(read(go[0], watches, sizeof watches) == sizeof watches);
    rounds(fd, open_file, removed);
    _exit(0);
  }
  watches[ROTATED] = inotify_add_watch(fd, scratch("logs/log"), IN_MODIFY);
  watches[BESIDE] = watch_unseen(fd, scratch("logs/beside"), IN_MODIFY);
  watches[OPEN] = watch_unseen(fd, scratch("open/file"), IN_MODIFY);
  watches[ABOVE] = watch_unseen(fd, scratch("open"), IN_CREATE);
  watches[LINKED_ELSEWHERE] = inotify_add_watch(fd, scratch("logs/one"), IN_MODIFY);
  watches[REMOVED] = inotify_add_watch(fd, scratch("open/removed"), IN_MODIFY);
  MUST(!link(scratch("logs/one"), scratch("logs/other")) && !unlink(scratch("logs/one")));
  MUST(!unlink(scratch("open/removed")));
  MUST(!rename(scratch("logs/log"), scratch("logs/log.1")));
  for (int i = 0; i < 20000; i++) /* the same name is noted once */
    MUST(inotify_add_watch(fd, scratch("relative"), IN_CREATE) == watches[RELATIVE]);
  MUST(write(go[1], watches, sizeof watches) == sizeof watches);
  feature_ready();
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(status == 0, "the child has ended with %#x", status);
  return feature_pass();
}
