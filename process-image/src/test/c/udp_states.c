/* UDP sockets that were shut (shutdown(2)) in each direction, with a peer and without, one with a datagram that was not
 * read; one that is corked and has nothing to send; UDP-Lite, with its coverage. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>

#define IPPROTO_LITE 136

enum { SHUT = 6 };
static int shut[SHUT], senders[SHUT];

static struct sockaddr_in name_of(int fd) {
  struct sockaddr_in name;
  socklen_t length = sizeof name;
  MUST(!getsockname(fd, (void *)&name, &length));
  return name;
}

static int bound(int protocol) {
  int fd = socket(AF_INET, SOCK_DGRAM, protocol);
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  MUST(fd < 0 || !bind(fd, (void *)&any, sizeof any));
  return fd;
}

static void join(int fd, int to) {
  struct sockaddr_in name = name_of(to);
  MUST(!connect(fd, (void *)&name, sizeof name));
}

static int events(int fd) {
  struct pollfd one = {.fd = fd, .events = POLLIN | POLLRDHUP};
  MUST(poll(&one, 1, 0) >= 0);
  return one.revents & (POLLIN | POLLRDHUP | POLLHUP);
}

/* Shut number I is shut as shutdown(2) is told by I modulo 3; the first three have a peer. Each has one datagram. */
static void make(int i) {
  shut[i] = bound(0), senders[i] = bound(0);
  if (i < 3) join(shut[i], senders[i]);
  join(senders[i], shut[i]);
  MUST(send(senders[i], "unread", 6, 0) == 6);
  MUST(!shutdown(shut[i], i % 3) || (i >= 3 && errno == ENOTCONN));
}

static void check_shut(int i) {
  int how = i % 3, sees = POLLIN | (how == SHUT_WR ? 0 : POLLRDHUP) | (how == SHUT_RDWR ? POLLHUP : 0);
  CHECK(events(shut[i]) == sees, "socket %d: poll says 0x%x, not 0x%x", i, events(shut[i]), sees);
  struct sockaddr_in to = name_of(senders[i]);
  struct sockaddr *name = i < 3 ? NULL : (void *)&to;
  ssize_t sent = sendto(shut[i], "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT, name, name ? sizeof to : 0);
  char got;
  if (how == SHUT_RD) {
    CHECK(sent == 1 && recv(senders[i], &got, 1, 0) == 1 && got == 'x', "socket %d does not send", i);
  } else CHECK(sent < 0 && errno == EPIPE, "socket %d: %zd, %s, where it is shut", i, sent, strerror(errno));
}

static void check_unread(int i) {
  char got[8];
  CHECK(recv(shut[i], got, sizeof got, MSG_DONTWAIT) == 6 && !memcmp(got, "unread", 6), "socket %d: another datagram",
        i);
}

/* Who reads from a socket that was shut for receiving does not wait, and is told the end. */
static void check_end(int i) {
  char got;
  CHECK(i % 3 == SHUT_WR || recv(shut[i], &got, 1, 0) == 0, "socket %d: no end", i);
}

static void check_corked(int corked, int to) {
  int value = 0;
  socklen_t length = sizeof value;
  CHECK(!getsockopt(corked, IPPROTO_UDP, UDP_CORK, &value, &length) && value == 1, "UDP_CORK is %d", value);
  char got[8];
  int off = 0, on = 1;
  MUST(send(corked, "half", 4, 0) == 4);
  CHECK(recv(to, got, sizeof got, MSG_DONTWAIT) < 0 && errno == EAGAIN, "a corked socket sends at once");
  MUST(!setsockopt(corked, IPPROTO_UDP, UDP_CORK, &off, sizeof off));
  CHECK(recv(to, got, sizeof got, 0) == 4, "what was corked does not come");
  MUST(!setsockopt(corked, IPPROTO_UDP, UDP_CORK, &on, sizeof on));
}

static void check_lite(int from, int to) {
  int protocol = 0, coverage = 0;
  socklen_t length = sizeof protocol;
  MUST(!getsockopt(from, SOL_SOCKET, SO_PROTOCOL, &protocol, &length));
  CHECK(protocol == IPPROTO_LITE, "protocol %d", protocol);
  CHECK(!getsockopt(from, IPPROTO_LITE, 10 /* UDPLITE_SEND_CSCOV */, &coverage, &length) && coverage == 20,
        "coverage %d", coverage);
  char got[8];
  CHECK(send(from, "lite", 4, 0) == 4 && recv(to, got, sizeof got, 0) == 4, "UDP-Lite does not arrive");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  signal(SIGPIPE, SIG_DFL);
  for (int i = 0; i < SHUT; i++) make(i);
  int to = bound(0), corked = bound(0), on = 1, coverage = 20;
  join(corked, to);
  MUST(!setsockopt(corked, IPPROTO_UDP, UDP_CORK, &on, sizeof on));
  int lite = bound(IPPROTO_LITE), lite_to = bound(IPPROTO_LITE); /* the machine may have none */
  if (lite >= 0) {
    MUST(!setsockopt(lite, IPPROTO_LITE, 10, &coverage, sizeof coverage));
    join(lite, lite_to);
    MUST(send(lite, "before", 6, 0) == 6);
  }
  feature_ready();
  for (int i = 0; !feature_finishing(); i = (i + 1) % SHUT) check_shut(i), pause_ms(2);
  char got[8];
  if (lite >= 0) {
    CHECK(recv(lite_to, got, sizeof got, MSG_DONTWAIT) == 6 && !memcmp(got, "before", 6), "UDP-Lite: another datagram");
    check_lite(lite, lite_to);
  }
  for (int i = 0; i < SHUT; i++) check_shut(i), check_unread(i), check_end(i);
  check_corked(corked, to);
  return feature_pass();
}
