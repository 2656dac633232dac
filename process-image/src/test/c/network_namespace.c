/* Processes in network namespaces of their own, which have only the loopback device: as root makes them, and by way of
 * a user namespace. With connections that have data in flight or wait to be accepted, datagrams, settings, an address;
 * names and ports are the same as outside. Sockets that were made outside stay there, whoever has them.
 */
#include "own_user.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

enum { LARGE = 300000 };

static uint16_t port;                 /* of listeners, outside and inside */
static struct sockaddr_un name, path; /* of listeners: outside and inside; of one inside */
static socklen_t name_bytes;
static int before_pair[2], before_server; /* made before any is in a namespace of its own */

static void check_text(const char *file, const char *text) {
  char got[256] = "";
  int fd = open(file, O_RDONLY);
  ssize_t bytes = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s', not '%s'", file, got, text);
  MUST(!close(fd));
}

static uint64_t network_of(int socket) {
  uint64_t cookie = 0;
  socklen_t length = sizeof cookie;
  MUST(!getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &length) && cookie);
  return cookie;
}

static uint64_t own_network(void) {
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  MUST(fd >= 0);
  uint64_t cookie = network_of(fd);
  MUST(!close(fd));
  return cookie;
}

/* In a restart between the two looks the namespace comes to another number. */
static bool in_own_network(int socket) {
  return network_of(socket) == own_network() || network_of(socket) == own_network();
}

static struct sockaddr_in at(const char *address, uint16_t number) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(number)};
  MUST(inet_pton(AF_INET, address, &to.sin_addr) == 1);
  return to;
}

static int server(const char *address, uint16_t number) {
  struct sockaddr_in to = at(address, number);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&to, sizeof to) && !listen(fd, 5));
  return fd;
}

static int client(const char *address, uint16_t number) {
  struct sockaddr_in to = at(address, number);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  MUST(fd >= 0);
  CHECK(!connect(fd, (struct sockaddr *)&to, sizeof to), "connect to %s, port %u", address, number);
  return fd;
}

static uint16_t port_of(int fd) {
  struct sockaddr_in bound;
  socklen_t length = sizeof bound;
  MUST(!getsockname(fd, (struct sockaddr *)&bound, &length));
  return ntohs(bound.sin_port);
}

static int unix_server(const struct sockaddr_un *to, socklen_t bytes) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  MUST(fd >= 0 && !bind(fd, (const struct sockaddr *)to, bytes) && !listen(fd, 5));
  return fd;
}

static int unix_client(const struct sockaddr_un *to, socklen_t bytes) {
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  MUST(fd >= 0);
  CHECK(!connect(fd, (const struct sockaddr *)to, bytes), "connect to %s", to->sun_path[0] ? to->sun_path : "a name");
  return fd;
}

static void expect(int fd, const char *text, const char *what) {
  char got[64] = "";
  struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
  CHECK(poll(&poll_fd, 1, 10000) == 1, "%s: nothing comes", what);
  ssize_t bytes = recv(fd, got, sizeof got - 1, 0);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s: '%s' has come, not '%s'", what, got, text);
}

static void say(int fd, const char *text) {
  MUST(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
}

static void enter(bool user) {
  if (user) own_user(CLONE_NEWNET, 0, 0);
  else MUST(!unshare(CLONE_NEWNET));
}

static short flags_of(const char *device) {
  struct ifreq request = {0};
  strncpy(request.ifr_name, device, IFNAMSIZ - 1);
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  MUST(fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &request) && !close(fd));
  return request.ifr_flags;
}

static void set_up(bool user) {
  struct ifreq request = {0};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  strncpy(request.ifr_name, "lo", IFNAMSIZ - 1);
  MUST(fd >= 0 && !ioctl(fd, SIOCGIFFLAGS, &request));
  request.ifr_flags |= IFF_UP;
  MUST(!ioctl(fd, SIOCSIFFLAGS, &request));
  if (user) {
    request.ifr_mtu = 40000;
    MUST(!ioctl(fd, SIOCSIFMTU, &request));
  }
  strncpy(request.ifr_name, "lo:more", IFNAMSIZ - 1);
  struct sockaddr_in address = at("10.9.8.7", 0);
  memcpy(&request.ifr_addr, &address, sizeof address);
  MUST(!ioctl(fd, SIOCSIFADDR, &request) && !close(fd));
  write_file("/proc/sys/net/ipv4/ip_unprivileged_port_start", "81\n");
  write_file("/proc/sys/net/ipv4/ip_local_port_range", "41000 41900\n");
  write_file("/proc/sys/net/ipv4/ping_group_range", "0 0\n");
  write_file("/proc/sys/net/unix/max_dgram_qlen", "33\n");
  if (user) write_file("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1\n");
}

static void check_set_up(bool user) {
  check_text("/proc/sys/net/ipv4/ip_unprivileged_port_start", "81\n");
  check_text("/proc/sys/net/ipv4/ip_local_port_range", "41000\t41900\n");
  check_text("/proc/sys/net/ipv4/ping_group_range", "0\t0\n");
  check_text("/proc/sys/net/unix/max_dgram_qlen", "33\n");
  check_text("/proc/sys/net/ipv6/conf/lo/disable_ipv6", user ? "1\n" : "0\n");
  CHECK(flags_of("lo") & IFF_UP, "the loopback device is down");
  CHECK(flags_of("lo:more") & IFF_UP, "the second address is down");
  struct ifreq request = {.ifr_name = "lo"};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  MUST(!ioctl(fd, SIOCGIFMTU, &request) && !close(fd));
  CHECK(request.ifr_mtu == (user ? 40000 : 65536), "the loopback device's mtu is %d", request.ifr_mtu);
}

static void *thread(void *unused) {
  (void)unused;
  Identity self = identity();
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  MUST(fd >= 0);
  while (!feature_over) {
    check_identity(&self);
    CHECK(in_own_network(fd), "a thread is in another network namespace");
    pause_ms(5);
  }
  return NULL;
}

/* Has the parent's sockets, and calls it. */
static pid_t child_of(int pair) {
  pid_t child = fork();
  if (child) return child;
  feature_child();
  while (!feature_finishing()) {
    CHECK(in_own_network(pair), "an inherited socket is in another network namespace");
    pause_ms(3);
  }
  say(client("127.0.0.1", port), "child");
  expect(pair, "parent", "the child");
  _exit(0);
}

static char large[LARGE];

static void read_large(int fd, const char *what) {
  static char got[LARGE];
  size_t read_bytes = 0;
  while (read_bytes < LARGE) {
    ssize_t bytes = recv(fd, got + read_bytes, LARGE - read_bytes, 0);
    CHECK(bytes > 0, "%s: %zu bytes have come", what, read_bytes);
    read_bytes += (size_t)bytes;
  }
  CHECK(!memcmp(got, large, LARGE), "%s: other bytes have come", what);
}

__attribute__((noreturn)) static void container(bool user) {
  uint64_t outside = own_network();
  feature_child();
  enter(user);
  CHECK(own_network() != outside, "the same network namespace");
  set_up(user);
  int listener = server("127.0.0.1", port), calling = client("127.0.0.1", port), called = accept(listener, NULL, NULL);
  int none = 0;
  MUST(called >= 0 && !setsockopt(called, SOL_SOCKET, SO_KEEPALIVE, &none, sizeof none));
  for (int i = 0; i < LARGE; i++) large[i] = (char)(i * 7 + i / 1000);
  int room = 2 * LARGE;
  MUST(!setsockopt(calling, SOL_SOCKET, SO_SNDBUF, &room, sizeof room));
  MUST(send(calling, large, LARGE, 0) == LARGE);
  say(called, "back");
  int waiting = client("10.9.8.7", port_of(server("10.9.8.7", 0)));
  int low = server("127.0.0.1", 81);
  int udp = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to = at("127.0.0.1", port), from = at("10.9.8.7", port);
  MUST(!bind(udp, (struct sockaddr *)&to, sizeof to) && !bind(sender, (struct sockaddr *)&from, sizeof from));
  MUST(sendto(sender, "datagram", 8, 0, (struct sockaddr *)&to, sizeof to) == 8);
  int names = unix_server(&name, name_bytes), named = unix_client(&name, name_bytes),
      answer = accept(names, NULL, NULL);
  int not_accepted = unix_client(&name, name_bytes);
  MUST(answer >= 0);
  say(named, "by name");
  int pair[2];
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  int route = socket(AF_NETLINK, SOCK_RAW, 0);
  MUST(route >= 0);
  pid_t child = child_of(pair[1]);
  pthread_t other = start_thread(thread, NULL);
  int across = -1;
  if (user) { /* a connection from outside to a path */
    int doors = unix_server(&path, sizeof path);
    write_file(scratch("door"), "open");
    across = accept(doors, NULL, NULL);
    MUST(across >= 0 && !close(doors));
    say(across, "from inside");
  }
  write_file(scratch(user ? "user" : "root"), "ready");
  int inside[] = {listener, calling, called, waiting, low, udp, sender, names, named, answer, not_accepted, route};
  while (!feature_finishing()) {
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
      CHECK(in_own_network(inside[i]), "socket %zu is in another network namespace", i);
    CHECK(!in_own_network(before_pair[1]), "an older socket is in the new network namespace");
    CHECK(!in_own_network(before_server), "an older socket is in the new network namespace");
    check_set_up(user);
    struct sockaddr_in taken = at("127.0.0.1", port);
    int again = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(again, (struct sockaddr *)&taken, sizeof taken) && errno == EADDRINUSE, "the port is free");
    MUST(!close(again));
    pause_ms(3);
  }
  OK(pthread_join(other, NULL));
  say(pair[0], "parent");
  read_large(called, "TCP");
  expect(calling, "back", "TCP, back");
  expect(udp, "datagram", "UDP");
  expect(answer, "by name", "an abstract name");
  say(not_accepted, "accept me");
  int now = accept(names, NULL, NULL);
  expect(now, "accept me", "a connection that was not accepted");
  int of_child = accept(listener, NULL, NULL);
  expect(of_child, "child", "the child");
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child in the container ended with %#x", status);
  if (user) {
    int late = accept(before_server, NULL, NULL);
    expect(late, "to a socket of before", "a listener of before");
    expect(across, "from outside", "across two namespaces");
    expect(before_pair[1], "a pair", "a pair of before");
  }
  _exit(0);
}

static pid_t started(bool user) {
  pid_t pid = fork();
  if (!pid) container(user);
  return pid;
}

static void await(const char *file) {
  while (access(scratch(file), F_OK)) pause_ms(1);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (const char *const *file = (const char *[]){"door", "user", "root", NULL}; *file; file++) unlink(scratch(*file));
  int listener = server("127.0.0.1", 0), status;
  port = port_of(listener);
  name.sun_family = path.sun_family = AF_UNIX;
  name_bytes = sizeof(sa_family_t) + (socklen_t)snprintf(name.sun_path + 1, 90, "udckpt-network-%d", port) + 1;
  strncpy(path.sun_path, scratch("door.socket"), sizeof path.sun_path - 1);
  int names = unix_server(&name, name_bytes);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, before_pair));
  before_server = server("127.0.0.1", 0);
  pid_t as_root = geteuid() ? 0 : started(false);
  if (as_root) await("root");
  pid_t as_user = started(true);
  await("door");
  int across = unix_client(&path, sizeof path);
  await("user");
  feature_ready();
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "a child ended with %#x", status);
    CHECK(in_own_network(across) && in_own_network(before_pair[0]) && in_own_network(listener) && in_own_network(names),
          "a socket outside is in another network namespace");
    pause_ms(3);
  }
  say(client("127.0.0.1", port_of(before_server)), "to a socket of before");
  expect(across, "from inside", "across two namespaces");
  say(across, "from outside");
  say(before_pair[0], "a pair");
  int outside = unix_client(&name, name_bytes), came = accept(names, NULL, NULL);
  say(outside, "outside");
  expect(came, "outside", "the name outside");
  if (as_root) CHECK(waitpid(as_root, &status, 0) == as_root && !status, "root's container ended with %#x", status);
  CHECK(waitpid(as_user, &status, 0) == as_user && !status, "the user's container ended with %#x", status);
  return feature_pass();
}
