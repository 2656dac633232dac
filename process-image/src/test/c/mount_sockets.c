/* Unix sockets whose files are on a file system that only a mount namespace of the program's own has, and what is
 * watched there (inotify): two namespaces have the same paths, and the machine has something else under them. A child
 * in the second one has a socket of the first. */
#include "feature.h"
#include <sched.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { SOMEBODY = 33 };
static const char *outside;
static int listener, accepted, client, receiver, sender, watches, on_directory, on_file, on_outside;

static struct sockaddr_un name(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  CHECK(strlen(path) < sizeof address.sun_path, "%s is too long", path);
  strcpy(address.sun_path, path);
  return address;
}

static int bound(int type, const char *path) {
  struct sockaddr_un address = name(path);
  int fd = socket(AF_UNIX, type, 0);
  MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof address));
  return fd;
}

static int calling(int type, const char *path) {
  struct sockaddr_un address = name(path);
  int fd = socket(AF_UNIX, type, 0);
  CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address), "connect to %s", path);
  return fd;
}

static void make_namespace(void) {
  MUST(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  MUST(!mount("ours", scratch("t"), "tmpfs", 0, "mode=755") && !mkdir(scratch("t/d"), 0755));
}

static void make_sockets(void) {
  MUST(!chdir(scratch("t/d")));
  listener = bound(SOCK_STREAM, "../listener"); /* a relative name */
  MUST(!listen(listener, 3) && !chmod(scratch("t/listener"), 0620) &&
       !chown(scratch("t/listener"), SOMEBODY, SOMEBODY));
  client = calling(SOCK_STREAM, scratch("t/listener"));
  MUST((accepted = accept(listener, NULL, NULL)) >= 0);
  receiver = bound(SOCK_DGRAM, scratch("t/d/receiver"));
  sender = calling(SOCK_DGRAM, scratch("t/d/receiver"));
  MUST(send(sender, "waiting", 7, 0) == 7 && send(client, "unread", 6, 0) == 6);
  MUST(!chdir("/"));
}

static void watch(void) {
  close(open_scratch("t/file", O_WRONLY | O_CREAT));
  MUST((watches = inotify_init1(IN_NONBLOCK)) >= 0);
  on_directory = inotify_add_watch(watches, scratch("t/d"), IN_CREATE | IN_OPEN | IN_CLOSE | IN_ACCESS);
  on_file = inotify_add_watch(watches, scratch("t/file"), IN_MODIFY | IN_OPEN | IN_ATTRIB);
  on_outside = inotify_add_watch(watches, scratch(outside), IN_CREATE);
  MUST(on_directory > 0 && on_file > 0 && on_outside > 0);
}

static void check_event(int watch, uint32_t mask, const char *what) {
  union {
    struct inotify_event event;
    char bytes[sizeof(struct inotify_event) + 256];
  } buffer;
  ssize_t got = read(watches, &buffer, sizeof buffer);
  if (got > 0 && buffer.event.mask == IN_Q_OVERFLOW) return; /* a checkpoint came between */
  CHECK(got > 0 && buffer.event.wd == watch && buffer.event.mask == mask, "%s: %zd bytes, watch %d, event %#x", what,
        got, buffer.event.wd, buffer.event.mask);
}

static void check_watches(void) {
  char byte;
  CHECK(read(watches, &byte, 1) < 0 && errno == EAGAIN, "an event of nothing");
  MUST(!mkdir(scratch("t/d/new"), 0700));
  check_event(on_directory, IN_CREATE | IN_ISDIR, "a directory");
  MUST(!rmdir(scratch("t/d/new")) && !chmod(scratch("t/file"), 0640));
  check_event(on_file, IN_ATTRIB, "a file");
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/new", scratch(outside));
  rmdir(path); /* of who went on after the checkpoint, and was killed here */
  MUST(!mkdir(path, 0700));
  check_event(on_outside, IN_CREATE | IN_ISDIR, "a directory outside");
  CHECK(!rmdir(path) || errno == ENOENT, "rmdir %s", path); /* or removed by that one */
}

static void check_file(const char *path, mode_t mode, uid_t owner) {
  struct stat stat;
  CHECK(!lstat(path, &stat) && stat.st_mode == (S_IFSOCK | mode) && stat.st_uid == owner && stat.st_nlink == 1,
        "%s: mode %o, owner %u", path, stat.st_mode, stat.st_uid);
}

static void check_sockets(void) {
  char got[16];
  struct sockaddr_un address = {0};
  socklen_t length = sizeof address;
  CHECK(recv(receiver, got, sizeof got, 0) == 7 && send(sender, "waiting", 7, 0) == 7, "the datagram");
  CHECK(recv(accepted, got, sizeof got, 0) == 6 && send(client, "unread", 6, 0) == 6, "the connection");
  MUST(!getsockname(accepted, (struct sockaddr *)&address, &length));
  CHECK(!strcmp(address.sun_path, "../listener"), "an accepted socket is called %s", address.sun_path);
  int caller = calling(SOCK_STREAM, scratch("t/listener")), end = accept(listener, NULL, NULL);
  CHECK(end >= 0 && send(caller, "!", 1, 0) == 1 && recv(end, got, 1, 0) == 1, "a new connection");
  MUST(!close(caller) && !close(end));
  caller = calling(SOCK_DGRAM, scratch("t/d/receiver"));
  CHECK(send(caller, "new", 3, 0) == 3 && recv(receiver, got, sizeof got, 0) == 7 && send(sender, "waiting", 7, 0) == 7,
        "who was first");
  CHECK(recv(receiver, got, sizeof got, 0) == 3, "a new sender");
  MUST(!close(caller));
  check_file(scratch("t/listener"), 0620, SOMEBODY);
  check_file(scratch("t/d/receiver"), 0755, 0);
}

/* In each of two namespaces; the first one's listener is in the second process, too. */
static void begin(const char *directory) {
  feature_child();
  outside = directory;
  umask(022);
  make_namespace(), make_sockets(), watch();
}

static void go_on(const char *ready, int inherited) {
  close(open(scratch(ready), O_WRONLY | O_CREAT, 0600));
  while (!feature_finishing()) {
    struct stat stat;
    check_sockets(), check_watches();
    CHECK(inherited < 0 || (!fstat(inherited, &stat) && S_ISSOCK(stat.st_mode)), "the first one's listener");
    pause_ms(3);
  }
}

__attribute__((noreturn)) static void inside(void) {
  begin("outside-1");
  int first = listener;
  pid_t second = fork();
  if (!second) begin("outside-2");
  go_on(second ? "first" : "second", second ? -1 : first);
  int status = 0;
  if (second) CHECK(waitpid(second, &status, 0) == second && !status, "the second one ended with %#x", status);
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("t"), 0755) && !mkdir(scratch("outside-1"), 0755) && !mkdir(scratch("outside-2"), 0755));
  close(open_scratch("t/listener", O_WRONLY | O_CREAT)); /* under the mounts */
  pid_t child = 0;
  if (!geteuid() && !(child = fork())) inside();
  while (child && (access(scratch("first"), F_OK) || access(scratch("second"), F_OK))) pause_ms(1);
  feature_ready();
  int status = 0;
  while (!feature_finishing()) {
    struct stat stat;
    CHECK(!child || !waitpid(child, &status, WNOHANG), "the child ended with %#x", status);
    CHECK(!lstat(scratch("t/listener"), &stat) && S_ISREG(stat.st_mode), "the machine's file has mode %o",
          stat.st_mode);
    pause_ms(3);
  }
  if (child) CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
