/* Raw sockets of both families, bound and connected, with their options, filters of types and header options, and
 * ping sockets, where this user may make them: each sends and hears what it did. */
#include "feature.h"
#include <arpa/inet.h>
#include <linux/icmp.h>
#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#define PROTOCOL 253  /* for experiments (RFC 3692) */
#define ABOVE_ALL 262 /* Multipath TCP: the highest of Linux 5.6, which no packet has room for */
#define HOST(n) \
  { htonl(INADDR_LOOPBACK + (n)) }

static const unsigned char record_route[] = {7, 7, 4, 0, 0, 0, 0, 1};

static struct sockaddr_in address(int n) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = HOST(n)};
}

/* A packet of our protocol with this word, heard by the one that is bound there alone. */
static void check_heard(int from, int to, int there, uint64_t word) {
  struct sockaddr_in name = address(there), sender;
  socklen_t length = sizeof sender;
  unsigned char got[128];
  CHECK(sendto(from, &word, 8, 0, (void *)&name, sizeof name) == 8, "a raw socket does not send: %s", strerror(errno));
  ssize_t n = recvfrom(to, got, sizeof got, 0, (void *)&sender, &length);
  size_t header = n > 0 ? (got[0] & 15) * 4u : 0;
  CHECK(n == (ssize_t)header + 8 && !memcmp(got + header, &word, 8), "%zd bytes, and not what was sent", n);
  CHECK(header == 20 + sizeof record_route, "a header of %zu bytes", header);
}

static void check_number(int fd, int level, int option, int wanted, const char *what) {
  int value = 0;
  socklen_t length = sizeof value;
  CHECK(!getsockopt(fd, level, option, &value, &length) && value == wanted, "%s is %d, not %d", what, value, wanted);
}

/* The kernel answers pings: the identifier of one that was bound is its own. */
static void check_ping(int fd, int id) {
  struct sockaddr_in to = address(0), name;
  socklen_t length = sizeof name;
  CHECK(!getsockname(fd, (void *)&name, &length) && ntohs(name.sin_port) == id, "pings have identifier %d, not %d",
        ntohs(name.sin_port), id);
  struct icmphdr ping = {.type = ICMP_ECHO, .un.echo.sequence = htons(3)}, answer = {0};
  CHECK(sendto(fd, &ping, sizeof ping, 0, (void *)&to, sizeof to) == sizeof ping, "no ping: %s", strerror(errno));
  CHECK(recv(fd, &answer, sizeof answer, 0) == sizeof answer && answer.type == ICMP_ECHOREPLY &&
            answer.un.echo.sequence == htons(3),
        "no answer to a ping");
}

/* A packet without an address for it goes where the socket is connected to: to us, who hear it. */
static bool connected(int whole, struct sockaddr_in to) {
  struct {
    struct iphdr header;
    uint32_t word;
  } packet = {{.version = 4, .ihl = 5, .ttl = 9, .protocol = PROTOCOL, .daddr = to.sin_addr.s_addr}, 77}, got;
  int hears = socket(AF_INET, SOCK_RAW, PROTOCOL);
  MUST(hears >= 0 && !bind(hears, (void *)&to, sizeof to));
  bool heard = send(whole, &packet, sizeof packet, 0) == sizeof packet &&
               recv(hears, &got, sizeof got, 0) == sizeof got && got.word == 77;
  MUST(!close(hears));
  return heard;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int out = socket(AF_INET, SOCK_RAW, PROTOCOL), in = socket(AF_INET, SOCK_RAW, PROTOCOL),
      whole = socket(AF_INET, SOCK_RAW, IPPROTO_RAW), errors = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP),
      six = socket(AF_INET6, SOCK_RAW, IPPROTO_ICMPV6), highest = socket(AF_INET, SOCK_RAW, ABOVE_ALL),
      pings = socket(AF_INET, SOCK_DGRAM, IPPROTO_ICMP), id = 0;
  struct sockaddr_in from = address(5), to = address(6), other = address(7), none = address(0), name;
  struct icmp6_filter filter = {{1, 2, 3, 4, 5, 6, 7, 8}};
  socklen_t length = sizeof name;
  if (out >= 0) { /* root */
    MUST(!bind(out, (void *)&from, sizeof from) && !bind(in, (void *)&to, sizeof to));
    MUST(!setsockopt(out, IPPROTO_IP, IP_OPTIONS, record_route, sizeof record_route));
    MUST(!connect(whole, (void *)&other, sizeof other));
    int types = 1 << ICMP_TIMESTAMP;
    MUST(!setsockopt(errors, 255 /* SOL_RAW */, ICMP_FILTER, &types, sizeof types));
    MUST(six < 0 || !setsockopt(six, IPPROTO_ICMPV6, ICMP6_FILTER, &filter, sizeof filter));
  }
  if (pings >= 0) { /* net.ipv4.ping_group_range */
    MUST(!bind(pings, (void *)&none, sizeof none) && !getsockname(pings, (void *)&name, &length));
    id = ntohs(name.sin_port);
  }
  feature_ready();
  for (uint64_t word = 1; !feature_finishing(); word = word * 3 + 1) {
    if (out >= 0) check_heard(out, in, 6, word);
    if (pings >= 0) check_ping(pings, id);
    pause_ms(2);
  }
  if (out < 0) return feature_pass();
  check_number(whole, IPPROTO_IP, IP_HDRINCL, 1, "IP_HDRINCL");
  if (highest >= 0) check_number(highest, SOL_SOCKET, SO_PROTOCOL, ABOVE_ALL, "SO_PROTOCOL");
  check_number(errors, 255, ICMP_FILTER, 1 << ICMP_TIMESTAMP, "ICMP_FILTER");
  CHECK(connected(whole, other), "it is connected to another");
  CHECK(!getsockname(in, (void *)&name, &length) && !memcmp(&name.sin_addr, &to.sin_addr, 4), "another address");
  struct icmp6_filter now;
  length = sizeof now;
  CHECK(six < 0 || (!getsockopt(six, IPPROTO_ICMPV6, ICMP6_FILTER, &now, &length) && !memcmp(&now, &filter, length)),
        "ICMP6_FILTER is another");
  return feature_pass();
}
