/* Listeners of Multipath TCP, as servers written in Go open them, and clients that speak TCP only: a connection that
 * stays, others that come and go, one that waits to be accepted; sockets that were not bound yet. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static int protocol(int fd) {
  int value = 0;
  socklen_t length = sizeof value;
  MUST(!getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &value, &length));
  return value;
}

static int listener(int family, struct sockaddr_in6 *name) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  socklen_t length = sizeof *name;
  int fd = socket(family, SOCK_STREAM, IPPROTO_MPTCP), yes = 1;
  if (fd < 0) return -1; /* net.mptcp.enabled, or a kernel without it, or without IPv6 */
  MUST(!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  if (family == AF_INET6 ? bind(fd, (void *)&six, sizeof six) : bind(fd, (void *)&four, sizeof four)) {
    CHECK(family == AF_INET6, "bind: %s", strerror(errno));
    return -1;
  }
  MUST(!listen(fd, 5) && !getsockname(fd, (void *)name, &length));
  return fd;
}

static int call(const struct sockaddr_in6 *name) {
  int fd = socket(name->sin6_family, SOCK_STREAM, 0);
  MUST(fd >= 0);
  CHECK(!connect(fd, (void *)name, name->sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof *name),
        "connect: %s", strerror(errno));
  return fd;
}

static int accepted(int fd) {
  int one = accept(fd, NULL, NULL);
  CHECK(one >= 0 && protocol(one) == IPPROTO_TCP, "accepted %d of protocol %d", one, one < 0 ? 0 : protocol(one));
  return one;
}

static void echo(int from, int to, uint64_t word) {
  uint64_t got = 0;
  CHECK(send(from, &word, 8, 0) == 8 && recv(to, &got, 8, MSG_WAITALL) == 8 && got == word, "%lx became %lx", word,
        got);
}

/* A client that comes and goes. */
static void visit(int server, const struct sockaddr_in6 *name, uint64_t word) {
  int client = call(name), end = accepted(server);
  echo(client, end, word), echo(end, client, ~word);
  MUST(!close(client) && !close(end));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sockaddr_in6 name, six_name;
  int server = listener(AF_INET, &name), six = server < 0 ? -1 : listener(AF_INET6, &six_name), fresh, client, end;
  if (server < 0) {
    feature_ready();
    while (!feature_finishing()) pause_ms(20);
    return feature_pass();
  }
  fresh = socket(AF_INET, SOCK_STREAM, IPPROTO_MPTCP);
  client = call(&name), end = accepted(server);
  struct sockaddr_in6 queue_name;
  int queue = listener(AF_INET, &queue_name), waiting = call(&queue_name);
  feature_ready();
  for (uint64_t word = 1; !feature_finishing(); word = word * 6364136223846793005u + 1) {
    echo(client, end, word), echo(end, client, ~word);
    pause_ms(5);
  }
  visit(server, &name, 5);
  if (six >= 0) visit(six, &six_name, 6);
  CHECK(protocol(server) == IPPROTO_MPTCP && protocol(fresh) == IPPROTO_MPTCP, "protocols %d and %d", protocol(server),
        protocol(fresh));
  int late = accepted(queue);
  echo(waiting, late, 77);
  struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  CHECK(!bind(fresh, (void *)&any, sizeof any) && !listen(fresh, 1), "the new socket cannot listen");
  return feature_pass();
}
