/* Every option of level SOL_SOCKET of sockets of each family is what it was: those that were set, and those that were
 * not. */
#include "feature.h"
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#define OPTIONS 96 /* asm-generic/socket.h: 84 in Linux 6.17 */
#define BYTES 64

static const int changed[] = {SO_DEBUG,
                              SO_REUSEADDR,
                              SO_DONTROUTE,
                              SO_BROADCAST,
                              SO_KEEPALIVE,
                              SO_OOBINLINE,
                              SO_NO_CHECK,
                              SO_PRIORITY,
                              SO_PASSCRED,
                              SO_RCVLOWAT,
                              SO_TIMESTAMPNS,
                              34 /* SO_PASSSEC */,
                              SO_MARK,
                              SO_RXQ_OVFL,
                              41 /* SO_WIFI_STATUS */,
                              SO_PEEK_OFF,
                              45 /* SO_SELECT_ERR_QUEUE */,
                              46 /* SO_BUSY_POLL */,
                              60 /* SO_ZEROCOPY */,
                              69 /* SO_PREFER_BUSY_POLL */,
                              70 /* SO_BUSY_POLL_BUDGET */,
                              76 /* SO_PASSPIDFD */};
/* Of the moment, or a descriptor: SO_ERROR, SO_INCOMING_CPU, SO_MEMINFO, SO_INCOMING_NAPI_ID, SO_COOKIE,
 * SO_NETNS_COOKIE, SO_PEERPIDFD; SO_TXREHASH, of which nobody sees anything. */
static const int moment[] = {SO_ERROR, 49, 55, 56, 57, 71, 74, 77};

struct value {
  int error;
  socklen_t length;
  unsigned char bytes[BYTES];
};

static struct {
  const char *what;
  int fd;
  bool tcp;
  struct value values[OPTIONS];
} all[40];
static int count;

static bool among(int option, const int *list, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (list[i] == option) return true;
  return false;
}

static struct value get(int fd, int option) {
  struct value value = {.length = BYTES};
  if (option == 26 /* SO_GET_FILTER, whose length counts instructions */) value.length = 0;
  value.error = getsockopt(fd, SOL_SOCKET, option, value.bytes, &value.length) ? errno : 0;
  if (value.error) value.length = 0, memset(value.bytes, 0, BYTES);
  return value;
}

/* What the kernel, or this user's rights, do not let be set stays. */
static int watch(const char *what, int fd, bool change) {
  MUST(fd >= 0);
  for (size_t i = 0; change && i < sizeof changed / sizeof *changed; i++) {
    int value = 0;
    socklen_t length = sizeof value;
    if (getsockopt(fd, SOL_SOCKET, changed[i], &value, &length)) continue;
    value++;
    setsockopt(fd, SOL_SOCKET, changed[i], &value, sizeof value);
  }
  struct linger linger = {1, 5};
  struct timeval time = {3, 500000};
  int off = 0;
  if (change) {
    MUST(!setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger));
    MUST(!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time));
    setsockopt(fd, SOL_SOCKET, 83 /* SO_PASSRIGHTS */, &off, sizeof off);
  }
  all[count].what = what, all[count].fd = fd, all[count].tcp = strstr(what, "TCP") != NULL;
  for (int option = 1; option < OPTIONS; option++)
    if (!among(option, moment, sizeof moment / sizeof *moment)) all[count].values[option] = get(fd, option);
  MUST(++count < 40);
  return fd;
}

static void pairs(int type, bool change) {
  int pair[2];
  MUST(!socketpair(AF_UNIX, type, 0, pair));
  watch("an end of a pair", pair[0], change), watch("the other end", pair[1], false);
}

static void named(int type, const char *name, bool change) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch(name));
  int fd = socket(AF_UNIX, type, 0);
  MUST(fd >= 0 && !bind(fd, (void *)&address, sizeof address));
  if (type == SOCK_STREAM) MUST(!listen(fd, 5));
  watch(name, fd, change);
}

static void internet(int family, int type, bool change) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
  int fd = socket(family, type, 0);
  if (family == AF_INET6 && fd < 0) return; /* the machine has none */
  watch(type == SOCK_STREAM ? "TCP" : "UDP", fd, change);
  int bound = socket(family, type, 0);
  MUST(bound >= 0);
  if (family == AF_INET6 ? bind(bound, (void *)&six, sizeof six) : bind(bound, (void *)&four, sizeof four)) {
    CHECK(family == AF_INET6, "bind");
    close(bound);
    return;
  }
  if (type == SOCK_STREAM) MUST(!listen(bound, 5));
  watch(type == SOCK_STREAM ? "a TCP listener" : "bound UDP", bound, change);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int change = 0; change < 2; change++) {
    pairs(SOCK_STREAM, change), pairs(SOCK_DGRAM, change), pairs(SOCK_SEQPACKET, change);
    named(SOCK_STREAM, change ? "server" : "plain-server", change),
        named(SOCK_DGRAM, change ? "datagrams" : "plain-datagrams", change);
    internet(AF_INET, SOCK_STREAM, change), internet(AF_INET, SOCK_DGRAM, change);
  }
  internet(AF_INET6, SOCK_DGRAM, true);
  watch("netlink", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), true);
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++)
      for (int option = 1; option < OPTIONS; option++) {
        if (among(option, moment, sizeof moment / sizeof *moment) || (all[i].tcp && option == SO_REUSEADDR))
          continue; /* docs/internals/kinds.md */
        struct value now = get(all[i].fd, option), *was = &all[i].values[option];
        CHECK(now.error == was->error && now.length == was->length,
              "option %d of %s (%d): error %d, length %d; they were %d, %d", option, all[i].what, i, now.error,
              now.length, was->error, was->length);
        CHECK(!memcmp(now.bytes, was->bytes, BYTES), "option %d of %s (%d): %d, it was %d", option, all[i].what, i,
              *(int *)now.bytes, *(int *)was->bytes);
      }
    pause_ms(20);
  }
  return feature_pass();
}
