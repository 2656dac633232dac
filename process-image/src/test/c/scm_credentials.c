/* Credentials of messages in flight in unix sockets (SCM_CREDENTIALS of unix(7)): of this process, of a child, of one
 * that has ended, said by the kernel or by the sender, alone and with descriptors; in a stream they part the bytes. */
#include "in_flight.h"
#include <sys/eventfd.h>
#include <sys/wait.h>

static void ask(int fd) {
  MUST(!setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)));
}

static void check_sender(Message got, pid_t pid, const char *what) {
  CHECK(got.sender.pid == pid && got.sender.uid == getuid() && got.sender.gid == getgid(),
        "%s: of process %d, user %d, group %d, not of process %d", what, got.sender.pid, (int)got.sender.uid,
        (int)got.sender.gid, pid);
}

static pid_t child(void (*work)(void)) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (pid == 0) {
    feature_child();
    work();
    _exit(0);
  }
  return pid;
}

static int datagrams[2], stream[2], later[2];

static void speak(void) {
  MUST(send(datagrams[0], "ended", 5, 0) == 5 && send(stream[0], "ended", 5, 0) == 5);
}

static void speak_and_stay(void) {
  int counter = eventfd(5, EFD_NONBLOCK);
  send_along(datagrams[0], "child", 5, &counter, 1, NULL);
  MUST(send(stream[0], "child", 5, 0) == 5);
  open_scratch("spoken", O_CREAT | O_RDWR);
  while (!feature_finishing()) pause_ms(2);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) && !socketpair(AF_UNIX, SOCK_STREAM, 0, stream) &&
       !socketpair(AF_UNIX, SOCK_SEQPACKET, 0, later));
  ask(datagrams[1]), ask(stream[1]);
  struct ucred own = {.pid = getpid(), .uid = getuid(), .gid = getgid()};
  MUST(send(datagrams[0], "own", 3, 0) == 3 && send(stream[0], "own", 3, 0) == 3);
  pid_t ended = child(speak);
  MUST(waitpid(ended, NULL, 0) == ended);
  pid_t alive = child(speak_and_stay);
  while (access(scratch("spoken"), F_OK)) pause_ms(1);
  int counter = eventfd(9, EFD_NONBLOCK);
  send_along(stream[0], "both", 4, &counter, 1, &own);
  close(counter);
  /* Nobody asks for them yet. */
  send_along(later[0], "said", 4, NULL, 0, &own);
  MUST(send(later[0], "unsaid", 6, 0) == 6);

  feature_ready();
  while (!feature_finishing()) pause_ms(2);

  check_sender(expect(datagrams[1], "own", 0), own.pid, "its own datagram");
  check_sender(expect(datagrams[1], "ended", 0), ended, "a datagram of one that has ended");
  Message got = expect(datagrams[1], "child", 1);
  check_sender(got, alive, "a child's datagram");
  uint64_t value = 0;
  CHECK(read(got.sent[0], &value, 8) == 8 && value == 5, "the child's eventfd has %llu", (unsigned long long)value);
  expect_empty(datagrams[1]);

  check_sender(expect(stream[1], "own", 0), own.pid, "its own bytes");
  check_sender(expect(stream[1], "ended", 0), ended, "bytes of one that has ended");
  check_sender(expect(stream[1], "child", 0), alive, "a child's bytes");
  got = expect(stream[1], "both", 1);
  check_sender(got, own.pid, "bytes with a descriptor");
  CHECK(read(got.sent[0], &value, 8) == 8 && value == 9, "the eventfd has %llu", (unsigned long long)value);
  expect_empty(stream[1]);

  ask(later[1]);
  check_sender(expect(later[1], "said", 0), own.pid, "what nobody asked for");
  got = expect(later[1], "unsaid", 0);
  CHECK(got.sender.pid == 0, "a message without credentials is of process %d", got.sender.pid);
  int status;
  CHECK(waitpid(alive, &status, 0) == alive && status == 0, "the child ended with %#x", status);
  return feature_pass();
}
