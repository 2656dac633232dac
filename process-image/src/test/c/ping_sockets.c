/* Ping sockets (icmp(7)) of both families, bound and not, in a network namespace that lets its processes have them, as
 * few machines do: each sends and hears what it did, with the identifier that it had. */
#include "own_user.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int is_six(int fd) {
  int domain;
  socklen_t length = sizeof domain;
  MUST(!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length));
  return domain == AF_INET6;
}

static int identifier(int fd) {
  struct sockaddr_in6 name = {0}; /* in both families at one place */
  socklen_t length = sizeof name;
  MUST(!getsockname(fd, (void *)&name, &length));
  return ntohs(name.sin6_port);
}

static void send_ping(int fd) {
  struct sockaddr_in six_less = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
  int v6 = is_six(fd);
  struct icmphdr ping = {.type = v6 ? ICMP6_ECHO_REQUEST : ICMP_ECHO, .un.echo.sequence = htons(3)}, answer = {0};
  CHECK(sendto(fd, &ping, sizeof ping, 0, v6 ? (void *)&six : (void *)&six_less, v6 ? sizeof six : sizeof six_less) ==
            sizeof ping,
        "no ping: %s", strerror(errno));
  CHECK(recv(fd, &answer, sizeof answer, 0) == sizeof answer &&
            answer.type == (v6 ? ICMP6_ECHO_REPLY : ICMP_ECHOREPLY) && answer.un.echo.sequence == htons(3),
        "no answer to a ping");
}

static void check(int fd, int wanted) {
  send_ping(fd);
  CHECK(identifier(fd) == wanted, "pings have identifier %d, not %d", identifier(fd), wanted);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  if (geteuid()) own_user(CLONE_NEWNET, 0, 0);
  else MUST(!unshare(CLONE_NEWNET));
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int any = socket(AF_INET, SOCK_DGRAM, 0), pings[4], identifiers[4], count = 0;
  MUST(any >= 0 && !ioctl(any, SIOCSIFFLAGS, &request) && !close(any));
  write_file("/proc/sys/net/ipv4/ping_group_range", "0 0\n");
  for (int i = 0; i < 4; i++) {
    int fd = i & 1 ? socket(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6) : socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP);
    struct sockaddr_in6 name = {.sin6_family = i & 1 ? AF_INET6 : AF_INET, .sin6_port = htons(777 + i)};
    if (fd < 0) continue; /* no IPv6 here */
    if (i) MUST(!bind(fd, (void *)&name, i & 1 ? sizeof name : sizeof(struct sockaddr_in)));
    else send_ping(fd); /* which gives it an identifier */
    pings[count] = fd, identifiers[count++] = identifier(fd);
  }
  MUST(count >= 2);
  feature_ready();
  for (int i = 0; !feature_finishing(); i = (i + 1) % count) {
    if (!is_six(pings[i])) check(pings[i], identifiers[i]); /* the other ones would hold the route, which is counted */
    pause_ms(3);
  }
  for (int i = 0; i < count; i++) check(pings[i], identifiers[i]);
  return feature_pass();
}
