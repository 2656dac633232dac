/* Netlink sockets that are connected to each other's ports, to groups, and to a port that nobody has: what is sent
 * arrives where it did, between threads, processes and duplicates. As root, who alone may connect them so. */
#include "feature.h"
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define GROUP 5
#define NOBODY 0x7abcdef0u

static int new_socket(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
  MUST(fd >= 0);
  return fd;
}

static unsigned bound(int fd, unsigned groups) {
  struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_groups = groups};
  socklen_t length = sizeof name;
  MUST(!bind(fd, (void *)&name, length) && !getsockname(fd, (void *)&name, &length));
  return name.nl_pid;
}

static bool connect_to(int fd, unsigned port, unsigned groups) {
  struct sockaddr_nl name = {.nl_family = AF_NETLINK, .nl_pid = port, .nl_groups = groups};
  return !connect(fd, (void *)&name, sizeof name);
}

static void check_peer(int fd, unsigned port, unsigned groups, const char *what) {
  struct sockaddr_nl name = {0};
  socklen_t length = sizeof name;
  CHECK(!getpeername(fd, (void *)&name, &length) && name.nl_pid == port && name.nl_groups == groups,
        "%s is connected to port %u, groups %#x", what, name.nl_pid, name.nl_groups);
}

static void say(int fd, uint32_t word) {
  struct {
    struct nlmsghdr header;
    uint32_t word;
  } message = {{.nlmsg_len = sizeof message, .nlmsg_type = 0x1234}, word};
  CHECK(send(fd, &message, sizeof message, 0) == sizeof message, "send: %s", strerror(errno));
}

static uint32_t hear(int fd) {
  uint32_t got[5] = {0};
  return recv(fd, got, sizeof got, MSG_DONTWAIT) == sizeof got ? got[4] : 0;
}

static void *say_in_thread(void *fd) {
  say(*(int *)fd, 77);
  return NULL;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int server = new_socket(), client = new_socket(), group = new_socket(), of_group = new_socket(), lost = new_socket();
  unsigned port = bound(server, 0), group_port = bound(group, 1u << (GROUP - 1));
  unsigned client_port = bound(client, 0);
  bool root = connect_to(client, port, 0);
  MUST(root || geteuid());
  if (!root) { /* nothing to see */
    feature_ready();
    while (!feature_finishing()) pause_ms(2);
    return feature_pass();
  }
  MUST(connect_to(server, client_port, 0) && connect_to(of_group, 0, 1u << (GROUP - 1)));
  MUST(connect_to(lost, NOBODY, 0));
  int duplicate = dup(client), orders[2];
  MUST(duplicate >= 0 && !pipe(orders));
  pid_t child = fork();
  if (child == 0) {
    char order;
    int own = new_socket();
    MUST(connect_to(own, group_port, 0) && !close(orders[1]));
    MUST(read(orders[0], &order, 1) == 1);
    say(own, 11), say(client, 12);
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    say(client, 1);
    CHECK(hear(server) == 1, "the server");
    pause_ms(2);
  }
  check_peer(client, port, 0, "the client"), check_peer(of_group, 0, 1u << (GROUP - 1), "one of a group");
  check_peer(lost, NOBODY, 0, "one without a peer"), check_peer(group, 0, 0, "the group");
  say(server, 2);
  CHECK(hear(duplicate) == 2, "the client's duplicate");
  pthread_t thread;
  MUST(!pthread_create(&thread, NULL, say_in_thread, &duplicate) && !pthread_join(thread, NULL));
  CHECK(hear(server) == 77, "from a thread");
  while (hear(group) || errno != EAGAIN)
    ;               /* what happened on this machine */
  say(of_group, 3); /* the server, which is connected, hears its own peer only */
  CHECK(hear(group) == 3, "the group");
  CHECK(send(lost, &port, sizeof port, 0) < 0 && errno == ECONNREFUSED, "a port that nobody has: %s", strerror(errno));
  struct sockaddr_nl now;
  socklen_t length = sizeof now;
  CHECK(!getsockname(group, (void *)&now, &length) && now.nl_pid == group_port, "the group's port");
  int status;
  CHECK(write(orders[1], "s", 1) == 1 && waitpid(child, &status, 0) == child && status == 0, "the child");
  CHECK(hear(group) == 11 && hear(server) == 12, "from a child");
  return feature_pass();
}
