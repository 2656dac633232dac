/* System V message queues: ids, keys, limits, messages in their order, and who waits for one or for room. */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/wait.h>

enum { BYTES = 700, WAITING = 40, SOMEBODY = 33 };
typedef struct {
  long type;
  char text[BYTES];
} Message;
static int keyed, full, quiet;

static void send_to(int queue, long type, size_t bytes, uint64_t seed) {
  Message message = {.type = type};
  fill_pattern(message.text, bytes, seed);
  CHECK(!msgsnd(queue, &message, bytes, 0), "send %zu bytes to queue %d", bytes, queue);
}

static void receive(int queue, long type, long expected, size_t bytes, uint64_t seed) {
  Message message;
  ssize_t got = msgrcv(queue, &message, sizeof message.text, type, 0);
  CHECK(got == (ssize_t)bytes && message.type == expected, "%zd bytes of type %ld from queue %d", got, message.type,
        queue);
  check_pattern(message.text, bytes, seed, "a message");
}

/* Answers each message of type 1 with one of type 2. */
static void answer(void) {
  feature_child();
  for (uint64_t i = 0;; i++) {
    receive(keyed, 1, 1, 8 + i % 600, i);
    send_to(keyed, 2, i % 600, i + 1);
  }
}

static void *wait_for_room(void *unused) {
  send_to(full, 9, BYTES, 99);
  return NULL;
}

static void *wait_for_message(void *unused) {
  receive(quiet, 0, 5, 3, 55);
  return NULL;
}

static size_t fill(void) {
  struct msqid_ds status;
  MUST(!msgctl(full, IPC_STAT, &status));
  status.msg_qbytes = 5000;
  MUST(!msgctl(full, IPC_SET, &status));
  size_t sent = 0;
  for (Message message = {.type = 3}; sent * BYTES + BYTES <= 5000; sent++) {
    message.type = 3 + (long)(sent % 2);
    fill_pattern(message.text, BYTES, sent);
    MUST(!msgsnd(full, &message, BYTES, IPC_NOWAIT));
  }
  return sent;
}

static void check_queues(size_t sent, const struct msqid_ds *before) {
  struct msqid_ds status;
  MUST(!msgctl(full, IPC_STAT, &status));
  CHECK(status.msg_qnum == sent && status.msg_qbytes == 5000 && status.msg_lspid == getpid() && !status.msg_lrpid,
        "%lu messages, at most %lu bytes, last users %d and %d", status.msg_qnum, status.msg_qbytes, status.msg_lspid,
        status.msg_lrpid);
  MUST(!msgctl(keyed, IPC_STAT, &status));
  CHECK(status.msg_perm.mode == before->msg_perm.mode && status.msg_perm.uid == before->msg_perm.uid,
        "mode %o, user %d", status.msg_perm.mode, status.msg_perm.uid);
  CHECK(status.msg_qnum == WAITING, "%lu messages are left", status.msg_qnum);
  CHECK(msgget(0x75640000 | (getpid() & 0xffff), 0) == keyed, "the key leads to another queue");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  keyed = msgget(0x75640000 | (getpid() & 0xffff), IPC_CREAT | IPC_EXCL | 0622 | 0400);
  full = msgget(IPC_PRIVATE, 0600);
  quiet = msgget(0x75650000 | (getpid() & 0xffff), IPC_CREAT | 0600);
  MUST(keyed >= 0 && full >= 0 && quiet >= 0);
  struct msqid_ds before;
  MUST(!msgctl(keyed, IPC_STAT, &before));
  before.msg_perm.uid = before.msg_perm.gid = SOMEBODY;
  MUST(geteuid() || !msgctl(keyed, IPC_SET, &before)); /* root may give it away */
  MUST(!msgctl(keyed, IPC_STAT, &before));
  for (int i = 0; i < WAITING; i++) send_to(keyed, 10 + i % 3, (size_t)i, (uint64_t)i);
  size_t sent = fill();
  pthread_t writer = start_thread(wait_for_room, NULL), reader = start_thread(wait_for_message, NULL);
  pid_t child = fork();
  if (!child) answer();
  feature_ready();
  bool over = false;
  for (uint64_t i = 0; !over; i++) {
    over = feature_finishing();
    send_to(keyed, 1, 8 + i % 600, i);
    receive(keyed, 2, 2, i % 600, i + 1);
    check_queues(sent, &before);
    pause_ms(2);
  }
  for (int type = 0; type < 3; type++)
    for (int i = type; i < WAITING; i += 3) receive(keyed, 10 + type, 10 + type, (size_t)i, (uint64_t)i);
  for (size_t i = 0; i < sent; i++) receive(full, 0, 3 + (long)(i % 2), BYTES, i);
  join_thread(writer);
  receive(full, 0, 9, BYTES, 99);
  send_to(quiet, 5, 3, 55);
  join_thread(reader);
  MUST(!kill(child, SIGKILL));
  CHECK(waitpid(child, NULL, 0) == child, "the child");
  MUST(!msgctl(keyed, IPC_RMID, NULL) && !msgctl(full, IPC_RMID, NULL) && !msgctl(quiet, IPC_RMID, NULL));
  return feature_pass();
}
