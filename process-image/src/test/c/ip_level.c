/* Every option of the levels IP, IPv6, TCP, UDP and UDP-Lite of sockets of the internet is what it was: those that were
 * set, and those that were not. Options are tried by their numbers, so that those of later kernels are, too. */
#include "feature.h"
#include <netinet/in.h>
#include <sys/socket.h>

#define OPTIONS 128
#define BYTES 64
#define IPPROTO_LITE 136

static const int levels[] = {IPPROTO_IP, IPPROTO_IPV6, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_LITE};
#define LEVELS (int)(sizeof levels / sizeof *levels)

/* Of the moment: IP_MTU, IPV6_MTU and IPV6_PATHMTU, of the route; TCP's acknowledgements, clocks and what it has
 * counted; what has a test of its own (TCP_CONGESTION). */
static bool moment(int level, int option) {
  static const int tcp[] = {11, 12, 13, 19, 20, 21, 22, 24, 26, 28, 29, 31, 33, 35, 43};
  if (level == IPPROTO_IP) return option == 14 /* IP_MTU */ || option == 3 || option == 9;
  if (level == IPPROTO_IPV6) return option == 24 || option == 61 || option == 6 /* IPV6_2292PKTOPTIONS */;
  for (size_t i = 0; level == IPPROTO_TCP && i < sizeof tcp / sizeof *tcp; i++)
    if (tcp[i] == option) return true;
  return false;
}

/* What would change what the test itself does: whether it is corked, a tunnel, of both families, or another family. */
static bool left_alone(int level, int option) {
  if (level == IPPROTO_IPV6) return option == 1 /* IPV6_ADDRFORM */ || option == 26 /* IPV6_V6ONLY */;
  return (level == IPPROTO_UDP || level == IPPROTO_LITE) && (option == 1 || option == 100); /* both name UDP's */
}

/* Of TCP, where nobody can set them, the interface and the lifetime for multicast are those of what came last. */
static bool skipped(const char *what, int level, int option) {
  bool cast = levels[level] == IPPROTO_IP ? option == IP_MULTICAST_IF || option == IP_MULTICAST_TTL
                                          : option == IPV6_MULTICAST_IF || option == IPV6_MULTICAST_HOPS;
  /* TCP_MAXSEG, TCP_WINDOW_CLAMP, TCP_FASTOPEN_CONNECT and _NO_COOKIE, which the kernel changes when it connects */
  bool changes = levels[level] == IPPROTO_TCP && (option == 2 || option == 10 || option == 30 || option == 34);
  return moment(levels[level], option) || (changes && strstr(what, "connection")) ||
         (strstr(what, "TCP") && (levels[level] == IPPROTO_IP || levels[level] == IPPROTO_IPV6) && cast);
}

struct value {
  int error;
  socklen_t length;
  unsigned char bytes[BYTES];
};

static struct {
  const char *what;
  int fd;
  struct value values[LEVELS][OPTIONS];
} all[32];
static int count, set;

static struct value get(int fd, int level, int option) {
  struct value value = {.length = BYTES};
  value.error = getsockopt(fd, level, option, value.bytes, &value.length) ? errno : 0;
  if (value.error) value.length = 0, memset(value.bytes, 0, BYTES);
  return value;
}

/* Another value than it has: one more, or another small one. What the kernel does not take stays. */
static void change(int fd, int level, int option) {
  struct value before = get(fd, level, option);
  if (before.error || before.length != sizeof(int)) return;
  int other[] = {*(int *)before.bytes + 1, 0, 2, 9, 100};
  for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
    if (setsockopt(fd, level, option, &other[i], sizeof(int))) continue;
    struct value now = get(fd, level, option);
    if (memcmp(now.bytes, before.bytes, sizeof(int))) {
      set++;
      return;
    }
  }
}

static int watch(const char *what, int fd, bool changed) {
  MUST(fd >= 0 && count < 32);
  for (int level = 0; changed && level < LEVELS; level++)
    for (int option = 1; option < OPTIONS; option++)
      if (!moment(levels[level], option) && !left_alone(levels[level], option)) change(fd, levels[level], option);
  all[count].what = what, all[count].fd = fd;
  for (int level = 0; level < LEVELS; level++)
    for (int option = 1; option < OPTIONS; option++)
      if (!skipped(what, level, option)) all[count].values[level][option] = get(fd, levels[level], option);
  count++;
  return fd;
}

static void internet(int family, int type, int protocol, const char *what, bool changed) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(family, type, protocol);
  if (fd < 0 && (family == AF_INET6 || protocol == IPPROTO_LITE)) return; /* the machine has none */
  watch(what, fd, changed);
  int bound = socket(family, type, protocol);
  MUST(bound >= 0);
  if (family == AF_INET6 ? bind(bound, (void *)&six, sizeof six) : bind(bound, (void *)&four, sizeof four)) {
    CHECK(family == AF_INET6, "bind");
    close(bound);
    return;
  }
  if (type == SOCK_STREAM) MUST(!listen(bound, 5));
  watch(what, bound, changed);
}

static void connection(bool changed) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof name;
  int server = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  MUST(!bind(server, (void *)&name, length) && !listen(server, 1) && !getsockname(server, (void *)&name, &length));
  MUST(!connect(client, (void *)&name, length));
  int accepted = accept(server, NULL, NULL);
  watch("a TCP connection", client, changed), watch("an accepted TCP connection", accepted, false);
  close(server);
}

/* Record route: one of the options that anybody may set. */
static int with_header_options(void) {
  static const unsigned char record_route[] = {7, 7, 4, 0, 0, 0, 0, 1};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  MUST(fd >= 0 && !setsockopt(fd, IPPROTO_IP, IP_OPTIONS, record_route, sizeof record_route));
  return fd;
}

static int with_destination_options(void) {
  static const unsigned char padded[] = {0, 0, 1, 4, 0, 0, 0, 0};
  int fd = socket(AF_INET6, SOCK_DGRAM, 0);
  if (fd >= 0) setsockopt(fd, IPPROTO_IPV6, IPV6_DSTOPTS, padded, sizeof padded); /* root alone may */
  return fd;
}

static void check(int i, int level, int option) {
  struct value now = get(all[i].fd, levels[level], option), *was = &all[i].values[level][option];
  CHECK(now.error == was->error && now.length == was->length,
        "option %d of level %d of %s (%d): error %d, length %d; they were %d, %d", option, levels[level], all[i].what,
        i, now.error, now.length, was->error, was->length);
  CHECK(!memcmp(now.bytes, was->bytes, BYTES), "option %d of level %d of %s (%d): %d, it was %d", option, levels[level],
        all[i].what, i, *(int *)now.bytes, *(int *)was->bytes);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int changed = 0; changed < 2; changed++) {
    internet(AF_INET, SOCK_STREAM, 0, "TCP", changed), internet(AF_INET, SOCK_DGRAM, 0, "UDP", changed);
    internet(AF_INET6, SOCK_STREAM, 0, "TCP over IPv6", changed);
    internet(AF_INET6, SOCK_DGRAM, 0, "UDP over IPv6", changed);
    internet(AF_INET, SOCK_DGRAM, IPPROTO_LITE, "UDP-Lite", changed);
    connection(changed);
  }
  watch("UDP with header options", with_header_options(), false);
  int six = with_destination_options();
  if (six >= 0) watch("UDP with destination options", six, false);
  MUST(set > 100);
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++)
      for (int level = 0; level < LEVELS; level++)
        for (int option = 1; option < OPTIONS; option++)
          if (!skipped(all[i].what, level, option)) check(i, level, option);
    pause_ms(20);
  }
  return feature_pass();
}
