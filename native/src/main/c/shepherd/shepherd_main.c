#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "shepherd.h"
#include "common/unix_peer.h"

static int listen_at(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) {
    fprintf(stderr, "udckpt: shepherd: socket path longer than %zu bytes: %s\n", sizeof address.sun_path - 1, path);
    exit(64);
  }
  strcpy(address.sun_path, path);
  mode_t before = umask(0177); /* only the owner may command */
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0) {
    fprintf(stderr, "udckpt: shepherd: cannot listen at %s: %s\n", path, strerror(errno));
    exit(74);
  }
  umask(before);
  return fd;
}

static int accept_agent(int listener) {
  struct pollfd wait = {.fd = listener, .events = POLLIN};
  if (poll(&wait, 1, 60000) != 1) {
    fprintf(stderr, "udckpt: shepherd: no agent connected within 60 s\n");
    exit(124);
  }
  int fd;
  while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0 && unix_peer_check(fd) < 0) {
    fprintf(stderr, "udckpt: shepherd: refused a connection of another user, who is not root, as agent\n");
    close(fd);
  }
  if (fd < 0) {
    fprintf(stderr, "udckpt: shepherd: cannot accept the agent: %s\n", strerror(errno));
    exit(74);
  }
  close(listener);
  return fd;
}

/* It stands in init's place: orphans of the job have it for their parent, and some send signals to that. As to init
 * they do nothing. A broken pipe is seen by the write that meets it; a terminal's hang-up is the agent's business. */
static int open_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_SETMASK, &set, NULL);
  for (int number = 1; number <= SIGRTMAX; number++)
    if (!sigismember(&set, number))
      signal(number, SIG_IGN); /* of the shepherd's own faults the kernel takes no notice */
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void signals_readable(int fd) {
  struct signalfd_siginfo info;
  while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
    if (info.ssi_signo == SIGTERM && !children_include((pid_t)info.ssi_pid)) {
      job_set_code(128 + SIGTERM);
      shepherd_exit();
    }
  }
  children_reap();
}

/* What an agent that was killed has left of a unit, in whose directory nobody has an interest any more. Files alone
 * are in it. */
static void remove_runtime(const char *socket) {
  char directory[sizeof((struct sockaddr_un *)0)->sun_path + 1];
  const char *slash = strrchr(socket, '/');
  if (slash == NULL || slash == socket) return;
  snprintf(directory, sizeof directory, "%.*s", (int)(slash - socket), socket);
  DIR *all = opendir(directory);
  if (all == NULL) return;
  for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
    unlinkat(dirfd(all), entry->d_name, 0); /* not '.' and '..', which are directories */
  }
  closedir(all);
  rmdir(directory);
}

static void serve(int signals, const char *socket) {
  static struct pollfd fds[3 + 2 * SHEPHERD_MAX_ROOTS];
  for (;;) {
    fds[0] = (struct pollfd){.fd = signals, .events = POLLIN};
    fds[1] = (struct pollfd){.fd = agent_fd(), .events = agent_is_behind() ? POLLOUT : POLLIN};
    fds[2] = (struct pollfd){.fd = lazy_fd(), .events = POLLIN};
    int relays = pmi_poll(fds + 3);
    if (poll(fds, 3 + relays, -1) < 0) {
      if (errno == EINTR) continue;
      fprintf(stderr, "udckpt: shepherd: poll: %s\n", strerror(errno));
      exit(74);
    }
    if (fds[2].fd >= 0 && fds[2].revents) lazy_readable(); /* first: a job without its memory must not go on */
    pmi_ready(fds + 3); /* before exits, so that a rank's last words reach the agent first */
    if (fds[0].revents) signals_readable(signals);
    if (fds[1].fd >= 0 && fds[1].revents & POLLOUT) agent_writable();
    if (fds[1].fd >= 0 && fds[1].revents & ~POLLOUT) agent_readable();
    if (agent_fd() < 0 && children_roots() == 0) {
      if (agent_bound()) remove_runtime(socket);
      shepherd_exit();
    }
  }
}

/* What the agent has open, and no rank is to have. */
static void close_inherited(void) {
  if (close_range(3, ~0U, 0) == 0) return;
  DIR *all = opendir("/proc/self/fd"); /* before Linux 5.9 */
  if (all == NULL) return;
  for (struct dirent *entry; (entry = readdir(all)) != NULL;) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fd != dirfd(all)) close(fd);
  }
  closedir(all);
}

int main(int argc, char **argv) {
  close_inherited();
  if (argc == 3 && strcmp(argv[1], "--copy-queue") == 0) return queue_copy(argv[2]);
  bool restore = (argc == 4 || argc == 5) && strcmp(argv[2], "--restore") == 0;
  if (argc != 2 && !restore) {
    /* NAMED is for those who read this command line: see control_directory.c. */
    fprintf(stderr,
            "usage: udckpt-shepherd SOCKET [--restore TIMENS_MONOTONIC_OFFSET_NS [NAMED]]\n"
            "       udckpt-shepherd --copy-queue PATH\n");
    return 64;
  }
  char *end = NULL;
  long long offset = restore ? strtoll(argv[3], &end, 10) : 0;
  if (restore && (*argv[3] == 0 || *end != 0)) {
    fprintf(stderr, "udckpt: shepherd: not a number of nanoseconds: %s\n", argv[3]);
    return 64;
  }
  /*
   * A terminal's ^C goes to the foreground process group, where the agent is; the agent forwards it with the
   * signal command. The shepherd leaves that session, and each rank leads a session of its own, so that a
   * signal reaches a rank once. (Reading a terminal that is not one's own session's does not stop a process.)
   */
  setsid();
  if (!inherit_read()) return 64;
  int listener = listen_at(argv[1]);
  char error[512];
  if (restore && namespaces_enter(offset, error, sizeof error) < 0) {
    /* The agent is about to connect: tell it by the channel that it reads. */
    agent_attach(accept_agent(listener));
    agent_say("error %s", error);
    return 69;
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_DUMPABLE, 1); /* restored ranks take their PMI descriptor from here by pidfd_getfd(2) */
  int signals = open_signals();
  if (signals < 0) {
    fprintf(stderr, "udckpt: shepherd: signalfd: %s\n", strerror(errno));
    return 74;
  }
  agent_attach(accept_agent(listener));
  if (restore) agent_say("ready");
  serve(signals, argv[1]);
}
