/* Lines from and to the agent. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "shepherd.h"

static int agent = -1;
static char line[SHEPHERD_LINE];
static size_t used;
static bool bound;    /* ranks of a job that has others elsewhere: nobody but the agent can tell them of its end */
static bool standing; /* the agent has stopped processes of the job (SIGSTOP) */

/* Lines that the agent has not taken yet. One that has been stopped, or hangs, must not keep the shepherd from the
 * job's processes: they are init's children. */
static struct {
  char *bytes;
  size_t used, room;
} untold;

void agent_attach(int fd) {
  agent = fd;
}
int agent_fd(void) {
  return agent;
}

/* How much of it the agent has taken. When its end is closed, all: the poll loop sees that next and says so. */
static size_t tell(const char *bytes, size_t length, int flags) {
  size_t sent = 0;
  while (sent < length) {
    ssize_t n = send(agent, bytes + sent, length - sent, MSG_NOSIGNAL | flags);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? sent : length;
    sent += n;
  }
  return sent;
}

static bool keep(const char *text, size_t length) {
  if (untold.used + length > untold.room) {
    size_t room = 2 * (untold.used + length);
    char *more = realloc(untold.bytes, room);
    if (!more) return false;
    untold.bytes = more;
    untold.room = room;
  }
  memcpy(untold.bytes + untold.used, text, length);
  untold.used += length;
  return true;
}

bool agent_is_behind(void) {
  return untold.used > 0;
}

void agent_writable(void) {
  if (!untold.used) return;
  size_t told = tell(untold.bytes, untold.used, MSG_DONTWAIT);
  untold.used -= told;
  memmove(untold.bytes, untold.bytes + told, untold.used);
}

void agent_say(const char *format, ...) {
  char text[SHEPHERD_LINE];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(text, sizeof text - 1, format, list);
  va_end(list);
  if (length > (int)sizeof text - 2) length = sizeof text - 2;
  text[length++] = '\n';
  if (agent < 0) return;
  if (!keep(text, length)) {
    tell(untold.bytes, untold.used, 0); /* no memory: wait until the agent reads */
    tell(text, length, 0);
    untold.used = 0;
    return;
  }
  agent_writable();
}

bool agent_bound(void) {
  return bound;
}

static void agent_gone(void) {
  close(agent);
  agent = -1;
  untold.used = 0;
  /* the agent stopped them while a debugger had one of them: nobody else ends that */
  if (standing) children_continue_all();
  lazy_lost();
  children_kill_expected();
  if (bound) {
    /* also what has left their groups; and before a word, which may wait for somebody to read it */
    children_signal(SIGKILL, 0);
    fprintf(stderr,
            "udckpt: an agent of this job is gone; its ranks are ended, because ranks on other hosts wait "
            "for them\n");
    return;
  }
  if (children_kill_stubs() > 0)
    fprintf(stderr, "udckpt: the agent of this job is gone; the ranks continue without checkpoints\n");
}

/* Reads "NUMBER" or "NUMBER REST"; false when there is no number. */
static bool number(const char **text, long *value) {
  char *end;
  errno = 0;
  *value = strtol(*text, &end, 10);
  if (end == *text || errno || (*end && *end != ' ')) return false;
  *text = *end ? end + 1 : end;
  return true;
}

static void open_relay(long rank, const char *path) {
  int fd = pmi_open(rank, path);
  if (fd < 0) agent_say("error rank %ld: cannot open the PMI connection %s: %s", rank, path, strerror(errno));
  else agent_say("pmi %ld %d", rank, fd);
}

static void expect(long host_pid) {
  pid_t pid = pid_from_host(host_pid);
  if (pid > 0) child_expect(pid);
  /* else it has exited and was reaped already: nothing to wait for */
}

static void send_signal(long signal, long host_pid) {
  if (children_signal(signal, host_pid) < 0)
    agent_say("error signal %ld to process %ld: %s", signal, host_pid, strerror(errno));
}

static void command(const char *text) {
  static const struct {
    const char *name;
    int numbers;
  } table[] = {{"spawn ", 1},    {"stub ", 1}, {"pmi ", 1},    {"taken ", 1}, {"signal ", 1},
               {"expect ", 1},   {"go", 0},    {"quit", 0},    {"lazy", 0},   {"clock ", 1},
               {"standing ", 1}, {"bound", 0}, {"parent ", 1}, {"last ", 1},  {"adopt ", 1}};
  long value = 0, other = 0;
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    size_t length = strlen(table[i].name);
    if (strncmp(text, table[i].name, length)) continue;
    const char *rest = text + length;
    if (table[i].numbers && !number(&rest, &value)) break;
    switch (i) {
      case 0:
        spawn_rank(value, rest);
        return;
      case 1:
        stub_make(value);
        return;
      case 2:
        open_relay(value, rest);
        return;
      case 3:
        if (!lazy_taken(value)) pmi_taken(value);
        return;
      case 4:
        if (*rest && !number(&rest, &other)) break;
        send_signal(value, other);
        return;
      case 5:
        expect(value);
        return;
      case 6:
        children_go();
        return;
      case 7:
        shepherd_exit();
      case 8:
        lazy_open();
        return;
      case 9:
        clock_set(value);
        return;
      case 10:
        standing = value != 0;
        return;
      case 11:
        bound = true;
        return;
      case 12:
        parent_become(value);
        return;
      case 13:
        last_pid_set(value);
        return;
      case 14:
        if (!number(&rest, &other)) break;
        child_adopt(value, other);
        return;
    }
  }
  agent_say("error unknown command: %.200s", text);
}

void agent_readable(void) {
  ssize_t n = read(agent, line + used, sizeof line - used);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    agent_gone();
    return;
  }
  used += n;
  char *start = line, *end;
  while (agent >= 0 && (end = memchr(start, '\n', line + used - start))) {
    *end = 0;
    command(start);
    start = end + 1;
  }
  used -= start - line;
  memmove(line, start, used);
  if (used == sizeof line) {
    agent_say("error a command longer than %d bytes was dropped", SHEPHERD_LINE);
    used = 0;
  }
}
