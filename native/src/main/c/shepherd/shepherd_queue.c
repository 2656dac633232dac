/* udckpt-shepherd --copy-queue PATH: writes the messages of a POSIX message queue (mq_overview(7)) to standard output,
 * each as struct head and its text, in the order in which they would be received, and leaves the queue as it was.
 *
 * Messages can be read only by receiving them, so all are taken out and sent again; who has the queue open stands still
 * meanwhile. This is a process of its own because it has them in its memory alone for that moment: the agent may be
 * killed at any time, and the job must not lose a message by that. It leaves the agent's session and takes no signal.
 *
 * A notification (mq_notify(2)) fires when a message comes into an empty queue. Where one is registered, the queue is
 * never empty: before its last message is taken, an empty one of the same priority is put behind it. That priority is
 * found by trying all from that of the message before it downwards, some 30 ms at most. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shepherd.h"

enum { HIGHEST = 32767 /* MQ_PRIO_MAX - 1 */, ATTEMPTS = 10000 };

struct head {
  unsigned priority, length;
};

static struct {
  mqd_t fd;
  char *room; /* for the longest message */
  size_t longest;
  struct head *heads;
  bool *sent;  /* those that are in the queue again */
  char *texts; /* one behind the other */
  size_t count, bytes;
} queue;

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 74;
}

/* False: there is none. */
static bool receive(struct head *head) {
  ssize_t length = mq_receive(queue.fd, queue.room, queue.longest, &head->priority);
  head->length = (unsigned)length;
  return length >= 0;
}

static void keep(const struct head *head) {
  queue.heads[queue.count++] = *head;
  memcpy(queue.texts + queue.bytes, queue.room, head->length);
  queue.bytes += head->length;
}

/* There is room; memory may be short for a moment. */
static bool send_text(const char *text, size_t length, unsigned priority) {
  for (int i = 0; mq_send(queue.fd, text, length, priority) < 0; i++) {
    if (i == ATTEMPTS) return false;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
  return true;
}

/* Those of [from, to) that are not there. */
static bool put_back(size_t from, size_t to) {
  const char *text = queue.texts;
  for (size_t i = 0; i < to; text += queue.heads[i++].length)
    if (i >= from && !queue.sent[i]) {
      if (!send_text(text, queue.heads[i].length, queue.heads[i].priority)) return false;
      queue.sent[i] = true;
    }
  return true;
}

/* With a notification: all but the last of `count` were taken, of `bytes` with it. */
static bool exchange_last(size_t bytes) {
  unsigned left = (unsigned)(bytes - queue.bytes), mark = left == 0; /* its length tells which is which */
  unsigned priority = queue.count ? queue.heads[queue.count - 1].priority : HIGHEST;
  struct head head;
  for (;; priority--) {
    if (!send_text("", mark, priority) || !receive(&head)) return false;
    if (head.length == left) break; /* it was the first of its priority */
    if (priority == 0) return false;
  }
  keep(&head);
  /* what was before it with this priority goes back first, and then the mark is the first of all */
  size_t first = queue.count - 1;
  while (first > 0 && queue.heads[first - 1].priority == head.priority) first--;
  return put_back(first, first + 1) && receive(&head) && put_back(first + 1, queue.count) && put_back(0, first);
}

static bool exchange(size_t count, size_t bytes, bool notified) {
  struct head head;
  while (queue.count + notified < count && receive(&head)) keep(&head);
  return notified ? exchange_last(bytes) : put_back(0, queue.count);
}

static void leave_agent(void) {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, NULL); /* a broken pipe, too */
  setsid();
}

int queue_copy(const char *path) {
  leave_agent();
  char status[128] = "";
  struct mq_attr attributes;
  unsigned long bytes = 0;
  int registered = 0;
  queue.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (queue.fd < 0 || mq_getattr(queue.fd, &attributes) < 0) return fail("open");
  const char *owner = pread(queue.fd, status, sizeof status - 1, 0) < 0 ? NULL : strstr(status, "NOTIFY_PID:");
  if (owner == NULL || sscanf(status, "QSIZE:%lu", &bytes) != 1 || sscanf(owner, "NOTIFY_PID:%d", &registered) != 1)
    return fail("read its status");
  size_t count = (size_t)attributes.mq_curmsgs;
  queue.longest = (size_t)attributes.mq_msgsize;
  queue.room = malloc(queue.longest);
  queue.heads = calloc(count + 1, sizeof *queue.heads);
  queue.sent = calloc(count + 1, sizeof *queue.sent);
  queue.texts = malloc(bytes + 1);
  if (!queue.room || !queue.heads || !queue.sent || !queue.texts) return fail("memory for its messages");
  memset(queue.texts, 0, bytes + 1); /* now, and not with messages in hand */
  if (registered != 0 && attributes.mq_maxmsg < 2) return fail("a notification, and room for one message only");
  if (count > 0 && !exchange(count, bytes, registered != 0)) {
    int code = fail("send its messages again");
    put_back(0, queue.count); /* in any order */
    return code;
  }
  const char *text = queue.texts;
  for (size_t i = 0; i < queue.count; text += queue.heads[i++].length)
    if (!fwrite(&queue.heads[i], sizeof *queue.heads, 1, stdout) ||
        fwrite(text, 1, queue.heads[i].length, stdout) != queue.heads[i].length)
      return fail("write its messages");
  return fflush(stdout) ? fail("write its messages") : 0;
}
