/* What processes share by fork(2) and SCM_RIGHTS, and what they do not: kcmp(2) says the same of all descriptors before
 * and after. */
#include "feature.h"
#include <linux/kcmp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PROCESSES = 3, DESCRIPTORS = 14, MOST = 2 * PROCESSES * DESCRIPTORS };
static int descriptors[DESCRIPTORS], count;
static pid_t pids[PROCESSES];

static void keep(int fd) {
  CHECK(fd >= 0 && count < DESCRIPTORS, "a descriptor to share");
  descriptors[count++] = fd;
}

static void send_descriptor(int socket, int fd) {
  char byte = 'x', control[CMSG_SPACE(sizeof fd)] = {0};
  struct msghdr message = {
      .msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  *rights = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  MUST(sendmsg(socket, &message, 0) == 1);
}

static int receive_descriptor(int socket) {
  char byte, control[CMSG_SPACE(sizeof(int))];
  struct msghdr message = {
      .msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  MUST(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
  int fd;
  memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
  return fd;
}

/* 0: the same open file; -1: not. The order that kcmp gives besides is that of kernel addresses. */
static int compare(int one, int fd, int other, int other_fd) {
  long result = syscall(SYS_kcmp, pids[one], pids[other], KCMP_FILE, fd, other_fd);
  if (result < 0) return errno == EBADF ? -2 : -3;
  return result ? -1 : 0;
}

static void look(signed char *relations) {
  int at = 0;
  for (int one = 0; one < PROCESSES; one++)
    for (int other = 0; other < PROCESSES; other++)
      for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
          int relation = compare(one, descriptors[i], other, descriptors[j]);
          CHECK(relation != -3, "kcmp of %d and %d", pids[one], pids[other]);
          relations[at++] = (signed char)relation;
        }
}

static void serve(int link, int which) {
  feature_child();
  if (which == 1) {
    int own = open_scratch("file.txt", O_RDWR), got = receive_descriptor(link);
    MUST(own >= 0 && got >= 0 && dup2(own, descriptors[1]) >= 0 &&
         !close(own)); /* the number of another process's is of its own here */
    MUST(dup2(got, 150) == 150 && !close(got));
  }
  MUST(write(link, "!", 1) == 1);
  char byte;
  MUST(read(link, &byte, 1) == 0);
  _exit(0);
}

int main(int argc, char **argv) {
  static signed char before[MOST * MOST], now[MOST * MOST];
  feature_start(argc, argv);
  int pair[2], pipes[2], links[PROCESSES][2];
  keep(open_scratch("file.txt", O_RDWR | O_CREAT)), keep(open_scratch("file.txt", O_RDWR)), keep(dup(descriptors[0]));
  MUST(!pipe(pipes) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  keep(pipes[0]), keep(pipes[1]), keep(dup(pipes[1])), keep(pair[0]), keep(pair[1]), keep(eventfd(0, 0)),
      keep(epoll_create1(0)), keep(dup(descriptors[9]));
  keep(150); /* nobody's at first */
  MUST(!epoll_ctl(descriptors[9], EPOLL_CTL_ADD, descriptors[8], &(struct epoll_event){.events = EPOLLIN}));
  pids[0] = getpid();
  for (int i = 1; i < PROCESSES; i++) {
    MUST(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links[i]));
    pids[i] = fork();
    MUST(pids[i] >= 0);
    if (!pids[i]) {
      for (int j = 1; j <= i; j++) close(links[j][0]);
      serve(links[i][1], i);
    }
    close(links[i][1]);
  }
  int secret = open_scratch("file.txt", O_RDONLY); /* after the fork: the first child gets it through a socket */
  send_descriptor(links[1][0], secret);
  keep(secret);
  char byte;
  for (int i = 1; i < PROCESSES; i++) MUST(read(links[i][0], &byte, 1) == 1);
  look(before);
  int relations = PROCESSES * PROCESSES * count * count;
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    look(now);
    CHECK(!memcmp(before, now, relations), "two descriptors are no longer (or now) of one open file");
    CHECK(!compare(0, secret, 1, 150) && compare(0, descriptors[1], 1, descriptors[1]) == -1,
          "a descriptor that came through a socket");
    struct kcmp_epoll_slot slot = {.efd = (uint32_t)descriptors[9], .tfd = (uint32_t)descriptors[8]};
    CHECK(!syscall(SYS_kcmp, pids[2], pids[0], KCMP_EPOLL_TFD, descriptors[8], &slot),
          "an inherited epoll descriptor watches another file");
    for (int kind = KCMP_VM; kind <= KCMP_FS; kind++)
      CHECK(syscall(SYS_kcmp, pids[0], pids[1], kind, 0, 0) > 0, "a parent and its child share something (kcmp %d)",
            kind);
    pause_ms(5);
  }
  for (int i = 1; i < PROCESSES; i++) {
    int status;
    close(links[i][0]);
    CHECK(waitpid(pids[i], &status, 0) == pids[i] && !status, "child %d ended with %#x", i, status);
  }
  return feature_pass();
}
