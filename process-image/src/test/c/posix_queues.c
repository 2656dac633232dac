/* POSIX message queues: names, also one that was removed and made again; limits, modes, flags of descriptors; messages
 * in their order, who waits for one or for room, two processes with one queue; notifications. */
#include "feature.h"
#include <mqueue.h>
#include <sys/vfs.h>
#include <sys/wait.h>

enum { MOST = 8, LONGEST = 300, WAITING = 7, VALUE = 0x12345678 };
static mqd_t ordered, gone, again, full, quiet, ping, empty, busy, nothing;
static volatile sig_atomic_t signals, bad_signals;

static char *name(const char *what) {
  static char names[4][64];
  static unsigned next;
  char *text = names[next++ % 4];
  snprintf(text, sizeof names[0], "/udckpt-feature-%d-%s", feature_pid, what);
  return text;
}

static mqd_t made(const char *what, int flags, long most) {
  struct mq_attr attributes = {.mq_maxmsg = most, .mq_msgsize = LONGEST};
  mq_unlink(name(what));
  mqd_t queue = mq_open(name(what), O_CREAT | O_EXCL | flags, 0600, &attributes);
  CHECK(queue >= 0, "mq_open %s", name(what));
  return queue;
}

static void send_to(mqd_t queue, unsigned priority, size_t bytes, uint64_t seed) {
  char text[LONGEST];
  fill_pattern(text, bytes, seed);
  CHECK(!mq_send(queue, text, bytes, priority), "send %zu bytes", bytes);
}

static void receive(mqd_t queue, unsigned expected, size_t bytes, uint64_t seed, const char *what) {
  char text[LONGEST];
  unsigned priority;
  ssize_t got = mq_receive(queue, text, sizeof text, &priority);
  CHECK(got == (ssize_t)bytes && priority == expected, "%zd bytes of priority %u from queue %s", got, priority, what);
  check_pattern(text, bytes, seed, what);
}

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  if (info->si_code == SI_MESGQ && info->si_value.sival_int == VALUE) signals++;
  else bad_signals++;
}

static void ask(mqd_t queue, int notify, int value) {
  struct sigevent event = {.sigev_notify = notify, .sigev_signo = SIGUSR2, .sigev_value.sival_int = value};
  MUST(!mq_notify(queue, &event));
}

static void *wait_for_room(void *unused) {
  send_to(full, 9, LONGEST, 99);
  return unused;
}

static void *wait_for_message(void *unused) {
  receive(quiet, 5, 3, 55, "quiet");
  return unused;
}

static void *wait_with_a_limit(void *unused) {
  struct timespec end;
  char text[LONGEST];
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 3600;
  CHECK(mq_timedreceive(empty, text, sizeof text, NULL, &end) == 2, "mq_timedreceive");
  return unused;
}

/* Answers by the same queue, with another priority. */
static void answer(void) {
  feature_child();
  for (uint64_t i = 0;; i++) {
    receive(ping, 1, i % LONGEST, i, "ping");
    send_to(again, 2, i % LONGEST, i + 1);
  }
}

/* A queue that nobody has open is found where such queues are shown, and it is empty: its maker is not known. */
static bool shown(void) {
  struct statfs system;
  return !statfs("/dev/mqueue", &system) && system.f_type == 0x19800202;
}

static void leave_closed(void) {
  mqd_t queue = made("closed", O_WRONLY, 3);
  MUST(!mq_close(queue));
}

static void check_closed(void) {
  mqd_t queue = mq_open(name("closed"), O_RDONLY | O_NONBLOCK);
  CHECK(queue >= 0 || !shown(), "a queue that nobody had open");
  if (queue >= 0 && shown()) {
    struct mq_attr is;
    MUST(!mq_getattr(queue, &is) && is.mq_maxmsg == 3 && !is.mq_curmsgs);
  }
  mq_unlink(name("closed"));
}

/* Order of arrival within a priority; some are empty. */
static unsigned priority_of(int i) {
  static const unsigned priorities[WAITING] = {3, 32767, 3, 0, 7, 3, 0};
  return priorities[i];
}

static void fill_ordered(mqd_t queue) {
  for (int i = 0; i < WAITING; i++) send_to(queue, priority_of(i), (size_t)i * 40, (uint64_t)i);
}

static void empty_ordered(mqd_t queue) {
  static const int order[WAITING] = {1, 4, 0, 2, 5, 3, 6};
  for (int k = 0; k < WAITING; k++)
    receive(queue, priority_of(order[k]), (size_t)order[k] * 40, (uint64_t)order[k], "ordered");
}

static void check_attributes(mqd_t queue, long most, long waiting, long flags, const char *what) {
  struct mq_attr is;
  MUST(!mq_getattr(queue, &is));
  CHECK(is.mq_maxmsg == most && is.mq_msgsize == LONGEST && is.mq_curmsgs == waiting && is.mq_flags == flags,
        "%s: %ld messages of %ld, %ld wait, flags %ld", what, is.mq_maxmsg, is.mq_msgsize, is.mq_curmsgs, is.mq_flags);
}

static void check_queues(mqd_t reader) {
  struct stat stat;
  check_attributes(ordered, MOST, WAITING, 0, "ordered");
  check_attributes(reader, MOST, 1, O_NONBLOCK, "gone");
  check_attributes(full, 2, 2, 0, "full");
  check_flags(ordered, O_RDWR, FD_CLOEXEC, "ordered"), check_flags(gone, O_WRONLY, FD_CLOEXEC, "gone"),
      check_flags(reader, O_RDONLY | O_NONBLOCK, FD_CLOEXEC, "gone's reader"), check_flags(again, O_RDWR, 0, "again");
  MUST(!fstat(ordered, &stat));
  CHECK((stat.st_mode & 07777) == 0640 && stat.st_uid == geteuid() && stat.st_nlink == 1, "mode %o", stat.st_mode);
  MUST(!fstat(gone, &stat));
  CHECK(!stat.st_nlink, "a queue that was removed has %lu names", stat.st_nlink);
  CHECK(mq_notify(nothing, &(struct sigevent){.sigev_notify = SIGEV_NONE}) && errno == EBUSY, "mq_notify is free");
  CHECK(!signals && !bad_signals, "%d signals, %d others", signals, bad_signals);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGUSR2, &action, NULL));
  ordered = made("ordered", O_RDWR, MOST);
  MUST(!fchmod(ordered, 0640));
  fill_ordered(ordered);
  gone = made("again", O_WRONLY, MOST);
  mqd_t reader = mq_open(name("again"), O_RDONLY | O_NONBLOCK);
  MUST(reader >= 0 && !mq_unlink(name("again")));
  send_to(gone, 1, 20, 77);
  again = made("again", O_RDWR, 4);
  MUST(!fcntl(again, F_SETFD, 0));
  full = made("full", O_RDWR, 2);
  send_to(full, 3, 1, 1), send_to(full, 3, 2, 2);
  quiet = made("quiet", O_RDWR, 3), ping = made("ping", O_RDWR, 1), empty = made("empty", O_RDWR, 2);
  busy = made("busy", O_RDWR, MOST), nothing = made("nothing", O_RDWR, 1);
  fill_ordered(busy);
  mqd_t single = made("single", O_RDWR, 2);
  send_to(single, 300, 30, 30);
  /* notifications: of queues with messages, which are not to be told now; of an empty one, and of nothing */
  mqd_t told = made("told", O_RDWR, 2);
  ask(busy, SIGEV_SIGNAL, VALUE), ask(single, SIGEV_SIGNAL, VALUE);
  ask(told, SIGEV_SIGNAL, 1);
  MUST(!mq_notify(told, NULL));
  ask(told, SIGEV_SIGNAL, VALUE);
  ask(nothing, SIGEV_NONE, 0);
  leave_closed();
  pthread_t writer = start_thread(wait_for_room, NULL), waiter = start_thread(wait_for_message, NULL),
            limited = start_thread(wait_with_a_limit, NULL);
  pid_t child = fork();
  if (!child) answer();
  feature_ready();
  bool over = false;
  for (uint64_t i = 0; !over; i++) {
    over = feature_finishing();
    send_to(ping, 1, i % LONGEST, i);
    receive(again, 2, i % LONGEST, i + 1, "again");
    check_queues(reader);
    pause_ms(2);
  }
  empty_ordered(ordered);
  receive(reader, 1, 20, 77, "gone");
  receive(full, 3, 1, 1, "full");
  join_thread(writer); /* his message has the place at once, and comes first */
  receive(full, 9, LONGEST, 99, "full"), receive(full, 3, 2, 2, "full");
  send_to(quiet, 5, 3, 55), send_to(empty, 0, 2, 1);
  join_thread(waiter), join_thread(limited);
  empty_ordered(busy), receive(single, 300, 30, 30, "single");
  CHECK(!signals, "a signal before a message");
  send_to(busy, 0, 1, 1), send_to(told, 0, 1, 1), send_to(single, 0, 1, 1);
  for (int i = 0; signals < 3 && i < 1000; i++) pause_ms(2);
  CHECK(signals == 3 && !bad_signals, "%d signals of 3, and %d others", signals, bad_signals);
  check_closed();
  MUST(!kill(child, SIGKILL));
  CHECK(waitpid(child, NULL, 0) == child, "the child");
  static const char *const all[] = {"ordered", "again", "full",    "quiet",  "ping",
                                    "empty",   "busy",  "nothing", "single", "told"};
  for (unsigned i = 0; i < sizeof all / sizeof *all; i++) CHECK(!mq_unlink(name(all[i])), "mq_unlink %s", name(all[i]));
  return feature_pass();
}
