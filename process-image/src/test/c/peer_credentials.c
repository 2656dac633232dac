/* The maker of a unix socket's peer (SO_PEERCRED, SO_PEERGROUPS of unix(7)): a process that lives, has ended, or has
 * ended and was not waited for; as root, or as somebody else at that time; by socketpair(2), by listen(2) and by
 * connect(2). A server tells its clients so, also those that come after a restart. */
#include "feature.h"
#include <grp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { OTHER = 4711, GROUP = 5000, GROUPS = 3, ENDS = 64 };
static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
static const gid_t groups[GROUPS] = {7, 70000, 12345};
static bool root;
static int *shared, (*pairs)[2]; /* what a child leaves */

struct peer {
  struct ucred credentials;
  int count;
  gid_t groups[1024];
};

struct end {
  int fd;
  const char *what;
  struct peer peer;
};
static struct end ends[ENDS];
static int count;

static struct peer peer_of(int fd, const char *what) {
  struct peer peer = {0};
  socklen_t size = sizeof peer.credentials, bytes = sizeof peer.groups;
  CHECK(!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer.credentials, &size), "%s: SO_PEERCRED", what);
  if (peer.credentials.pid)
    CHECK(!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer.groups, &bytes), "%s: SO_PEERGROUPS", what);
  peer.count = peer.credentials.pid ? bytes / sizeof(gid_t) : 0;
  return peer;
}

static void check(const struct peer *before, int fd, const char *what) {
  struct peer now = peer_of(fd, what);
  CHECK(now.credentials.pid == before->credentials.pid && now.credentials.uid == before->credentials.uid &&
            now.credentials.gid == before->credentials.gid,
        "%s: the peer was process %d of %d:%d and is process %d of %d:%d", what, before->credentials.pid,
        before->credentials.uid, before->credentials.gid, now.credentials.pid, now.credentials.uid,
        now.credentials.gid);
  CHECK(now.count == before->count && !memcmp(now.groups, before->groups, sizeof now.groups),
        "%s: the peer had %d groups and has %d (or others)", what, before->count, now.count);
}

static void add(int fd, const char *what) {
  MUST(count < ENDS);
  ends[count++] = (struct end){fd, what, peer_of(fd, what)};
}

/* As a child, which shares the descriptors until it has done so; returns it. */
static pid_t by_child(bool other, void (*act)(void *), void *argument, bool lives) {
  fflush(NULL);
  pid_t child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  MUST(child >= 0);
  if (child) return child;
  if (other) MUST(!setgroups(GROUPS, groups) && !setresgid(GROUP, GROUP, GROUP) && !setresuid(OTHER, OTHER, OTHER));
  act(argument);
  MUST(!unshare(CLONE_FILES));
  if (!lives) _exit(0);
  *(volatile int *)&shared[8] = 1;
  feature_child();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (;;) pause();
}

static void end_of(pid_t child) {
  MUST(waitpid(child, NULL, 0) == child);
}

static void await_end(pid_t child) {
  siginfo_t info;
  MUST(!waitid(P_PID, child, &info, WEXITED | WNOWAIT));
}

static void make_pairs(void *unused) {
  (void)unused;
  for (int i = 0; i < 3; i++) MUST(!socketpair(AF_UNIX, types[i], 0, pairs[i]));
}

struct server {
  struct sockaddr_un name;
  socklen_t length;
  int type;
};

static struct server named(int type, const char *name) {
  struct server server = {{.sun_family = AF_UNIX}, 0, type};
  if (*name == '@')
    server.length = offsetof(struct sockaddr_un, sun_path) +
                    snprintf(server.name.sun_path, sizeof server.name.sun_path, "%c%s-%d", 0, name + 1, feature_pid);
  else
    server.length = offsetof(struct sockaddr_un, sun_path) +
                    snprintf(server.name.sun_path, sizeof server.name.sun_path, "%s/%s", feature_scratch, name) + 1;
  return server;
}

static void serve(void *argument) {
  struct server *server = argument;
  shared[0] = socket(AF_UNIX, server->type, 0);
  MUST(shared[0] >= 0 && !bind(shared[0], (void *)&server->name, server->length) && !listen(shared[0], 5));
}

static void call(void *argument) {
  struct server *server = argument;
  shared[1] = socket(AF_UNIX, server->type, 0);
  MUST(shared[1] >= 0 && !connect(shared[1], (void *)&server->name, server->length));
}

/* Served by one, called by another; both have ended, or only one is another. */
static int connection(const char *name, int type, bool other_serves, bool other_calls, bool keep) {
  struct server server = named(type, name);
  end_of(by_child(other_serves, serve, &server, false));
  end_of(by_child(other_calls, call, &server, false));
  int accepted = accept(shared[0], NULL, NULL);
  MUST(accepted >= 0);
  add(accepted, "accepted"), add(shared[1], "connected");
  if (!keep) {
    MUST(!close(shared[0]));
    return -1;
  }
  add(shared[0], "listener");
  return shared[0];
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  root = !geteuid();
  MUST(!chmod(feature_scratch, 0777));
  MUST((shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) != MAP_FAILED);
  pairs = (int(*)[2])(shared + 2);
  pid_t zombie = -1, living = -1;
  for (int who = 0; who < 5;
       who++) { /* this one, one that has ended, another user who has, one that was not waited for, one that lives */
    static const char *const by[] = {"made by this process", "by one that has ended", "by another user",
                                     "by one that was not waited for", "by one that lives"};
    if (who == 0) {
      make_pairs(NULL);
    } else {
      pid_t child = by_child(root && (who == 2 || who == 4), make_pairs, NULL, who == 4);
      if (who < 3) end_of(child);
      if (who == 3) await_end(zombie = child);
      if (who == 4) {
        living = child; /* it may still share our descriptors: */
        while (!*(volatile int *)&shared[8]) pause_ms(1);
      }
    }
    for (int i = 0; i < 3; i++) {
      add(pairs[i][0], by[who]), add(pairs[i][1], by[who]);
      CHECK(ends[count - 1].peer.credentials.pid > 0, "a pair %s tells nobody", by[who]);
    }
    int gone[2];
    if (who == 1) {
      MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, gone) && write(gone[0], "last words", 10) == 10 && !close(gone[0]));
      add(gone[1], "whose peer has closed");
    }
  }
  struct server late[4] = {named(SOCK_STREAM, "own"), named(SOCK_SEQPACKET, "@other")};
  int listeners[2] = {connection("own", SOCK_STREAM, false, false, true),
                      connection("@other", SOCK_SEQPACKET, root, false, true)};
  connection("closed", SOCK_STREAM, false, false, false); /* other users may not get to the scratch directory */
  connection("@both", SOCK_STREAM, root, root, false);
  connection("@closed", SOCK_SEQPACKET, false, root, false);
  struct peer servers[2] = {peer_of(listeners[0], "own"), peer_of(listeners[1], "other")};
  CHECK(!root || servers[1].credentials.uid == OTHER, "a listener tells user %d of itself", servers[1].credentials.uid);
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++) check(&ends[i].peer, ends[i].fd, ends[i].what);
    for (int i = 0; i < 2; i++) {
      int client = socket(AF_UNIX, late[i].type, 0);
      MUST(client >= 0 && !connect(client, (void *)&late[i].name, late[i].length));
      check(&servers[i], client, i ? "a new client of another user's server" : "a new client");
      int accepted = accept(listeners[i], NULL, NULL);
      struct peer mine = peer_of(accepted, "accepted just now");
      CHECK(mine.credentials.pid == feature_pid && mine.credentials.uid == geteuid(),
            "a server is told that process %d of %d called it", mine.credentials.pid, mine.credentials.uid);
      close(client), close(accepted);
    }
    pause_ms(3);
  }
  char words[16];
  for (int i = 0; i < count; i++)
    if (!strcmp(ends[i].what, "whose peer has closed"))
      CHECK(read(ends[i].fd, words, sizeof words) == 10 && !memcmp(words, "last words", 10),
            "what a peer said before it closed");
  end_of(zombie);
  MUST(!kill(living, SIGKILL));
  end_of(living);
  feature_pass();
}
