/* Descriptors in flight in unix sockets (SCM_RIGHTS of unix(7)): what nobody else has open, sockets that have
 * descriptors in flight themselves, and where in a stream they are. */
#include "in_flight.h"
#include <sys/eventfd.h>
#include <sys/mman.h>

static void pair(int type, int sockets[2]) {
  MUST(!socketpair(AF_UNIX, type, 0, sockets));
}

static int file_with(int fd, const char *text) {
  MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && lseek(fd, 2, SEEK_SET) == 2);
  return fd;
}

static void check_file(int fd, const char *text) {
  char got[64] = "";
  CHECK(lseek(fd, 0, SEEK_CUR) == 2, "a file's position");
  CHECK(pread(fd, got, sizeof got - 1, 0) == (ssize_t)strlen(text) && !strcmp(got, text), "a file has \"%s\"", got);
  close(fd);
}

static void check_pipe(int from, int to, const char *before) {
  char got[16] = "";
  CHECK(read(from, got, sizeof got - 1) == (ssize_t)strlen(before) && !strcmp(got, before), "a pipe has \"%s\"", got);
  CHECK(write(to, "new", 3) == 3 && read(from, got, 3) == 3 && !memcmp(got, "new", 3), "a pipe");
}

static bool same_file(int a, int b) {
  return syscall(SYS_kcmp, getpid(), getpid(), 0 /* KCMP_FILE */, a, b) == 0;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  /* What nobody else has: a pipe with bytes, whose ends come in one message, an eventfd, files of three kinds. */
  int plain[2], ends[2];
  pair(SOCK_DGRAM, plain);
  MUST(!pipe(ends) && write(ends[1], "old", 3) == 3);
  send_along(plain[0], "pipe", 4, ends, 2, NULL);
  close(ends[0]), close(ends[1]);
  int counter = eventfd(7, EFD_NONBLOCK);
  send_one(plain[0], "counter", counter), close(counter);
  int named = file_with(open_scratch("named", O_CREAT | O_RDWR), "a named file");
  send_one(plain[0], "named", named), close(named);
  int deleted = file_with(open_scratch("deleted", O_CREAT | O_RDWR), "a deleted file");
  MUST(!unlink(scratch("deleted")));
  send_one(plain[0], "deleted", deleted), close(deleted);
  int memory = file_with(memfd_create("memory", 0), "a file in memory");
  send_one(plain[0], "memory", memory), close(memory);

  /* What is open, too, and one open file three times. */
  int kept = file_with(open_scratch("kept", O_CREAT | O_RDWR), "a kept file"), again[3] = {kept, kept, kept};
  int sequence[2];
  pair(SOCK_SEQPACKET, sequence);
  send_along(sequence[0], "", 0, again, 3, NULL);
  send_along(sequence[0], "no descriptors", 14, NULL, 0, NULL);
  close(sequence[0]);

  /* A socket in flight with another one in its queue, which has an eventfd in its own. */
  int outer[2], inner[2], inmost[2];
  pair(SOCK_STREAM, outer), pair(SOCK_DGRAM, inner), pair(SOCK_STREAM, inmost);
  int deep = eventfd(3, EFD_NONBLOCK);
  send_one(inmost[0], "deep", deep), close(deep);
  send_one(inner[0], "inmost", inmost[1]), close(inmost[1]);
  send_one(outer[0], "inner", inner[1]), close(inner[1]);

  /* Itself. */
  int self[2];
  pair(SOCK_STREAM, self);
  send_one(self[0], "itself", self[1]);

  /* Where in a stream: bytes before, between and behind. */
  int stream[2], first = eventfd(1, EFD_NONBLOCK), second = eventfd(2, EFD_NONBLOCK);
  pair(SOCK_STREAM, stream);
  MUST(send(stream[0], "before", 6, 0) == 6);
  send_one(stream[0], "first", first);
  send_one(stream[0], "second", second);
  MUST(send(stream[0], "bet", 3, 0) == 3 && send(stream[0], "ween", 4, 0) == 4);
  send_one(stream[0], "third", first);
  MUST(send(stream[0], "behind", 6, 0) == 6);
  close(first), close(second);

  /* One that will be shut and one with a name. */
  int shut[2], server = socket(AF_UNIX, SOCK_DGRAM, 0), client = socket(AF_UNIX, SOCK_DGRAM, 0);
  pair(SOCK_STREAM, shut);
  send_one(shut[0], "shut", kept);
  MUST(!shutdown(shut[0], SHUT_WR));
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  strncpy(name.sun_path, scratch("server"), sizeof name.sun_path - 1);
  MUST(!bind(server, (struct sockaddr *)&name, sizeof name));
  MUST(!connect(client, (struct sockaddr *)&name, sizeof name));
  send_one(client, "to a name", kept);

  feature_ready();
  while (!feature_finishing()) pause_ms(2);

  Message got = expect(plain[1], "pipe", 2);
  check_pipe(got.sent[0], got.sent[1], "old");
  uint64_t value = 0;
  got = expect(plain[1], "counter", 1);
  CHECK(read(got.sent[0], &value, 8) == 8 && value == 7, "an eventfd has %llu", (unsigned long long)value);
  check_file(expect(plain[1], "named", 1).sent[0], "a named file");
  check_file(expect(plain[1], "deleted", 1).sent[0], "a deleted file");
  check_file(expect(plain[1], "memory", 1).sent[0], "a file in memory");
  expect_empty(plain[1]);

  got = expect(sequence[1], "", 3);
  for (int i = 0; i < 3; i++) CHECK(same_file(got.sent[i], kept), "descriptor %d is another open file", i);
  expect(sequence[1], "no descriptors", 0);
  CHECK(recv(sequence[1], &value, 1, MSG_DONTWAIT) == 0, "the peer has closed");

  int in = expect(outer[1], "inner", 1).sent[0], most = expect(in, "inmost", 1).sent[0];
  CHECK(send(inner[0], "x", 1, 0) == 1 && recv(in, &value, 8, MSG_DONTWAIT) == 1, "a socket that was in flight");
  got = expect(most, "deep", 1);
  CHECK(read(got.sent[0], &value, 8) == 8 && value == 3, "the inmost eventfd has %llu", (unsigned long long)value);
  CHECK(send(inmost[0], "y", 1, 0) == 1 && recv(most, &value, 8, MSG_DONTWAIT) == 1, "the inmost socket");

  CHECK(same_file(expect(self[1], "itself", 1).sent[0], self[1]), "a socket in its own queue is another one");

  int one = expect(stream[1], "beforefirst", 1).sent[0];
  CHECK(read(one, &value, 8) == 8 && value == 1, "the first in the stream");
  got = expect(stream[1], "second", 1);
  CHECK(read(got.sent[0], &value, 8) == 8 && value == 2, "the second in the stream");
  CHECK(same_file(expect(stream[1], "betweenthird", 1).sent[0], one), "the third in the stream");
  expect(stream[1], "behind", 0);
  expect_empty(stream[1]);

  CHECK(same_file(expect(shut[1], "shut", 1).sent[0], kept), "what came from one that was shut");
  CHECK(recv(shut[1], &value, 1, MSG_DONTWAIT) == 0 && send(shut[0], "x", 1, MSG_NOSIGNAL) < 0, "it is shut no more");
  CHECK(same_file(expect(server, "to a name", 1).sent[0], kept), "what was sent to a name");
  send_one(client, "new", kept), expect(server, "new", 1);
  return feature_pass();
}
