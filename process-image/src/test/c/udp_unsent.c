/* UDP sockets that collect a datagram (UDP_CORK, MSG_MORE): from one call and from several, to where they are connected
 * and to another address, in both families and from one to the other, long ones, empty ones, one that was shut and one
 * that a child has too. What they had collected is sent with what comes behind it. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MOST 60000

typedef struct {
  int fd, to, cork, named, mapped, calls, bytes; /* bytes of each call */
} Sender;

static Sender senders[64];
static int count;
static char text[MOST], got[MOST + 1];

static int bound(int family, struct sockaddr_storage *name, socklen_t *length) {
  int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  memset(name, 0, sizeof *name);
  *length = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  name->ss_family = family;
  if (family == AF_INET) ((struct sockaddr_in *)name)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  else ((struct sockaddr_in6 *)name)->sin6_addr = in6addr_loopback;
  if (fd < 0 || bind(fd, (void *)name, *length)) return -1;
  MUST(!getsockname(fd, (void *)name, length));
  return fd;
}

static void collect(Sender one) {
  struct sockaddr_storage name;
  socklen_t length;
  one.to = bound(one.mapped ? AF_INET : senders[count].fd, &name, &length);
  if (one.to < 0) return; /* no IPv6 here */
  one.fd = socket(senders[count].fd, SOCK_DGRAM, 0);
  MUST(one.fd >= 0);
  if (one.mapped) {
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = ((struct sockaddr_in *)&name)->sin_port};
    MUST(inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr) == 1);
    memcpy(&name, &six, sizeof six), length = sizeof six;
  }
  if (!one.named) MUST(!connect(one.fd, (void *)&name, length));
  if (one.cork) MUST(!setsockopt(one.fd, IPPROTO_UDP, UDP_CORK, &(int){1}, sizeof(int)));
  for (int i = 0; i < one.calls; i++)
    MUST(sendto(one.fd, text + i * one.bytes, one.bytes, one.cork ? 0 : MSG_MORE, one.named ? (void *)&name : NULL,
                one.named ? length : 0) == one.bytes);
  senders[count++] = one;
}

static void ends(Sender *one) {
  int sent = one->calls * one->bytes;
  CHECK(recv(one->to, got, sizeof got, MSG_DONTWAIT) < 0 && errno == EAGAIN, "a datagram was sent before its end");
  if (one->cork) MUST(!setsockopt(one->fd, IPPROTO_UDP, UDP_CORK, &(int){0}, sizeof(int)));
  else
    CHECK(send(one->fd, "end", 3, 0) == 3, "the end of a datagram to %s address: %s", one->named ? "an" : "its",
          strerror(errno));
  ssize_t n = recv(one->to, got, sizeof got, 0), want = sent + (one->cork ? 0 : 3);
  CHECK(n == want && !memcmp(got, text, sent) && (one->cork || !memcmp(got + sent, "end", 3)),
        "cork %d, named %d, %d calls of %d: a datagram of %zd bytes, not %zd", one->cork, one->named, one->calls,
        one->bytes, n, want);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int i = 0; i < MOST; i++) text[i] = (char)(i * 7 + i / 256);
  for (int family = AF_INET; family; family = family == AF_INET ? AF_INET6 : 0)
    for (int how = 0; how < 4; how++)
      for (int size = 0; size < 4; size++) {
        senders[count].fd = family;
        collect((Sender){.cork = how & 1,
                         .named = how >> 1,
                         .calls = size == 1 ? 1 : size + 1,
                         .bytes = size == 0   ? 0
                                  : size == 3 ? 14000
                                              : 1000});
      }
  senders[count].fd = AF_INET6;
  collect((Sender){.cork = 1, .mapped = 1, .calls = 2, .bytes = 100});
  senders[count].fd = AF_INET6;
  collect((Sender){.cork = 1, .mapped = 1, .named = 1, .calls = 3, .bytes = 100});
  senders[count].fd = AF_INET;
  collect((Sender){.cork = 1, .calls = 2, .bytes = 50});
  MUST(!shutdown(senders[count - 1].fd, SHUT_RD));
  int go[2];
  MUST(!pipe(go));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    char byte;
    MUST(read(go[0], &byte, 1) == 1);
    ends(&senders[1]);
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) pause_ms(2);
  MUST(write(go[1], "x", 1) == 1);
  int status;
  MUST(waitpid(child, &status, 0) == child);
  CHECK(!status, "the child's status is %x", status);
  for (int i = 0; i < count; i++)
    if (i != 1) ends(&senders[i]);
  return feature_pass();
}
