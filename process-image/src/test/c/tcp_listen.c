/* Listening TCP sockets, connections that nobody has accepted yet, and sockets that are bound or new. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define WAITING 3

static struct sockaddr_in loopback(uint16_t port) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
}

static int bound(uint16_t *port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  int yes = 1; /* as servers do, so that the port's past connections are no obstacle (socket(7)) */
  MUST(fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
  MUST(!bind(fd, (void *)&address, length) && !getsockname(fd, (void *)&address, &length));
  *port = address.sin_port;
  return fd;
}

static int call(uint16_t port) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in to = loopback(port);
  MUST(fd >= 0);
  CHECK(!connect(fd, (void *)&to, sizeof to), "connect");
  return fd;
}

static uint16_t own_port(int fd) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  CHECK(!getsockname(fd, (void *)&address, &length), "getsockname");
  return address.sin_port;
}

static uint16_t peer_port(int fd) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  CHECK(!getpeername(fd, (void *)&address, &length), "getpeername");
  return address.sin_port;
}

/* Whoever called is accepted, in some order. */
static void accept_all(int listener, int *clients, uint16_t port) {
  bool seen[WAITING] = {false};
  for (int n = 0; n < WAITING; n++) {
    int server = accept(listener, NULL, NULL), who = 0;
    CHECK(server >= 0 && own_port(server) == port, "accept %d", n);
    while (who < WAITING && own_port(clients[who]) != peer_port(server)) who++;
    CHECK(who < WAITING && !seen[who], "accepted somebody else");
    seen[who] = true;
    char word[8];
    CHECK(send(clients[who], "calling", 7, 0) == 7 && recv(server, word, 7, MSG_WAITALL) == 7 &&
              !memcmp(word, "calling", 7),
          "the caller's words");
    CHECK(send(server, "hearing", 7, 0) == 7 && recv(clients[who], word, 7, MSG_WAITALL) == 7 &&
              !memcmp(word, "hearing", 7),
          "the answer");
    close(server);
  }
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  uint16_t port, idle_port, quiet_port;
  int busy = bound(&port), idle = bound(&idle_port), quiet = bound(&quiet_port),
      fresh = socket(AF_INET6, SOCK_STREAM, 0), clients[WAITING];
  int yes = 1;
  bool six = fresh >= 0;
  if (six) MUST(!setsockopt(fresh, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes));
  MUST(!listen(busy, WAITING) && !listen(idle, 1));
  for (int n = 0; n < WAITING; n++) clients[n] = call(port);
  uint16_t ports[WAITING];
  for (int n = 0; n < WAITING; n++) ports[n] = own_port(clients[n]);
  MUST(!shutdown(clients[1], SHUT_RD));
  feature_ready();
  while (!feature_finishing()) {
    int client = call(idle_port), server = accept(idle, NULL, NULL);
    CHECK(server >= 0 && peer_port(server) == own_port(client), "accept");
    close(server), close(client);
    pause_ms(50);
  }
  for (int n = 0; n < WAITING; n++)
    CHECK(own_port(clients[n]) == ports[n] && peer_port(clients[n]) == port, "the caller's name has changed");
  accept_all(busy, clients, port);
  CHECK(own_port(quiet) == quiet_port && !listen(quiet, 1), "the bound socket");
  close(call(quiet_port));
  socklen_t length = sizeof yes;
  if (six)
    CHECK(!getsockopt(fresh, IPPROTO_IPV6, IPV6_V6ONLY, &yes, &length) && yes == 1, "IPV6_V6ONLY of a new socket");
  return feature_pass();
}
