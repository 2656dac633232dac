/* A netlink socket: not captured; the checkpoint must be refused by name and the program go on unharmed. */
#include "feature.h"
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  MUST(fd >= 0);
  feature_ready();
  for (uint32_t sequence = 1; !feature_finishing(); sequence++) {
    struct {
      struct nlmsghdr header;
      struct rtgenmsg body;
    } question = {{.nlmsg_len = sizeof question, .nlmsg_type = RTM_GETLINK, .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP, .nlmsg_seq = sequence}, {.rtgen_family = AF_UNSPEC}};
    static _Alignas(16) char answer[65536];
    MUST(send(fd, &question, sizeof question, 0) == sizeof question);
    for (bool done = false; !done;) {
      ssize_t got = recv(fd, answer, sizeof answer, 0);
      CHECK(got > 0, "recv from netlink");
      for (struct nlmsghdr *h = (void *) answer; NLMSG_OK(h, (size_t) got); h = NLMSG_NEXT(h, got)) {
        CHECK(h->nlmsg_seq == sequence, "answer to question %u, asked %u", h->nlmsg_seq, sequence);
        done |= h->nlmsg_type == NLMSG_DONE;
      }
    }
    pause_ms(5);
  }
  return feature_pass();
}
