/* Names of TCP connections of which the other end has closed, or both directions have ended: getsockname(2),
 * getpeername(2) and SO_PEERNAME, which differs from it where both have ended, tell what they told. */
#include "feature.h"
#include <arpa/inet.h>
#include <sys/socket.h>

static struct {
  const char *what;
  int fd, result[3], error[3];
  struct sockaddr_storage name[3];
  socklen_t length[3];
} all[32];
static int count, shared[2]; /* with SO_REUSEADDR */

static int ask(int fd, int peer, struct sockaddr_storage *name, socklen_t *length) {
  *length = sizeof *name;
  memset(name, 0, sizeof *name);
  errno = 0;
  if (peer == 2 && !getsockname(fd, (void *)name, length)) return getsockopt(fd, SOL_SOCKET, SO_PEERNAME, name, length);
  return peer ? getpeername(fd, (void *)name, length) : getsockname(fd, (void *)name, length);
}

static void watch(const char *what, int fd) {
  all[count].what = what, all[count].fd = fd;
  for (int peer = 0; peer < 3; peer++) {
    all[count].result[peer] = ask(fd, peer, &all[count].name[peer], &all[count].length[peer]);
    all[count].error[peer] = errno;
  }
  count++;
}

/* What is left of an ended connection (TIME_WAIT) holds its port for a minute without this, and only root's restart
 * need not wait for that. */
static int new_socket(int family) {
  int fd = socket(family, SOCK_STREAM, 0), on = geteuid() != 0;
  MUST(fd < 0 || !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
  return fd;
}

/* {accepted, calling} */
static void link_to(int listener, const struct sockaddr_storage *name, socklen_t length, int pair[2]) {
  pair[1] = new_socket(name->ss_family);
  MUST(pair[1] >= 0 && !connect(pair[1], (const void *)name, length) && (pair[0] = accept(listener, NULL, NULL)) >= 0);
}

static void wait_end(int fd) {
  char byte;
  MUST(recv(fd, &byte, 1, MSG_PEEK) >= 0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (int round = 0; round < 2; round++) {
    struct sockaddr_storage name = {0};
    struct sockaddr_in *four = (void *)&name;
    struct sockaddr_in6 *six = (void *)&name;
    socklen_t length = round ? sizeof *six : sizeof *four;
    if (round) six->sin6_family = AF_INET6, six->sin6_addr = in6addr_loopback;
    else four->sin_family = AF_INET, four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = new_socket(name.ss_family), one[2], two[2], three[2], four_ends[2], five[2], six_ends[2];
    if (listener < 0 || bind(listener, (void *)&name, length)) continue; /* no IPv6 here */
    MUST(!listen(listener, 8) && !getsockname(listener, (void *)&name, &length));
    link_to(listener, &name, length, one), link_to(listener, &name, length, two),
        link_to(listener, &name, length, three), link_to(listener, &name, length, four_ends);
    MUST(write(one[1], "x", 1) == 1 && !close(one[1]));
    watch("an accepted one", one[0]);
    MUST(!setsockopt(one[0], SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)));
    shared[round] = one[0];
    MUST(!close(two[0]));
    wait_end(two[1]), watch("a calling one", two[1]);
    MUST(!shutdown(three[0], SHUT_WR));
    wait_end(three[1]);
    MUST(!shutdown(three[1], SHUT_WR));
    wait_end(three[0]);
    pause_ms(20);
    watch("an accepted one of which both directions have ended", three[0]),
        watch("a calling one of which both directions have ended", three[1]);
    MUST(!shutdown(four_ends[0], SHUT_WR));
    wait_end(four_ends[1]);
    MUST(!close(four_ends[1]));
    wait_end(four_ends[0]);
    pause_ms(20);
    watch("an accepted one of a connection that has ended", four_ends[0]);
    link_to(listener, &name, length, six_ends);
    MUST(!shutdown(six_ends[1], SHUT_WR));
    wait_end(six_ends[0]);
    MUST(!shutdown(six_ends[0], SHUT_WR));
    wait_end(six_ends[1]);
    pause_ms(20);
    watch("an accepted one that ended last", six_ends[0]), watch("a calling one that ended first", six_ends[1]);
    link_to(listener, &name, length, five);
    MUST(!close(listener));
    watch("an accepted one without a listener", five[0]), watch("a calling one without a listener", five[1]);
    MUST(!close(five[1]));
    wait_end(five[0]);
    count--;
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int round = 0; round < 2; round++) {
      int on = 0;
      socklen_t size = sizeof on;
      CHECK(!shared[round] || (!getsockopt(shared[round], SOL_SOCKET, SO_REUSEADDR, &on, &size) && on),
            "SO_REUSEADDR was on and is off");
    }
    for (int i = 0; i < count; i++)
      for (int peer = 0; peer < 3; peer++) {
        struct sockaddr_storage now;
        socklen_t length;
        int result = ask(all[i].fd, peer, &now, &length);
        CHECK(result == all[i].result[peer] && errno == all[i].error[peer], "%s: %s name was %d (%d), is %d (%d)",
              all[i].what, peer ? "peer's" : "own", all[i].result[peer], all[i].error[peer], result, errno);
        CHECK(result || (length == all[i].length[peer] && !memcmp(&now, &all[i].name[peer], length)),
              "%s: another %s name, port %d", all[i].what, peer ? "peer's" : "own",
              ntohs(((struct sockaddr_in *)&now)->sin_port));
      }
    pause_ms(2);
  }
  return feature_pass();
}
