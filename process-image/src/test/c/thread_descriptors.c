/* Threads with a table of descriptors of their own (unshare(2), CLONE_FILES): numbers that stand for something else
 * than in the process, exchanged numbers, objects that no process has, an epoll of such, and an empty table; beside a
 * thread that has the process's, and a child that such a thread has made. */
#include "feature.h"
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { THREADS = 4, HIGH = 700 };

static int low, other;  /* of the process: files */
static char *file_name; /* open in a thread alone */
static _Atomic int begun, child;
static _Atomic bool closed;

static ino_t inode(int fd) {
  struct stat stat;
  return fstat(fd, &stat) ? 0 : stat.st_ino;
}

static int count_open(void) {
  int open = 0;
  for (int fd = 0; fd < 1024; fd++) open += fcntl(fd, F_GETFD) >= 0;
  return open;
}

static void begin(void) {
  begun++;
  while (!closed) pause_ms(1);
}

/* The process's two numbers the other way round, and a third that the process does not have. */
static void exchange(void) {
  ino_t first = inode(low), second = inode(other);
  MUST(!unshare(CLONE_FILES));
  int kept = dup(low);
  MUST(kept >= 0 && dup2(other, low) == low && dup3(kept, other, O_CLOEXEC) == other && !close(kept));
  MUST(dup2(low, HIGH) == HIGH);
  pid_t pid = fork();
  MUST(pid >= 0);
  if (!pid) {
    feature_child();
    while (!feature_finishing()) {
      CHECK(inode(low) == second && inode(HIGH) == second, "the child's files");
      pause_ms(3);
    }
    _exit(0);
  }
  child = pid;
  begin();
  int open = count_open();
  while (!feature_over) {
    CHECK(inode(low) == second && inode(other) == first && inode(HIGH) == second,
          "descriptors are not exchanged: %lu, %lu and %lu, not %lu, %lu and %lu", inode(low), inode(other),
          inode(HIGH), second, first, second);
    CHECK(!fcntl(low, F_GETFD) && fcntl(other, F_GETFD) == FD_CLOEXEC && !fcntl(HIGH, F_GETFD), "close-on-exec");
    CHECK(count_open() == open, "%d descriptors are open, not %d", count_open(), open);
    pause_ms(2);
  }
}

/* What no process has: a file with its position, a pair of sockets with data, an eventfd in an epoll, a memfd. */
static void have_alone(void) {
  MUST(!unshare(CLONE_FILES));
  for (int fd = 3; fd < 1024; fd++) MUST(!close(fd) || errno == EBADF);
  int file = open(file_name, O_RDWR | O_CREAT | O_TRUNC, 0600), pair[2], event = eventfd(0, EFD_NONBLOCK);
  int poll = epoll_create1(EPOLL_CLOEXEC), memory = memfd_create("alone", 0);
  MUST(file >= 0 && event >= 0 && poll >= 0 && memory >= 0 && write(file, "0123456789", 10) == 10);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && write(memory, "memory", 6) == 6);
  struct epoll_event watched = {.events = EPOLLIN, .data.u64 = 0x1122334455667788};
  MUST(!epoll_ctl(poll, EPOLL_CTL_ADD, event, &watched));
  uint64_t rounds = 0;
  begin();
  int open = count_open();
  while (!feature_over) {
    char text[16] = {0};
    uint64_t sent = ++rounds, got = 0, value = 0;
    struct epoll_event ready = {0};
    CHECK(pread(file, text, 10, 0) == 10 && !strcmp(text, "0123456789"), "the file has '%s'", text);
    CHECK(lseek(file, 0, SEEK_CUR) == (off_t)(10 + (rounds - 1) % 5), "the file's position");
    MUST(lseek(file, (off_t)(10 + rounds % 5), SEEK_SET) >= 0);
    MUST(write(pair[0], &sent, sizeof sent) == sizeof sent);
    pause_ms(1);
    ssize_t count = read(pair[1], &got, sizeof got);
    CHECK(count == sizeof got && got == sent, "the sockets gave %zd bytes, %llu of %llu", count,
          (unsigned long long)got, (unsigned long long)sent);
    MUST(write(event, &sent, sizeof sent) == sizeof sent);
    CHECK(epoll_wait(poll, &ready, 1, 0) == 1 && ready.data.u64 == watched.data.u64, "the epoll does not tell");
    CHECK(read(event, &value, sizeof value) == sizeof value && value == sent, "the eventfd had %llu",
          (unsigned long long)value);
    CHECK(pread(memory, text, 6, 0) == 6 && !memcmp(text, "memory", 6), "the memory file");
    CHECK(count_open() == open, "%d descriptors are open, not %d", count_open(), open);
  }
}

static void have_none(void) {
  MUST(!unshare(CLONE_FILES));
  for (int fd = 0; fd < 1024; fd++) MUST(!close(fd) || errno == EBADF);
  begin();
  while (!feature_over) {
    int open = count_open();
    if (open) _exit(70 + open); /* nothing is open to tell it */
    pause_ms(2);
  }
}

static void have_process(void) {
  ino_t first = inode(low), second = inode(other);
  begin();
  while (!feature_over) {
    CHECK(inode(low) == first && inode(other) == second, "the process's descriptors");
    pause_ms(2);
  }
}

static void *work(void *argument) {
  static void (*const kinds[])(void) = {exchange, have_alone, have_none, have_process};
  kinds[(intptr_t)argument]();
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  low = open(scratch("first"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  other = open(scratch("second"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  MUST(low >= 0 && other >= 0);
  MUST(asprintf(&file_name, "%s/alone", feature_scratch) > 0);
  pthread_t threads[THREADS];
  for (intptr_t i = 0; i < THREADS; i++) OK(pthread_create(&threads[i], NULL, work, (void *)i));
  while (begun < THREADS) pause_ms(1);
  closed = true;
  feature_ready();
  ino_t first = inode(low), second = inode(other);
  int open = count_open();
  while (!feature_finishing()) {
    CHECK(inode(low) == first && inode(other) == second && first != second, "the process's files");
    CHECK(count_open() == open, "%d descriptors are open, not %d", count_open(), open);
    pause_ms(2);
  }
  int status;
  for (int i = 0; i < THREADS; i++) OK(pthread_join(threads[i], NULL));
  MUST(waitpid(child, &status, 0) == child && !status);
  return feature_pass();
}
