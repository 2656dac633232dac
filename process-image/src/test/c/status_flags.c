/* F_GETFL of all kinds of descriptor, to the last bit: the kernel's own O_LARGEFILE, too. */
#include "feature.h"
#include <net/if.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

static struct {
  const char *what;
  int fd, flags;
} all[128];
static int count;

static int add(const char *what, int fd) {
  CHECK(fd >= 0, "%s", what);
  all[count].what = what, all[count].fd = fd, all[count].flags = fcntl(fd, F_GETFL);
  MUST(all[count].flags >= 0);
  count++;
  return fd;
}

static int with(int fd, int flags) {
  MUST(fd >= 0 && !fcntl(fd, F_SETFL, flags));
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int ends[2];
  MUST(!pipe(ends));
  add("a pipe's read end", ends[0]), add("a pipe's write end", ends[1]);
  MUST(!pipe2(ends, O_NONBLOCK | O_DIRECT));
  add("a packet pipe's read end", ends[0]), add("a packet pipe's write end", ends[1]);
  MUST(!pipe(ends) && !fcntl(ends[0], F_SETFL, O_NONBLOCK) && !fcntl(ends[1], F_SETFL, O_APPEND));
  add("a changed pipe's read end", ends[0]), add("a changed pipe's write end", ends[1]);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", ends[0]);
  add("a pipe that was opened again", open(path, O_RDONLY | O_NONBLOCK));
  MUST(!mkfifo(scratch("fifo"), 0600));
  add("a FIFO, both ways", open(scratch("fifo"), O_RDWR)),
      add("a FIFO's read end", open(scratch("fifo"), O_RDONLY | O_NONBLOCK));
  add("a FIFO's write end", open(scratch("fifo"), O_WRONLY)),
      add("a FIFO's other end", open(scratch("fifo"), O_RDONLY | O_NONBLOCK));
  add("a file", open_scratch("file", O_RDWR | O_CREAT)),
      add("a new file", open(scratch("new"), O_RDWR | O_CREAT | O_APPEND, 0644));
  add("a file without access times", open(scratch("file"), O_RDONLY | O_NOATIME)),
      add("a file in step", open(scratch("file"), O_WRONLY | O_SYNC));
  add("a file with data in step", open(scratch("file"), O_WRONLY | O_DSYNC)),
      add("a file that was asked for as no link", open(scratch("file"), O_RDONLY | O_NOFOLLOW));
  add("a changed file", with(open(scratch("file"), O_RDWR), O_APPEND | O_NONBLOCK));
  add("a file for nothing but ioctl", open(scratch("file"), O_ACCMODE));
  int gone = open_scratch("gone", O_RDWR | O_CREAT);
  add("a deleted file", gone), add("its reading one", open(scratch("gone"), O_RDONLY));
  MUST(!unlink(scratch("gone")));
  add("a directory", open(scratch("."), O_RDONLY | O_DIRECTORY)),
      add("a directory once more", open(scratch("."), O_RDONLY | O_DIRECTORY)),
      add("a directory as a file", open(scratch("."), O_RDONLY));
  add("one that is closed by exec", open(scratch("file"), O_RDONLY | O_CLOEXEC));
  add("a path", open(scratch("file"), O_PATH)), add("a path of a directory", open(scratch("."), O_PATH | O_DIRECTORY)),
      add("a path of no link", open(scratch("file"), O_PATH | O_NOFOLLOW));
  add("/dev/null", open("/dev/null", O_RDWR)), add("/dev/zero", open("/dev/zero", O_RDONLY)),
      add("/dev/null, appending", with(open("/dev/null", O_WRONLY), O_APPEND | O_NONBLOCK));
  add("a file of /proc", open("/proc/self/status", O_RDONLY)),
      add("a file of /proc that does not wait", open("/proc/self/stat", O_RDONLY | O_NONBLOCK));
  add("memory", memfd_create("memory", 0)), add("more memory", with(memfd_create("more", MFD_ALLOW_SEALING), O_APPEND));
  snprintf(path, sizeof path, "/proc/self/fd/%d", all[count - 2].fd);
  add("memory that was opened again", open(path, O_RDONLY)),
      add("memory that once more was opened again", open(path, O_RDONLY));
  add("an event counter", eventfd(0, 0)), add("a changed event counter", with(eventfd(0, EFD_NONBLOCK), O_APPEND));
  add("a timer", timerfd_create(CLOCK_MONOTONIC, 0)),
      add("a changed timer", with(timerfd_create(CLOCK_MONOTONIC, 0), O_NONBLOCK | O_APPEND));
  add("epoll", epoll_create1(0));
  sigset_t none;
  sigemptyset(&none);
  add("signals", signalfd(-1, &none, 0)), add("changed signals", with(signalfd(-1, &none, SFD_NONBLOCK), O_APPEND));
  if (geteuid() == 0) add("inotify", with(inotify_init1(IN_NONBLOCK), O_NONBLOCK | O_APPEND));
  for (int type = SOCK_STREAM; type <= SOCK_SEQPACKET; type++) {
    if (type == SOCK_STREAM || type == SOCK_DGRAM || type == SOCK_SEQPACKET) {
      MUST(!socketpair(AF_UNIX, type, 0, ends));
      add("half of a pair", ends[0]), add("the other half", with(ends[1], O_NONBLOCK | O_APPEND));
      add("a unix socket", with(socket(AF_UNIX, type, 0), O_APPEND));
    }
  }
  add("a TCP socket", socket(AF_INET, SOCK_STREAM, 0)),
      add("a changed TCP socket", with(socket(AF_INET, SOCK_STREAM, 0), O_NONBLOCK | O_APPEND));
  add("a UDP socket", socket(AF_INET, SOCK_DGRAM, 0)),
      add("a changed UDP socket", with(socket(AF_INET6, SOCK_DGRAM, 0), O_NONBLOCK | O_APPEND));
  add("a netlink socket", with(socket(AF_NETLINK, SOCK_RAW, 0), O_NONBLOCK | O_APPEND));
  int master = open("/dev/ptmx", O_RDWR | O_NOCTTY);
  if (master >= 0) {
    MUST(!grantpt(master) && !unlockpt(master));
    add("a terminal's master", master), add("a terminal", open(ptsname(master), O_RDWR | O_NOCTTY)),
        add("a terminal that does not wait", open(ptsname(master), O_RDONLY | O_NOCTTY | O_NONBLOCK));
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++) {
      int now = fcntl(all[i].fd, F_GETFL);
      CHECK(now == all[i].flags, "%s: F_GETFL was %#o, is %#o", all[i].what, all[i].flags, now);
    }
    pause_ms(2);
  }
  return feature_pass();
}
