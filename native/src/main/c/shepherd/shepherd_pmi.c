/*
 * The PMI relay. A rank talks to a socket pair whose other end is here, not to the agent, so that its PMI
 * connection outlives the agent. PMI-1 is a dialogue (one request, one answer), so the last request that got no
 * answer is all the state that has to be kept to go on alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shepherd.h"
#include "shepherd_relay.h"
#include "common/unix_peer.h"

static struct relay relays[SHEPHERD_MAX_ROOTS];

struct relay *relay_at(int index) {
  return index < SHEPHERD_MAX_ROOTS ? &relays[index] : NULL;
}

static int connect_to(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(address.sun_path, path);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 || unix_peer_check(fd) < 0)) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

static struct relay *free_relay(void) {
  for (int i = 0; i < SHEPHERD_MAX_ROOTS; i++)
    if (!relays[i].used) return &relays[i];
  errno = EMFILE;
  return NULL;
}

int pmi_open(int rank, const char *path) {
  struct relay *relay = free_relay();
  int agent = relay ? connect_to(path) : -1;
  if (agent < 0) return -1;
  char hello[32];
  int length = snprintf(hello, sizeof hello, "rank=%d\n", rank), pair[2] = {-1, -1};
  if (send(agent, hello, length, MSG_NOSIGNAL) != length ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
    int error = errno;
    close(agent);
    errno = error;
    return -1;
  }
  /* Only our ends: the rank's end must block, as a PMI client expects. */
  fcntl(pair[0], F_SETFL, O_NONBLOCK);
  fcntl(agent, F_SETFL, O_NONBLOCK);
  memset(relay, 0, sizeof *relay);
  relay->used = true;
  relay->rank = rank;
  relay->rank_fd = pair[0];
  relay->spare_fd = pair[1];
  relay->agent_fd = agent;
  return pair[1];
}

void pmi_taken(int fd) {
  for (int i = 0; i < SHEPHERD_MAX_ROOTS; i++) {
    if (!relays[i].used || relays[i].spare_fd != fd) continue;
    close(fd);
    relays[i].spare_fd = -1;
    return;
  }
  agent_say("error taken %d: no PMI connection waits under this number", fd);
}

/*
 * Requests are answered only while there is room for answers (answer_alone), so one that does not fit is a defect
 * here. The rank must not wait for it for ever: it finds its connection closed, and says so. */
void relay_say(struct relay *relay, const char *format, ...) {
  struct stream *out = &relay->to_rank;
  va_list list;
  va_start(list, format);
  int n = vsnprintf(out->bytes + out->used, sizeof out->bytes - out->used, format, list);
  va_end(list);
  if (n >= 0 && (size_t)n < sizeof out->bytes - out->used) {
    out->used += n;
    return;
  }
  fprintf(stderr,
          "udckpt: shepherd: rank %d does not read the answers to its PMI requests: closing its PMI connection\n",
          relay->rank);
  shutdown(relay->rank_fd, SHUT_RDWR);
}

static void relay_close(struct relay *relay) {
  close(relay->rank_fd);
  if (relay->spare_fd >= 0) close(relay->spare_fd);
  if (relay->agent_fd >= 0) close(relay->agent_fd);
  relay->used = false;
  if (agent_fd() < 0) alone_check_barrier();
}

/* Follows one byte of the rank's requests; answers a whole one when there is no agent. */
static void follow_byte(struct relay *relay, char byte) {
  if (byte != '\n') {
    if (relay->line_used < sizeof relay->line - 1) relay->line[relay->line_used++] = byte;
    return;
  }
  relay->line[relay->line_used] = 0;
  relay->line_used = 0;
  if (relay->agent_fd >= 0) strcpy(relay->pending, relay->line);
  else alone_answer(relay, relay->line);
}

static bool room_for_answers(const struct relay *relay) {
  return relay->to_rank.used < RELAY_BUFFER / 2;
}

/*
 * Alone: answers what the rank has asked, as far as there is room for the answers. A rank that asks ahead without
 * reading finds its own socket full, and no answer is lost.
 */
static void answer_alone(struct relay *relay) {
  struct stream *asked = &relay->to_agent;
  size_t done = 0;
  while (done < asked->used && room_for_answers(relay)) follow_byte(relay, asked->bytes[done++]);
  asked->used -= done;
  memmove(asked->bytes, asked->bytes + done, asked->used);
}

static void lose_agent(struct relay *relay) {
  close(relay->agent_fd);
  relay->agent_fd = -1;
  relay->to_agent.used = 0; /* all of it has been followed: its last request is the pending one */
  if (!*relay->pending) return;
  char request[RELAY_LINE];
  strcpy(request, relay->pending);
  relay->pending[0] = 0;
  alone_answer(relay, request);
}

static void drain(struct stream *stream, int fd) {
  ssize_t n = send(fd, stream->bytes, stream->used, MSG_NOSIGNAL);
  if (n <= 0) return; /* EAGAIN: later; a closed end shows itself on reading */
  stream->used -= n;
  memmove(stream->bytes, stream->bytes + n, stream->used);
}

/* Reads into the stream; false at the end of the connection. */
static bool fill(struct stream *stream, int fd) {
  ssize_t n = recv(fd, stream->bytes + stream->used, sizeof stream->bytes - stream->used, 0);
  if (n > 0) stream->used += n;
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void rank_readable(struct relay *relay) {
  struct stream *asked = &relay->to_agent;
  size_t before = asked->used;
  bool open = fill(asked, relay->rank_fd);
  if (relay->agent_fd >= 0) {
    for (size_t i = before; i < asked->used; i++) follow_byte(relay, asked->bytes[i]);
    if (asked->used) drain(asked, relay->agent_fd);
  } else {
    answer_alone(relay);
  }
  if (open) return;
  while (relay->agent_fd < 0 && asked->used) { /* nobody reads answers any more, but an abort may be among the rest */
    relay->to_rank.used = 0;
    answer_alone(relay);
  }
  relay_close(relay);
}

static void agent_side_readable(struct relay *relay) {
  bool open = fill(&relay->to_rank, relay->agent_fd);
  if (relay->to_rank.used) relay->pending[0] = 0;
  if (!open) lose_agent(relay);
}

static int polled; /* relays in the last pmi_poll */

/* Up to the last that is used: poll(2) refuses more entries than RLIMIT_NOFILE, even when they are unused. */
int pmi_poll(struct pollfd *fds) {
  polled = SHEPHERD_MAX_ROOTS;
  while (polled > 0 && !relays[polled - 1].used) polled--;
  for (int i = 0; i < polled; i++, fds += 2) {
    struct relay *relay = &relays[i];
    fds[0] = fds[1] = (struct pollfd){.fd = -1};
    if (!relay->used) continue;
    bool room_to_agent = relay->to_agent.used < RELAY_BUFFER, room_to_rank = relay->to_rank.used < RELAY_BUFFER;
    fds[0].fd = relay->rank_fd;
    fds[0].events = (room_to_agent ? POLLIN : 0) | (relay->to_rank.used ? POLLOUT : 0);
    fds[1].fd = relay->agent_fd;
    fds[1].events = (room_to_rank ? POLLIN : 0) | (relay->to_agent.used ? POLLOUT : 0);
  }
  return 2 * polled;
}

void pmi_ready(const struct pollfd *fds) {
  for (int i = 0; i < polled; i++, fds += 2) {
    struct relay *relay = &relays[i];
    if (relay->used && fds[1].fd >= 0 && fds[1].revents & POLLOUT) drain(&relay->to_agent, relay->agent_fd);
    if (relay->used && fds[1].fd >= 0 && fds[1].revents & (POLLIN | POLLHUP | POLLERR)) agent_side_readable(relay);
    if (relay->used && relay->to_rank.used) drain(&relay->to_rank, relay->rank_fd);
    if (relay->used && relay->agent_fd < 0 && relay->to_agent.used) answer_alone(relay);
    if (relay->used && fds[0].fd >= 0 && fds[0].revents & (POLLIN | POLLHUP | POLLERR)) rank_readable(relay);
  }
}
