/* UDP sockets that share a port (SO_REUSEPORT): each keeps the datagrams that it had got, an empty one first, and the
 * group goes on to share. */
#include "feature.h"
#include <arpa/inet.h>
#include <sys/socket.h>

enum { MEMBERS = 4, SENDERS = 24 };

static int bound(struct sockaddr_in *name, bool shared) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), yes = 1;
  socklen_t length = sizeof *name;
  MUST(fd >= 0 && (!shared || !setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &yes, sizeof yes)));
  MUST(!bind(fd, (void *)name, sizeof *name) && !getsockname(fd, (void *)name, &length));
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sockaddr_in group = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}}, names[SENDERS], from;
  int members[MEMBERS], senders[SENDERS], owner[SENDERS], value, got[SENDERS] = {0};
  for (int i = 0; i < MEMBERS; i++) members[i] = bound(&group, true);
  for (int s = 0; s < SENDERS; s++) {
    names[s] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    senders[s] = bound(&names[s], false);
    MUST(sendto(senders[s], &s, sizeof s, 0, (void *)&group, sizeof group) == sizeof s);
  }
  for (int i = 0; i < MEMBERS; i++) /* who gets what of whom, the kernel decides, and stays by it */
    while (recv(members[i], &value, sizeof value, 0) == sizeof value) owner[value] = i;
  for (int round = 0; round < 3; round++) /* the first one without a byte */
    for (int s = 0; s < SENDERS; s++) {
      value = 100 * round + s;
      MUST(sendto(senders[s], &value, round ? sizeof value : 0, 0, (void *)&group, sizeof group) >= 0);
    }
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  for (int i = 0; i < MEMBERS; i++) {
    socklen_t length = sizeof from;
    for (ssize_t n; (n = recvfrom(members[i], &value, sizeof value, 0, (void *)&from, &length)) >= 0;
         length = sizeof from) {
      int s = 0;
      while (s < SENDERS && names[s].sin_port != from.sin_port) s++;
      CHECK(s < SENDERS, "a datagram from port %d, where nobody sends", ntohs(from.sin_port));
      CHECK(owner[s] == i, "socket %d got a datagram of sender %d, which socket %d had got", i, s, owner[s]);
      CHECK(got[s] ? n == sizeof value && value == 100 * got[s] + s : n == 0,
            "datagram %d of sender %d has %zd bytes and says %d", got[s], s, n, value);
      got[s]++;
    }
  }
  for (int s = 0; s < SENDERS; s++) CHECK(got[s] == 3, "%d datagrams of sender %d are left", got[s], s);
  bool heard[MEMBERS] = {false};
  for (int s = 0; s < SENDERS; s++) MUST(sendto(senders[s], &s, sizeof s, 0, (void *)&group, sizeof group) == sizeof s);
  int all = 0, hearing = 0;
  for (int i = 0; i < MEMBERS; i++)
    while (recv(members[i], &value, sizeof value, 0) == sizeof value) all++, heard[i] = true;
  for (int i = 0; i < MEMBERS; i++) hearing += heard[i];
  CHECK(all == SENDERS && hearing > 1, "%d of %d datagrams came, to %d sockets", all, SENDERS, hearing);
  return feature_pass();
}
