/* Packet sockets of the three types, bound and not, with options, rings, memberships, filters and a group: each hears
 * and sends as it did, in a child, in a thread and by a duplicate. Where this user may make them. */
#include "feature.h"
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PROTOCOL 0x88b5 /* for experiments (IEEE 802) */
#define OTHER 0x88b6
#define GROUP 77

static unsigned loopback;

static int get(int fd, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  MUST(!getsockopt(fd, SOL_PACKET, option, &value, &length));
  return value;
}

static void set(int fd, int option, int value) {
  MUST(!setsockopt(fd, SOL_PACKET, option, &value, sizeof value));
}

static void bind_to(int fd, int protocol) {
  struct sockaddr_ll name = {.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)loopback};
  MUST(!bind(fd, (void *)&name, sizeof name));
}

static void check_name(int fd, int protocol, unsigned device, const char *what) {
  struct sockaddr_ll name = {0};
  socklen_t length = sizeof name;
  CHECK(!getsockname(fd, (void *)&name, &length), "%s: getsockname", what);
  CHECK(ntohs(name.sll_protocol) == protocol && name.sll_ifindex == (int)device, "%s: protocol %#x, device %d", what,
        ntohs(name.sll_protocol), name.sll_ifindex);
}

static void send_packet(int fd, int protocol, const char *text) {
  struct sockaddr_ll to = {
      .sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = (int)loopback, .sll_halen = 6};
  CHECK(sendto(fd, text, strlen(text), 0, (void *)&to, sizeof to) == (ssize_t)strlen(text), "sendto: %s",
        strerror(errno));
}

/* How often; packets that go out are heard by those of all protocols only. */
static int heard(int fd, const char *text) {
  char got[2048];
  int count = 0;
  for (ssize_t n; (n = recv(fd, got, sizeof got, MSG_DONTWAIT)) >= 0;)
    count += n >= (ssize_t)strlen(text) && !memcmp(got + n - strlen(text), text, strlen(text));
  return count;
}

static void *hears_in_thread(void *fd) {
  return (void *)(long)heard(*(int *)fd, "thread");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int sender = socket(AF_PACKET, SOCK_DGRAM, 0);
  if (sender < 0 && errno == EPERM) { /* nothing to see */
    feature_ready();
    while (!feature_finishing()) pause_ms(2);
    return feature_pass();
  }
  loopback = if_nametoindex("lo");
  MUST(sender >= 0 && loopback);
  int bound = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK, 0), unbound = socket(AF_PACKET, SOCK_RAW, 0);
  int filtered = socket(AF_PACKET, SOCK_DGRAM, 0), old = socket(AF_PACKET, SOCK_PACKET, htons(OTHER));
  int ring = socket(AF_PACKET, SOCK_RAW, 0), ring3 = socket(AF_PACKET, SOCK_RAW, 0),
      all = socket(AF_PACKET, SOCK_DGRAM, htons(OTHER));
  MUST(bound >= 0 && unbound >= 0 && filtered >= 0 && old >= 0 && ring >= 0 && ring3 >= 0 && all >= 0);
  bind_to(bound, PROTOCOL);
  struct sockaddr named = {.sa_family = AF_PACKET, .sa_data = "lo"};
  MUST(!bind(old, &named, sizeof named));
  struct sock_filter only[] = {BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 'y', 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, 65535), BPF_STMT(BPF_RET | BPF_K, 0)};
  struct sock_fprog program = {4, only};
  MUST(!setsockopt(filtered, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
  bind_to(filtered, PROTOCOL);
  set(unbound, PACKET_AUXDATA, 1), set(unbound, PACKET_ORIGDEV, 1), set(unbound, PACKET_VNET_HDR, 1);
  set(unbound, PACKET_TIMESTAMP, 8), set(unbound, PACKET_QDISC_BYPASS, 1), set(unbound, 23 /* IGNORE_OUTGOING */, 1);
  set(ring, PACKET_VERSION, TPACKET_V2), set(ring, PACKET_RESERVE, 16), set(ring, PACKET_LOSS, 1);
  struct tpacket_req size = {4096, 2, 1024, 8};
  MUST(!setsockopt(ring, SOL_PACKET, PACKET_RX_RING, &size, sizeof size));
  MUST(!setsockopt(ring, SOL_PACKET, PACKET_TX_RING, &size, sizeof size));
  set(ring3, PACKET_VERSION, TPACKET_V3);
  struct tpacket_req3 size3 = {65536, 2, 2048, 64, 20, 8, 0};
  MUST(!setsockopt(ring3, SOL_PACKET, PACKET_RX_RING, &size3, sizeof size3));
  struct packet_mreq promiscuous = {.mr_ifindex = (int)loopback, .mr_type = PACKET_MR_PROMISC},
                     group = {.mr_ifindex = (int)loopback,
                              .mr_type = PACKET_MR_MULTICAST,
                              .mr_alen = 6,
                              .mr_address = {1, 0, 0x5e, 1, 2, 3}};
  for (int i = 0; i < 2; i++)
    MUST(!setsockopt(bound, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous));
  MUST(!setsockopt(bound, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &group, sizeof group));
  int members[2];
  for (int i = 0; i < 2; i++) {
    members[i] = socket(AF_PACKET, SOCK_DGRAM, 0);
    MUST(members[i] >= 0);
    bind_to(members[i], OTHER + 1);
    set(members[i], PACKET_FANOUT, (getpid() & 0xffff) | PACKET_FANOUT_LB << 16);
  }
  int duplicate = dup(bound), pipes[2], answers[2];
  MUST(duplicate >= 0 && !pipe(pipes) && !pipe(answers));
  pid_t child = fork();
  if (child == 0) { /* hears what came for it when it is told to */
    char byte;
    close(pipes[1]);
    while (read(pipes[0], &byte, 1) == 1 && byte == 'h') {
      int count = heard(bound, "child");
      MUST(write(answers[1], &count, sizeof count) == sizeof count);
    }
    _exit(0);
  }
  close(pipes[0]);
  feature_ready();
  while (!feature_finishing()) pause_ms(2);
  check_name(bound, PROTOCOL, loopback, "bound"), check_name(unbound, 0, 0, "unbound");
  check_name(filtered, PROTOCOL, loopback, "filtered"), check_name(all, OTHER, 0, "of all devices");
  heard(bound, ""), heard(filtered, "");
  send_packet(sender, PROTOCOL, "yes"), send_packet(sender, PROTOCOL, "no");
  CHECK(heard(filtered, "yes") == 1 && heard(bound, "no") == 1, "what a filter lets pass");
  send_packet(sender, OTHER, "other");
  CHECK(heard(old, "other") == 1 && heard(all, "other") == 1, "SOCK_PACKET, and one that hears all devices");
  CHECK(heard(duplicate, "other") == 0, "another protocol");
  send_packet(bound, PROTOCOL, "thread");
  pthread_t thread;
  void *count;
  MUST(!pthread_create(&thread, NULL, hears_in_thread, &duplicate) && !pthread_join(thread, &count));
  CHECK((long)count == 1, "heard in a thread: %ld", (long)count);
  int answer = 0;
  send_packet(sender, PROTOCOL, "child");
  CHECK(write(pipes[1], "h", 1) == 1 && read(answers[0], &answer, sizeof answer) == sizeof answer && answer == 1,
        "heard in a child: %d", answer);
  CHECK(get(unbound, PACKET_AUXDATA) == 1 && get(unbound, PACKET_ORIGDEV) == 1 && get(unbound, PACKET_VNET_HDR) == 1 &&
            get(unbound, PACKET_TIMESTAMP) == 8 && get(unbound, PACKET_QDISC_BYPASS) == 1 && get(unbound, 23) == 1,
        "options");
  CHECK(get(ring, PACKET_VERSION) == TPACKET_V2 && get(ring, PACKET_RESERVE) == 16 && get(ring, PACKET_LOSS) == 1 &&
            get(ring3, PACKET_VERSION) == TPACKET_V3,
        "options of rings");
  int version = TPACKET_V1;
  CHECK(setsockopt(ring, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 && errno == EBUSY, "its rings");
  CHECK(setsockopt(ring3, SOL_PACKET, PACKET_VERSION, &version, sizeof version) < 0 && errno == EBUSY, "its ring");
  for (int i = 0; i < 2; i++)
    CHECK(!setsockopt(bound, SOL_PACKET, PACKET_DROP_MEMBERSHIP, &promiscuous, sizeof promiscuous), "promiscuous %d",
          i);
  CHECK(setsockopt(bound, SOL_PACKET, PACKET_DROP_MEMBERSHIP, &promiscuous, sizeof promiscuous) < 0 ||
            get(bound, PACKET_VERSION) == 0,
        "promiscuous once more");
  CHECK(!setsockopt(bound, SOL_PACKET, PACKET_DROP_MEMBERSHIP, &group, sizeof group), "multicast");
  heard(members[0], ""), heard(members[1], "");
  for (int i = 0; i < 4; i++) send_packet(sender, OTHER + 1, "fan");
  int first = heard(members[0], "fan"), second = heard(members[1], "fan");
  CHECK(first == 2 && second == 2, "of a group: %d and %d", first, second);
  CHECK(get(members[1], PACKET_FANOUT) == ((getpid() & 0xffff) | PACKET_FANOUT_LB << 16), "the group's number");
  close(pipes[1]);
  CHECK(waitpid(child, NULL, 0) == child, "the child");
  return feature_pass();
}
