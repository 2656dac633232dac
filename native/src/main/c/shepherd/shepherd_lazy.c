/*
 * Memory that is still in the image. The processes of a restored job run while the agent fills their memory through
 * userfaultfd(2) descriptors. When the last descriptor of such a context is closed, the kernel lets missing pages read
 * as zeros: the job would compute on with wrong memory. So this process holds each of them too, and when the agent is
 * lost before all memory is in, it ends the job before it lets go.
 *
 * Reading the event of a fork(2) makes the descriptor of the child's memory, in the process that reads. It is read
 * here, when the agent asks, so that at no moment the agent alone has it. */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shepherd.h"

enum { LAZY_HOLD = 1, LAZY_READ = 2, LAZY_RELEASE = 3, LAZY_ABANDON = 4 }; /* also in Keeper.java */
enum { LAZY_EVENTS = 16 };                                                 /* messages of one answer */

struct request { /* from the agent; HOLD brings the descriptor with it */
  int operation, key;
};

union control { /* cmsg(3) */
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int) * LAZY_EVENTS)];
};

static int agent = -1, spare = -1; /* our end of the pair, and the agent's until it has taken it */
static int *held, size;            /* by key: a descriptor, or -1 */

int lazy_fd(void) {
  return agent;
}

void lazy_open(void) {
  int pair[2];
  if (agent >= 0) {
    agent_say("error lazy: already open");
  } else if (!namespaces_restored()) {
    agent_say("error lazy: this shepherd was not started with --restore");
  } else if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
    agent_say("error lazy: socketpair: %s", strerror(errno));
  } else {
    agent = pair[0];
    spare = pair[1];
    agent_say("lazy %d", spare);
  }
}

bool lazy_taken(int fd) {
  if (fd < 0 || fd != spare) return false;
  close(spare);
  spare = -1;
  return true;
}

/* Returns the key, or -1 with errno. */
static int keep(int fd) {
  int key = 0;
  while (key < size && held[key] >= 0) key++;
  if (key == size) {
    int *larger = realloc(held, sizeof *held * (size + 1));
    if (!larger) return -1;
    held = larger;
    size++;
  }
  held[key] = fd;
  return key;
}

static void close_all(void) {
  for (int key = 0; key < size; key++)
    if (held[key] >= 0) close(held[key]);
  free(held);
  held = NULL;
  size = 0;
  close(agent);
  agent = -1;
}

void lazy_lost(void) {
  bool any = false;
  for (int key = 0; key < size; key++) any |= held[key] >= 0;
  if (agent >= 0 && !any) close_all();
  if (!any) return;
  children_kill_all();
  fprintf(stderr,
          "udckpt: the agent of this job is gone while memory was still being read from the checkpoint: the "
          "job ends; restart it\n");
  job_set_code(1);
  shepherd_exit();
}

static void answer(const void *bytes, size_t count, const int *fds, int fd_count) {
  struct iovec part = {(void *)bytes, count};
  union control control = {0};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd_count > 0) {
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
    control.header = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int) * fd_count)};
    memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * fd_count);
  }
  while (sendmsg(agent, &message, MSG_NOSIGNAL) < 0) {
    if (errno == EINTR) continue;
    lazy_lost(); /* also when there was no memory for it: the agent would wait for ever for an answer that is lost */
    return;
  }
}

static void answer_number(int number) {
  answer(&number, sizeof number, NULL, 0);
}

/* All messages that wait; a fork's names our key in the place of the descriptor, which goes with it. Or -errno
 * alone. */
static void read_events(int key) {
  struct uffd_msg messages[LAZY_EVENTS];
  int fds[LAZY_EVENTS], count = 0;
  ssize_t n = read(held[key], messages, sizeof messages);
  if (n < 0) {
    answer_number(-errno); /* EAGAIN: none waits */
    return;
  }
  for (int i = 0; i < n / (ssize_t)sizeof *messages; i++) {
    if (messages[i].event != UFFD_EVENT_FORK) continue;
    int child = keep(messages[i].arg.fork.ufd);
    if (child < 0) { /* without it, the child's memory cannot be filled */
      children_kill_all();
      fprintf(stderr, "udckpt: shepherd: no memory to keep a forked process's userfaultfd: the job ends\n");
      job_set_code(1);
      shepherd_exit();
    }
    fds[count++] = held[child];
    messages[i].arg.fork.ufd = child;
  }
  answer(messages, n, fds, count);
}

static bool known(int key) {
  return key >= 0 && key < size && held[key] >= 0;
}

static void hold(int fd) {
  int key = fd < 0 ? -1 : keep(fd);
  if (fd >= 0 && key < 0) close(fd);
  answer_number(fd < 0 ? -EBADF : key < 0 ? -ENOMEM : key);
}

static void perform(const struct request *request, int fd) {
  if (request->operation == LAZY_HOLD) {
    hold(fd);
    return;
  }
  if (fd >= 0) close(fd); /* nobody asked for it */
  switch (request->operation) {
    case LAZY_READ:
      if (known(request->key)) read_events(request->key);
      else answer_number(-EBADF);
      return;
    case LAZY_RELEASE:
      if (!known(request->key)) return;
      close(held[request->key]);
      held[request->key] = -1;
      return;
    case LAZY_ABANDON:
      children_kill_all();
      close_all();
      return;
  }
}

/* The descriptor that came with a message; -1: none. There is no use for a second one. */
static int take_descriptor(struct msghdr *message) {
  int first = -1;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof first;
    for (size_t i = 0; i < count; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
      if (first < 0) first = fd;
      else close(fd);
    }
  }
  return first;
}

void lazy_readable(void) {
  struct request request;
  struct iovec part = {&request, sizeof request};
  union control control;
  struct msghdr message = {
      .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  ssize_t n = recvmsg(agent, &message, MSG_CMSG_CLOEXEC);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  int fd = n >= 0 ? take_descriptor(&message) : -1; /* a message without a byte may have some, too */
  if (n != sizeof request) {
    if (fd >= 0) close(fd);
    lazy_lost();
    return;
  }
  perform(&request, fd);
}
