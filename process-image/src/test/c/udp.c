/* UDP sockets: bound and connected ones of both families, with datagrams that were not read, their senders, options; a
 * closed sender's; an empty datagram; names that stay; a connection to an address where nobody is. */
#include "feature.h"
#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { MESSAGES = 20, LARGE = 40000 };

static struct sockaddr_in6 name_of(int fd, int (*ask)(int, struct sockaddr *, socklen_t *), const char *what) {
  struct sockaddr_in6 name = {0};
  socklen_t length = sizeof name;
  CHECK(!ask(fd, (void *)&name, &length), "%s", what);
  return name;
}

static int bound(int family) {
  int fd = socket(family, SOCK_DGRAM, 0);
  struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
  MUST(fd >= 0 && !bind(fd, family == AF_INET ? (void *)&v4 : (void *)&v6, family == AF_INET ? sizeof v4 : sizeof v6));
  return fd;
}

static void send_to(int fd, const struct sockaddr_in6 *to, const void *bytes, size_t length) {
  MUST(sendto(fd, bytes, length, 0, (const void *)to,
              to->sin6_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof *to) == (ssize_t)length);
}

/* The next datagram is this one, and comes from there. */
static void expect(int fd, const struct sockaddr_in6 *from, const void *bytes, size_t length, const char *what) {
  static char got[LARGE + 1];
  struct sockaddr_in6 sender = {0};
  socklen_t name = sizeof sender;
  ssize_t n = recvfrom(fd, got, sizeof got, MSG_DONTWAIT, (void *)&sender, &name);
  CHECK(n == (ssize_t)length && !memcmp(got, bytes, length), "%s: %zd bytes, not %zu", what, n, length);
  CHECK(sender.sin6_family == from->sin6_family && sender.sin6_port == from->sin6_port, "%s: from port %d, not %d",
        what, ntohs(sender.sin6_port), ntohs(from->sin6_port));
  CHECK(sender.sin6_family == AF_INET6 ||
            ((struct sockaddr_in *)&sender)->sin_addr.s_addr == ((struct sockaddr_in *)from)->sin_addr.s_addr,
        "%s: another sender", what);
}

static struct sockaddr_in6 mapped(const struct sockaddr_in6 *v4) {
  struct sockaddr_in6 name = {.sin6_family = AF_INET6, .sin6_port = v4->sin6_port};
  name.sin6_addr.s6_addr[10] = name.sin6_addr.s6_addr[11] = 0xff;
  memcpy(&name.sin6_addr.s6_addr[12], &((const struct sockaddr_in *)v4)->sin_addr, 4);
  return name;
}

/* The other process echoes what comes to its connected socket, until it is told to end by a word of zeros. */
static void echo(int fd) {
  feature_child();
  for (uint64_t word = 1; word != 0;)
    if (recv(fd, &word, 8, 0) == 8 && word != 0) {
      uint64_t answer = ~word;
      send(fd, &answer, 8, 0);
    }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int in = bound(AF_INET), out = bound(AF_INET), client = socket(AF_INET, SOCK_DGRAM, 0), server = bound(AF_INET),
      lonely = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in6 in_name = name_of(in, getsockname, "in"), out_name = name_of(out, getsockname, "out"),
                      server_name = name_of(server, getsockname, "server");
  int six = socket(AF_INET6, SOCK_DGRAM, 0);
  if (six >= 0) close(six), six = bound(AF_INET6);
  int size = 1 << 20, ttl = 9, yes = 1;
  MUST(!setsockopt(in, SOL_SOCKET, SO_RCVBUF, &size, 4) && !setsockopt(out, SOL_IP, IP_TTL, &ttl, 4) &&
       !setsockopt(out, SOL_SOCKET, SO_BROADCAST, &yes, 4));
  socklen_t length = 4;
  MUST(!getsockopt(in, SOL_SOCKET, SO_RCVBUF, &size, &length));
  MUST(!connect(client, (void *)&server_name, sizeof(struct sockaddr_in)));
  struct sockaddr_in6 client_name = name_of(client, getsockname, "client");
  MUST(!connect(server, (void *)&client_name, sizeof(struct sockaddr_in)));
  struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(53), .sin_addr = {htonl(0x7f00002a)}};
  MUST(!connect(lonely, (void *)&nobody, sizeof nobody));
  struct sockaddr_in6 lonely_name = name_of(lonely, getsockname, "lonely");
  pid_t child = fork();
  if (!child) echo(server);
  close(server);

  static char text[LARGE], gone_text[] = "whoever sent this has closed its socket";
  fill_pattern(text, LARGE, 7);
  for (int i = 0; i < MESSAGES; i++) send_to(out, &in_name, text + i, 1000 + i);
  send_to(out, &in_name, text, 0);
  send_to(out, &in_name, text, LARGE);
  int gone = bound(AF_INET);
  struct sockaddr_in6 gone_name = name_of(gone, getsockname, "gone"), six_name = {0};
  send_to(gone, &in_name, gone_text, sizeof gone_text);
  if (six >= 0) {
    six_name = name_of(six, getsockname, "six");
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = six_name.sin6_port, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    MUST(sendto(out, "to six", 6, 0, (void *)&to, sizeof to) == 6);
  }
  close(gone);
  feature_ready();

  uint64_t word = 1, answer, lost = 0, heard = 0;
  struct timeval second = {1, 0};
  MUST(!setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second));
  while (!feature_finishing()) {
    word = word * 6364136223846793005u + 1;
    int sent = send(client, &word, 8, 0) == 8;
    do answer = 0;
    while (sent && recv(client, &answer, 8, 0) == 8 &&
           answer != ~word); /* one to an earlier question that was given up came late */
    if (sent && answer == ~word) heard++;
    else lost++; /* as datagrams may be */
  }
  CHECK(heard > 0 && lost <= heard + 5, "%lu answers, %lu lost", heard, lost);
  for (int i = 0; i < MESSAGES; i++) expect(in, &out_name, text + i, 1000 + i, "small");
  expect(in, &out_name, text, 0, "empty");
  expect(in, &out_name, text, LARGE, "large");
  expect(in, &gone_name, gone_text, sizeof gone_text, "of a closed sender");
  CHECK(recv(in, text, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN, "one datagram more");
  struct sockaddr_in6 out_mapped = mapped(&out_name);
  if (six >= 0) expect(six, &out_mapped, "to six", 6, "IPv6");
  int value;
  CHECK(!getsockopt(in, SOL_SOCKET, SO_RCVBUF, &value, &length) && value == size, "SO_RCVBUF %d, not %d", value, size);
  CHECK(!getsockopt(out, SOL_IP, IP_TTL, &value, &length) && value == 9, "IP_TTL %d", value);
  CHECK(!getsockopt(out, SOL_SOCKET, SO_BROADCAST, &value, &length) && value == 1, "SO_BROADCAST %d", value);
  struct sockaddr_in6 now[] = {name_of(in, getsockname, "in"), name_of(out, getsockname, "out"),
                               name_of(client, getsockname, "client"), name_of(client, getpeername, "peer"),
                               name_of(lonely, getsockname, "lonely")};
  const struct sockaddr_in6 *then[] = {&in_name, &out_name, &client_name, &server_name, &lonely_name};
  for (int i = 0; i < 5; i++) CHECK(!memcmp(&now[i], then[i], sizeof(struct sockaddr_in)), "name %d is another", i);
  CHECK((fcntl(lonely, F_GETFL) & O_NONBLOCK) != 0, "O_NONBLOCK is lost");
  int status;
  for (word = 0; waitpid(child, &status, WNOHANG) == 0; pause_ms(20)) send(client, &word, 8, 0);
  CHECK(status == 0, "the other process ended with 0x%x", status);
  return feature_pass();
}
