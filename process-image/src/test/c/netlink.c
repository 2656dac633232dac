/* Netlink sockets: one through which the kernel is asked without a pause, as the C library does, and one that hears its
 * news; their ports, groups. */
#include "feature.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  MUST(fd >= 0);
  struct sockaddr_nl address = {.nl_family = AF_NETLINK},
                     news_address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK}, now;
  socklen_t length = sizeof address;
  MUST(!bind(fd, (void *)&address, length) && !getsockname(fd, (void *)&address, &length));
  int news = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), yes = 1,
      group = RTNLGRP_IPV4_RULE;
  MUST(news >= 0 && !bind(news, (void *)&news_address, length) && !getsockname(news, (void *)&news_address, &length));
  MUST(!setsockopt(news, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof group) &&
       !setsockopt(news, SOL_NETLINK, NETLINK_NO_ENOBUFS, &yes, sizeof yes));
  /* as dbus-daemon(1) has one; asked, it answers root, and others with an error */
  int audit = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
  MUST(audit >= 0 || errno == EPROTONOSUPPORT);
  feature_ready();
  for (uint32_t sequence = 1; !feature_finishing(); sequence++) {
    struct {
      struct nlmsghdr header;
      struct rtgenmsg body;
    } question = {{.nlmsg_len = sizeof question,
                   .nlmsg_type = RTM_GETLINK,
                   .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                   .nlmsg_seq = sequence},
                  {.rtgen_family = AF_UNSPEC}};
    static _Alignas(16) char answer[65536];
    MUST(send(fd, &question, sizeof question, 0) == sizeof question);
    for (bool done = false; !done;) {
      ssize_t got = recv(fd, answer, sizeof answer, 0);
      CHECK(got > 0, "recv from netlink");
      for (struct nlmsghdr *h = (void *)answer; NLMSG_OK(h, (size_t)got); h = NLMSG_NEXT(h, got)) {
        CHECK(h->nlmsg_seq == sequence, "answer to question %u, asked %u", h->nlmsg_seq, sequence);
        done |= h->nlmsg_type == NLMSG_DONE;
      }
    }
    struct nlmsghdr status = {.nlmsg_len = sizeof status, .nlmsg_type = 1000, .nlmsg_flags = NLM_F_REQUEST};
    MUST(audit < 0 || send(audit, &status, sizeof status, 0) == sizeof status);
    CHECK(audit < 0 || recv(audit, answer, sizeof answer, 0) >= (ssize_t)sizeof status, "no answer about audits");
    while (recv(news, answer, sizeof answer, 0) > 0)
      ; /* whatever happens on this machine: who does not read it cannot be captured */
    pause_ms(5);
  }
  CHECK(!getsockname(fd, (void *)&now, &length) && now.nl_pid == address.nl_pid, "port %u, not %u", now.nl_pid,
        address.nl_pid);
  CHECK(!getsockname(news, (void *)&now, &length) && now.nl_pid == news_address.nl_pid && (now.nl_groups & RTMGRP_LINK),
        "groups 0x%x", now.nl_groups);
  unsigned groups[16] = {0};
  length = sizeof groups;
  CHECK(!getsockopt(news, SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, groups, &length) &&
            (groups[(group - 1) / 32] >> (group - 1) % 32 & 1),
        "not in group %d any more", group);
  yes = 0;
  length = sizeof yes;
  CHECK(!getsockopt(news, SOL_NETLINK, NETLINK_NO_ENOBUFS, &yes, &length) && yes == 1, "an option is lost");
  return feature_pass();
}
