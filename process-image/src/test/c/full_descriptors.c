/* A table of descriptors that is full to the limit: files, pipes, sockets, epolls and events, some of them under
 * several numbers, one process of which has another set than its child. Each number is what it was; one more cannot be
 * had. */
#include "feature.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LIMIT 300
static struct {
  dev_t device;
  ino_t inode;
  mode_t mode;
} known[LIMIT];

static void look(bool first) {
  for (int fd = 0; fd < LIMIT; fd++) {
    struct stat now;
    CHECK(!fstat(fd, &now), "descriptor %d is gone", fd);
    if (first) known[fd].mode = now.st_mode & S_IFMT, known[fd].device = now.st_dev, known[fd].inode = now.st_ino;
    CHECK(known[fd].mode == (now.st_mode & S_IFMT), "descriptor %d was of type %o, is of %o", fd, known[fd].mode,
          now.st_mode);
    if (S_ISREG(now.st_mode))
      CHECK(known[fd].device == now.st_dev && known[fd].inode == now.st_ino, "descriptor %d is another file", fd);
  }
  CHECK(dup(0) < 0 && errno == EMFILE, "there is room for one more");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct rlimit limit = {LIMIT, LIMIT};
  MUST(!setrlimit(RLIMIT_NOFILE, &limit));
  feature_ready(); /* no file is made any more when the table is full */
  int epoll = epoll_create1(EPOLL_CLOEXEC), first_event = -1, pair[2], pipes[2], last_event = -1;
  MUST(epoll >= 0);
  for (int n = 0;; n++) {
    char name[32];
    snprintf(name, sizeof name, "file-%d", n);
    int fd = n % 5 == 0   ? open(scratch(name), O_RDWR | O_CREAT, 0600)
             : n % 5 == 1 ? eventfd((unsigned)n, EFD_NONBLOCK)
             : n % 5 == 2 ? dup(epoll)
                          : -1;
    if (n % 5 == 3) fd = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? -1 : pair[1];
    if (n % 5 == 4) fd = pipe(pipes) ? -1 : pipes[1];
    if (fd < 0 && errno == EMFILE) break;
    MUST(fd >= 0);
    if (n % 5 == 1) {
      struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)fd};
      MUST(!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event));
      if (first_event < 0) first_event = fd;
      last_event = fd;
    }
    if (n == 40) { /* an entry under a number that is now something else's */
      int moved = dup(fd);
      MUST(moved >= 0);
    }
  }
  while (dup(1) >= 0) {
  }
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    feature_child();
    for (int fd = 3; fd < LIMIT; fd += 2) close(fd);
    for (int fd = 3; fd < LIMIT; fd += 2) MUST(dup2(fd == 3 ? 1 : 4, fd) == fd);
  }
  look(true);
  while (!feature_finishing()) {
    look(false);
    pause_ms(10);
  }
  if (!child) _exit(0);
  struct epoll_event events[LIMIT];
  int ready = epoll_wait(epoll, events, LIMIT, 0);
  bool seen = false;
  for (int i = 0; i < ready; i++) seen |= events[i].data.u32 == (uint32_t)last_event;
  CHECK(ready > 10 && seen, "the epoll has %d events, that of %d is not among them", ready, last_event);
  uint64_t value;
  CHECK(read(first_event, &value, sizeof value) == sizeof value && value == 1, "the first event has %lu", value);
  int status;
  while (waitpid(child, &status, 0) < 0) MUST(errno == EINTR);
  CHECK(status == 0, "the child ended with status %#x", status);
  close(LIMIT - 1); /* room for the verdict */
  return feature_pass();
}
