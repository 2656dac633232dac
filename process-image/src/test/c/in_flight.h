/* Messages of unix sockets with descriptors and credentials (unix(7), cmsg(3)). */
#ifndef IN_FLIGHT_H
#define IN_FLIGHT_H
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>
#define MOST_SENT 16

typedef struct {
  char bytes[256];
  int length, count, sent[MOST_SENT];
  struct ucred sender; /* pid 0: none */
} Message;

/* sender: NULL for none. */
static inline void send_along(int fd, const char *bytes, size_t length, const int *sent, size_t count,
                              const struct ucred *sender) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(MOST_SENT * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
  } control = {0};
  struct iovec piece = {(void *)bytes, length};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  size_t used = 0;
  struct cmsghdr *one = CMSG_FIRSTHDR(&message);
  if (sender) {
    one->cmsg_level = SOL_SOCKET, one->cmsg_type = SCM_CREDENTIALS, one->cmsg_len = CMSG_LEN(sizeof *sender);
    memcpy(CMSG_DATA(one), sender, sizeof *sender);
    used += CMSG_SPACE(sizeof *sender);
    one = (struct cmsghdr *)(control.bytes + used);
  }
  if (count) {
    one->cmsg_level = SOL_SOCKET, one->cmsg_type = SCM_RIGHTS, one->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(one), sent, count * sizeof(int));
    used += CMSG_SPACE(count * sizeof(int));
  }
  message.msg_controllen = used;
  if (!used) message.msg_control = NULL;
  ssize_t n = sendmsg(fd, &message, MSG_DONTWAIT);
  CHECK(n == (ssize_t)length, "sent %zd bytes", n);
}

static inline void send_one(int fd, const char *text, int sent) {
  send_along(fd, text, strlen(text), &sent, 1, NULL);
}

static inline Message receive(int fd) {
  Message got = {.length = -1};
  union {
    struct cmsghdr align;
    char bytes[1024];
  } control;
  struct iovec piece = {got.bytes, sizeof got.bytes - 1};
  struct msghdr message = {
      .msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
  got.length = (int)recvmsg(fd, &message, MSG_DONTWAIT);
  CHECK(got.length >= 0 && !(message.msg_flags & MSG_CTRUNC), "receive");
  for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); one; one = CMSG_NXTHDR(&message, one)) {
    size_t bytes = one->cmsg_len - CMSG_LEN(0);
    if (one->cmsg_type == SCM_RIGHTS) {
      got.count = (int)(bytes / sizeof(int));
      CHECK(got.count <= MOST_SENT, "%d descriptors", got.count);
      memcpy(got.sent, CMSG_DATA(one), bytes);
    } else if (one->cmsg_type == SCM_CREDENTIALS) memcpy(&got.sender, CMSG_DATA(one), sizeof got.sender);
  }
  return got;
}

/* The message has these bytes and so many descriptors. */
static inline Message expect(int fd, const char *text, int count) {
  Message got = receive(fd);
  CHECK(!strcmp(got.bytes, text) && got.count == count, "\"%s\" with %d descriptors, not \"%s\" with %d", got.bytes,
        got.count, text, count);
  return got;
}

static inline void expect_empty(int fd) {
  char byte;
  CHECK(recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "more than was sent");
}
#endif
