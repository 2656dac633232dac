/* The client's half of PMI-1's wire protocol (MPICH, src/pmi/simple): one line is asked, one is answered; an abort has
 * no answer. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pmix_launcher.h"

enum { LINE_MOST = 4096, VALUE_MOST = 1024, SPACE_MOST = 256 };

static int fd = -1;
static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static char unread[LINE_MOST], *unread_at = unread, *unread_end = unread;
static char space[SPACE_MOST + 1];
static size_t value_most;

static void say(const char *format, ...) {
  char line[LINE_MOST];
  va_list list;
  va_start(list, format);
  int length = vsnprintf(line, sizeof line, format, list);
  va_end(list);
  if (length < 0 || length >= (int)sizeof line) die("a PMI request of %d characters", length);
  pthread_mutex_lock(&writing);
  for (int sent = 0; sent < length;) {
    ssize_t n = send(fd, line + sent, length - sent, MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) die("the connection to the agent has ended: %s", strerror(errno));
    if (n > 0) sent += n;
  }
  pthread_mutex_unlock(&writing);
}

static char next(void) {
  while (unread_at == unread_end) {
    ssize_t n = recv(fd, unread, sizeof unread, 0);
    if (n == 0 || (n < 0 && errno != EINTR))
      die("the connection to the agent has ended%s%s", n ? ": " : "", n ? strerror(errno) : "");
    unread_at = unread;
    unread_end = unread + (n > 0 ? n : 0);
  }
  return *unread_at++;
}

/* Reads the answer, which must be of this kind. */
static void hear(const char *command, char *line) {
  size_t length = 0;
  for (char c = next(); c != '\n'; c = next()) {
    if (length == LINE_MOST - 1) die("an answer of the agent is longer than %d characters", LINE_MOST);
    line[length++] = c;
  }
  line[length] = 0;
  size_t name = strlen(command);
  if (strncmp(line, "cmd=", 4) || strncmp(line + 4, command, name) || (line[4 + name] && line[4 + name] != ' '))
    die("the agent answered '%.80s' instead of cmd=%s", line, command);
}

/* The value of " NAME=" in an answer, which is a word; false if it is not there or longer than most. */
static bool word(const char *line, const char *name, char *value, size_t most) {
  char wanted[32];
  snprintf(wanted, sizeof wanted, " %s=", name);
  const char *found = strstr(line, wanted);
  if (!found) return false;
  found += strlen(wanted);
  size_t length = strcspn(found, " ");
  if (length > most) return false;
  memcpy(value, found, length);
  value[length] = 0;
  return true;
}

static void require_success(const char *line, const char *what) {
  char code[16];
  if (!word(line, "rc", code, sizeof code - 1) || strcmp(code, "0")) die("%s: the agent answered '%.200s'", what, line);
}

void pmi1_open(void) {
  const char *text = getenv("PMI_FD");
  fd = text ? atoi(text) : -1;
  if (fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) die("PMI_FD is not a connection to an agent");
  char line[LINE_MOST], number[16];
  say("cmd=init pmi_version=1 pmi_subversion=1\n");
  hear("response_to_init", line);
  require_success(line, "PMI-1");
  say("cmd=get_maxes\n");
  hear("maxes", line);
  int most = word(line, "vallen_max", number, sizeof number - 1) ? atoi(number) : 0;
  if (most < 64) die("PMI values of %d characters are too short", most);
  value_most = (most < VALUE_MOST ? most : VALUE_MOST) - 1; /* a NUL is counted */
  say("cmd=get_my_kvsname\n");
  hear("my_kvsname", line);
  if (!word(line, "kvsname", space, SPACE_MOST)) die("the agent's key-value space has an unusable name: '%.80s'", line);
}

const char *pmi1_space(void) {
  return space;
}
size_t pmi1_value_most(void) {
  return value_most;
}

void pmi1_put(const char *key, const char *value) {
  char line[LINE_MOST];
  say("cmd=put kvsname=%s key=%s value=%s\n", space, key, value);
  hear("put_result", line);
  require_success(line, key);
}

/* A command of udckpt's agents only; it has no answer. */
void pmi1_expect(const char *key) {
  say("cmd=expect kvsname=%s key=%s\n", space, key);
}

void pmi1_get(const char *key, char *value) {
  char line[LINE_MOST];
  say("cmd=get kvsname=%s key=%s\n", space, key);
  hear("get_result", line);
  require_success(line, key);
  if (!word(line, "value", value, value_most))
    die("%s has no value, or a value of more than %zu characters", key, value_most);
}

void pmi1_barrier(void) {
  char line[LINE_MOST];
  say("cmd=barrier_in\n");
  hear("barrier_out", line);
}

void pmi1_finalize(void) {
  char line[LINE_MOST];
  say("cmd=finalize\n");
  hear("finalize_ack", line);
}

void pmi1_abort(int rank, int code) {
  say("cmd=abort exitcode=%d rank=%d\n", code, rank);
}
