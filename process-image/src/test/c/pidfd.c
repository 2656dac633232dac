/* Descriptors of processes: of itself, of a child that lives, has ended, was waited for; of a thread; of a parent;
 * shared, watched, not blocking. */
#include "feature.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define PIDFD_NONBLOCK_ O_NONBLOCK
#define PIDFD_THREAD_ O_EXCL
#define P_PIDFD_ 3

static int descriptor_of(pid_t pid, unsigned flags) {
  return (int)syscall(SYS_pidfd_open, pid, flags);
}

static int send_to(int fd, int number) {
  return (int)syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
}

static bool ended(int fd) {
  struct pollfd poller = {fd, POLLIN, 0};
  return poll(&poller, 1, 0) == 1;
}

/* What the kernel says it is of: in the namespace of this /proc. */
static int told(int fd) {
  char path[64], text[512] = {0};
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
  int info = open(path, O_RDONLY | O_CLOEXEC);
  CHECK(info >= 0 && read(info, text, sizeof text - 1) > 0, "read %s", path);
  close(info);
  char *at = strstr(text, "\nPid:");
  CHECK(at, "no pid in %s: %s", path, text);
  return atoi(at + 5);
}

static ino_t inode_of(int fd) {
  struct stat status;
  CHECK(!fstat(fd, &status), "fstat of descriptor %d", fd);
  return status.st_ino;
}

static volatile sig_atomic_t asked;

static void on_signal(int number) {
  asked = number;
}

/* The child has one of its parent, and ends when it is told to through the parent's of it. */
static void child(pid_t parent, int of_parent) {
  feature_child();
  while (asked != SIGUSR1) {
    CHECK(told(of_parent) == parent && !ended(of_parent) && !send_to(of_parent, 0), "the parent's descriptor is of %d",
          told(of_parent));
    pause_ms(2);
  }
  _exit(7);
}

static void *waiter(void *tid) {
  *(_Atomic pid_t *)tid = (pid_t)syscall(SYS_gettid);
  while (!feature_over) pause_ms(5);
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_handler = on_signal};
  MUST(!sigaction(SIGUSR1, &action, NULL));
  int self = descriptor_of(getpid(), 0);
  CHECK(self >= 0, "pidfd_open");
  pid_t alive = fork();
  if (!alive) child(getppid(), self);
  pid_t unwaited = fork();
  if (!unwaited) _exit(42);
  pid_t waited = fork();
  if (!waited) _exit(0);
  int of_alive = descriptor_of(alive, PIDFD_NONBLOCK_), of_unwaited = descriptor_of(unwaited, 0),
      of_waited = descriptor_of(waited, 0);
  CHECK(of_alive >= 0 && of_unwaited >= 0 && of_waited >= 0, "pidfd_open of children");
  MUST(!fcntl(of_unwaited, F_SETFD, 0));
  int again = fcntl(of_alive, F_DUPFD_CLOEXEC, 100);
  pid_t other = fork();
  if (!other) _exit(0);
  int waited_again = descriptor_of(waited, 0), of_other = descriptor_of(other, 0);
  CHECK(waited_again >= 0 && of_other >= 0, "pidfd_open of children that have ended");
  bool inodes = inode_of(waited_again) != inode_of(of_other); /* of its own for each process since Linux 6.9 */
  siginfo_t info;
  MUST(waitpid(other, NULL, 0) == other);
  MUST(!waitid(P_PID, unwaited, &info, WEXITED | WNOWAIT) && waitpid(waited, NULL, 0) == waited);
  _Atomic pid_t tid = 0;
  pthread_t thread = start_thread(waiter, (void *)&tid);
  while (!tid) pause_ms(1);
  int of_thread = descriptor_of(tid, PIDFD_THREAD_); /* since Linux 6.9 */
  CHECK(of_thread >= 0 || errno == EINVAL, "pidfd_open of a thread");
  int watcher = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {EPOLLIN, {.u64 = 0x1234}};
  MUST(watcher >= 0 && !epoll_ctl(watcher, EPOLL_CTL_ADD, of_alive, &event));
  feature_ready();
  while (!feature_finishing()) {
    CHECK(told(self) == getpid() && !send_to(self, 0), "the own descriptor is of %d", told(self));
    CHECK(told(of_alive) == alive && told(again) == alive && !ended(of_alive), "the living child's descriptor is of %d",
          told(of_alive));
    CHECK(told(of_unwaited) == unwaited && ended(of_unwaited), "the ended child's descriptor is of %d",
          told(of_unwaited));
    memset(&info, 0, sizeof info);
    CHECK(!waitid(P_PIDFD_, of_unwaited, &info, WEXITED | WNOWAIT | WNOHANG) && info.si_pid == unwaited &&
              info.si_status == 42,
          "the ended child's status is %d", info.si_status);
    CHECK(told(of_waited) == -1 && ended(of_waited), "the descriptor of a child that was waited for is of %d",
          told(of_waited));
    CHECK(!inodes || (inode_of(of_waited) == inode_of(waited_again) && inode_of(of_waited) != inode_of(of_other)),
          "descriptors of the same process that is gone are of others, or those of others of the same");
    CHECK(send_to(of_waited, 0) == -1 && errno == ESRCH, "a child that was waited for can be sent a signal");
    CHECK(waitid(P_PIDFD_, of_alive, &info, WEXITED) == -1 && errno == EAGAIN,
          "waiting for the living child blocks, or finds it ended");
    CHECK(epoll_wait(watcher, &event, 1, 0) == 0, "the living child is told as ended");
    CHECK(of_thread < 0 || (told(of_thread) == tid && !ended(of_thread) && !send_to(of_thread, 0)),
          "the thread's descriptor is of %d", told(of_thread));
    pause_ms(3);
  }
  join_thread(thread);
  for (int i = 0; of_thread >= 0 && !ended(of_thread); i++) {
    CHECK(i < 1000, "the thread's end is not told");
    pause_ms(5);
  }
  check_flags(self, O_RDWR, FD_CLOEXEC, "own descriptor");
  check_flags(of_alive, O_RDWR | O_NONBLOCK, FD_CLOEXEC, "descriptor of a child");
  check_flags(of_unwaited, O_RDWR, 0, "descriptor of an ended child");
  MUST(!send_to(again, SIGUSR1));
  CHECK(epoll_wait(watcher, &event, 1, 10000) == 1 && event.data.u64 == 0x1234, "the child's end is not told");
  memset(&info, 0, sizeof info);
  CHECK(!waitid(P_PIDFD_, of_alive, &info, WEXITED) && info.si_pid == alive && info.si_status == 7,
        "the child has ended with %d", info.si_status);
  CHECK(!waitid(P_PIDFD_, of_unwaited, &info, WEXITED) && info.si_status == 42, "the ended child's status is %d",
        info.si_status);
  CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
