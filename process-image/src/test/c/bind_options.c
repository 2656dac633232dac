/* Options that let a socket be bound, and were switched off since: it is bound as it was, and has what it has. */
#include "feature.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

enum { ADDR, PORT, FREE, FREE6, OPTIONS };
static const int levels[] = {SOL_SOCKET, SOL_SOCKET, IPPROTO_IP, IPPROTO_IPV6},
                 options[] = {SO_REUSEADDR, SO_REUSEPORT, IP_FREEBIND, IPV6_FREEBIND};

static struct {
  const char *what;
  int fd, value[OPTIONS];
  struct sockaddr_storage name;
} all[32];
static int count;

static int get(int fd, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  return getsockopt(fd, levels[option], options[option], &value, &length) ? -1 : value;
}

static void set(int fd, int option, int value) {
  if (option < OPTIONS) MUST(!setsockopt(fd, levels[option], options[option], &value, sizeof value));
}

static void watch(const char *what, int fd) {
  socklen_t length = sizeof all[count].name;
  all[count].what = what, all[count].fd = fd;
  for (int o = 0; o < OPTIONS; o++) all[count].value[o] = get(fd, o);
  MUST(!getsockname(fd, (void *)&all[count].name, &length));
  count++;
}

/* Bound with the option switched on. Port 0 of the name becomes that which it got. */
static int bound(int type, int option, struct sockaddr_storage *name) {
  int fd = socket(name->ss_family, type | SOCK_NONBLOCK, 0);
  socklen_t length = name->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
  MUST(fd >= 0);
  set(fd, option, 1);
  CHECK(!bind(fd, (void *)name, length), "bind");
  MUST(!getsockname(fd, (void *)name, &length));
  return fd;
}

static struct sockaddr_storage address(const char *text) {
  struct sockaddr_storage name = {0};
  struct sockaddr_in *four = (void *)&name;
  struct sockaddr_in6 *six = (void *)&name;
  if (strchr(text, ':')) six->sin6_family = AF_INET6, inet_pton(AF_INET6, text, &six->sin6_addr);
  else four->sin_family = AF_INET, inet_pton(AF_INET, text, &four->sin_addr);
  return name;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sockaddr_storage here = address("127.0.0.1"), own = here, mixed = here, some = here, listening = here,
                          reused = here, away = address("198.51.100.7"), away_tcp = away,
                          other = address("198.51.100.8");
  int sender = bound(SOCK_DGRAM, OPTIONS, &own);
  /* UDP sockets that share a port, all, or all but one, of which have forgotten it; with datagrams in one of them. */
  int shared[2] = {bound(SOCK_DGRAM, PORT, &here), bound(SOCK_DGRAM, PORT, &here)};
  int half[2] = {bound(SOCK_DGRAM, PORT, &mixed), bound(SOCK_DGRAM, PORT, &mixed)};
  int again[2] = {bound(SOCK_DGRAM, ADDR, &some), bound(SOCK_DGRAM, ADDR, &some)};
  for (int n = 0; n < 4; n++)
    MUST(sendto(sender, &n, sizeof n, 0, (void *)&mixed, sizeof(struct sockaddr_in)) == sizeof n);
  for (int i = 0; i < 2; i++) set(shared[i], PORT, 0), set(again[i], ADDR, 0);
  set(half[0], PORT, 0);
  watch("a UDP socket that shares its port", shared[0]), watch("another one", shared[1]),
      watch("a UDP socket that shared its port", half[0]), watch("one that still does", half[1]);
  watch("a UDP socket that used an address again", again[0]), watch("another one of that", again[1]);
  /* TCP listeners, and bound ones. */
  int listeners[2] = {bound(SOCK_STREAM, PORT, &listening), bound(SOCK_STREAM, PORT, &listening)},
      pair[2] = {bound(SOCK_STREAM, ADDR, &reused), bound(SOCK_STREAM, ADDR, &reused)};
  for (int i = 0; i < 2; i++) MUST(!listen(listeners[i], 8));
  for (int i = 0; i < 2; i++) set(listeners[i], PORT, 0), set(pair[i], ADDR, 0);
  watch("a bound TCP socket", pair[0]), watch("another bound TCP socket", pair[1]);
  /* Addresses that this machine does not have. */
  int free_udp = bound(SOCK_DGRAM, FREE, &away), free_tcp = bound(SOCK_STREAM, FREE, &away_tcp),
      still = bound(SOCK_DGRAM, FREE, &other);
  MUST(!listen(free_tcp, 1));
  set(free_udp, FREE, 0), set(free_tcp, FREE, 0);
  watch("a UDP socket elsewhere", free_udp), watch("a UDP socket that may be elsewhere", still);
  struct sockaddr_storage six = address("2001:db8::7"), loopback = address("::1");
  int probe = socket(AF_INET6, SOCK_DGRAM, 0);
  if (probe >= 0 && !bind(probe, (void *)&loopback, sizeof(struct sockaddr_in6))) {
    int free_six = bound(SOCK_DGRAM, FREE6, &six);
    set(free_six, FREE6, 0);
    watch("an IPv6 socket elsewhere", free_six);
  }
  close(probe);
  struct sockaddr_storage names[2];
  int ports[2][2];
  for (int i = 0; i < 2; i++) {
    int fd = i ? free_tcp : listeners[0];
    socklen_t length = sizeof names[i];
    MUST(!getsockname(fd, (void *)&names[i], &length));
    ports[i][0] = get(fd, PORT), ports[i][1] = get(fd, FREE);
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++) {
      struct sockaddr_storage now = {0};
      socklen_t length = sizeof now;
      CHECK(!getsockname(all[i].fd, (void *)&now, &length) && !memcmp(&now, &all[i].name, length),
            "%s has another name", all[i].what);
      for (int o = 0; o < OPTIONS; o++)
        CHECK(get(all[i].fd, o) == all[i].value[o], "%s: option %d was %d, is %d", all[i].what, o, all[i].value[o],
              get(all[i].fd, o));
    }
    for (int i = 0; i < 2; i++) { /* a listener's SO_REUSEADDR is the checkpoint's: docs/internals/kinds.md */
      int fd = i ? free_tcp : listeners[0];
      struct sockaddr_storage now = {0};
      socklen_t length = sizeof now;
      CHECK(!getsockname(fd, (void *)&now, &length) && !memcmp(&now, &names[i], length), "a listener has another name");
      CHECK(get(fd, PORT) == ports[i][0] && get(fd, FREE) == ports[i][1], "a listener has other options");
    }
    pause_ms(5);
  }
  int value, got = 0;
  for (int i = 0; i < 2; i++)
    while (recv(half[i], &value, sizeof value, 0) == sizeof value) got++;
  CHECK(got == 4, "%d of 4 datagrams are left", got);
  for (int i = 0; i < 8; i++) {
    int calling = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(!connect(calling, (void *)&listening, sizeof(struct sockaddr_in)), "nobody listens");
    close(calling);
  }
  int third = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(bind(third, (void *)&here, sizeof(struct sockaddr_in)) && errno == EADDRINUSE, "the port is free for others");
  return feature_pass();
}
