/* Names of unix connections of which the listener, the file, its directory or the other end has gone: they are told as
 * before, and nothing comes back. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

typedef struct {
  const char *what;
  int fd;
  bool peer;
  struct sockaddr_un name;
  socklen_t length;
} Told;

static Told told[64];
static int count;

static int ask(const Told *one, struct sockaddr_un *name, socklen_t *length) {
  *length = sizeof *name;
  memset(name, 0, sizeof *name);
  return one->peer ? getpeername(one->fd, (struct sockaddr *)name, length)
                   : getsockname(one->fd, (struct sockaddr *)name, length);
}

/* Both names of it are to stay. */
static void watch(int fd, const char *what) {
  for (int peer = 0; peer < 2; peer++) {
    Told *one = &told[count++];
    *one = (Told){.what = what, .fd = fd, .peer = peer};
    CHECK(!ask(one, &one->name, &one->length), "%s: no name", what);
  }
}

static struct sockaddr_un named(const char *name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  CHECK(strlen(name) < sizeof to.sun_path, "%s is too long", name);
  if (*name == '@') strcpy(to.sun_path + 1, name + 1);
  else strcpy(to.sun_path, name);
  return to;
}

static socklen_t length_of(const char *name) {
  return sizeof(sa_family_t) + strlen(name) + (*name != '@');
}

static int bound(int type, const char *name) {
  struct sockaddr_un own = named(name);
  int fd = socket(AF_UNIX, type, 0);
  MUST(fd >= 0 && !bind(fd, (struct sockaddr *)&own, length_of(name)));
  return fd;
}

static int listener(int type, const char *name) {
  int fd = bound(type, name);
  MUST(!listen(fd, 8));
  return fd;
}

/* {accepted, client} */
static void link_to(int listening, const char *name, int type, const char *client, int pair[2]) {
  struct sockaddr_un to = named(name);
  pair[1] = client ? bound(type, client) : socket(AF_UNIX, type, 0);
  MUST(pair[1] >= 0 && !connect(pair[1], (struct sockaddr *)&to, length_of(name)));
  MUST((pair[0] = accept(listening, NULL, NULL)) >= 0);
}

static void exchange(int pair[2], const char *what) {
  char byte = 0;
  CHECK(write(pair[0], "a", 1) == 1 && read(pair[1], &byte, 1) == 1 && byte == 'a' && write(pair[1], "b", 1) == 1 &&
            read(pair[0], &byte, 1) == 1 && byte == 'b',
        "%s", what);
}

static char unique[3][64];

int main(int argc, char **argv) {
  feature_start(argc, argv);
  bool root = geteuid() == 0;
  for (int i = 0; i < 3; i++) snprintf(unique[i], sizeof unique[i], "@udckpt-gone-%d-%d", i, getpid());
  int links[16][2], n = 0;
  /* A directory that has gone, of two connections of one listener; packets, too. */
  MUST(!mkdir(scratch("d"), 0700));
  int one = listener(SOCK_STREAM, scratch("d/one")), two = listener(SOCK_SEQPACKET, scratch("d/two"));
  link_to(one, scratch("d/one"), SOCK_STREAM, NULL, links[n++]),
      link_to(one, scratch("d/one"), SOCK_STREAM, scratch("d/client"), links[n++]);
  link_to(two, scratch("d/two"), SOCK_SEQPACKET, NULL, links[n++]);
  MUST(!close(one) && !close(two) && !unlink(scratch("d/one")) && !unlink(scratch("d/two")) &&
       !unlink(scratch("d/client")) && !rmdir(scratch("d")));
  if (root) { /* of an ordinary user's relative name nobody can tell where it was */
    MUST(!mkdir(scratch("r"), 0700) && !mkdir(scratch("r/s"), 0700) && !chdir(scratch("r/s")));
    int relative = listener(SOCK_STREAM, "../relative");
    link_to(relative, "../relative", SOCK_STREAM, "client", links[n++]);
    MUST(!close(relative) && !unlink("../relative") && !unlink("client") && !chdir("/") && !rmdir(scratch("r/s")) &&
         !rmdir(scratch("r")));
  }
  /* An abstract name of two connections, which is free again. */
  int hidden = listener(SOCK_STREAM, unique[0]);
  link_to(hidden, unique[0], SOCK_STREAM, NULL, links[n++]), link_to(hidden, unique[0], SOCK_STREAM, NULL, links[n++]);
  close(hidden);
  hidden = listener(SOCK_STREAM, unique[1]);
  link_to(hidden, unique[1], SOCK_STREAM, NULL, links[n++]);
  close(hidden);
  /* A file that leads nowhere, one that was renamed, and one in the place of a name. */
  int stale = listener(SOCK_STREAM, scratch("stale")), moved = listener(SOCK_STREAM, scratch("first")),
      replaced = listener(SOCK_STREAM, scratch("replaced"));
  link_to(stale, scratch("stale"), SOCK_STREAM, NULL, links[n++]),
      link_to(moved, scratch("first"), SOCK_STREAM, NULL, links[n++]);
  link_to(replaced, scratch("replaced"), SOCK_STREAM, NULL, links[n++]);
  MUST(!close(stale) && !close(moved) && !close(replaced) && !chmod(scratch("stale"), 0640) &&
       !rename(scratch("first"), scratch("second")));
  MUST(!unlink(scratch("replaced")) && !close(open_scratch("replaced", O_CREAT | O_EXCL | O_WRONLY)));
  /* An old connection of a server that has made its name anew. */
  int again = listener(SOCK_STREAM, scratch("again"));
  link_to(again, scratch("again"), SOCK_STREAM, NULL, links[n++]);
  MUST(!close(again) && !unlink(scratch("again")));
  again = listener(SOCK_STREAM, scratch("again"));
  for (int i = 0; i < n; i++) watch(links[i][0], "an accepted one"), watch(links[i][1], "a calling one");
  /* Other ends that have gone: a server's, a named client's, a pair's. */
  int dead[6][2], server = listener(SOCK_STREAM, scratch("server")), shy = listener(SOCK_STREAM, unique[2]);
  link_to(server, scratch("server"), SOCK_STREAM, scratch("client"), dead[0]),
      link_to(server, scratch("server"), SOCK_STREAM, scratch("caller"), dead[1]);
  link_to(shy, unique[2], SOCK_STREAM, NULL, dead[2]), link_to(server, scratch("server"), SOCK_STREAM, NULL, dead[3]);
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, dead[4]));
  link_to(one = listener(SOCK_SEQPACKET, scratch("packets")), scratch("packets"), SOCK_SEQPACKET,
          scratch("packet-client"), dead[5]);
  MUST(write(dead[0][0], "last", 4) == 4 && write(dead[1][1], "last", 4) == 4 && write(dead[5][0], "last", 4) == 4);
  MUST(!close(dead[0][0]) && !close(dead[1][1]) && !close(dead[2][0]) && !close(dead[3][0]) && !close(dead[4][0]) &&
       !close(dead[5][0]) && !close(one));
  MUST(!unlink(scratch("caller")) && !unlink(scratch("packets")));
  int kept[] = {dead[0][1], dead[1][0], dead[2][1], dead[3][1], dead[4][1], dead[5][1]};
  for (int i = 0; i < 6; i++) watch(kept[i], "one whose peer has closed");
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < count; i++) {
      struct sockaddr_un now;
      socklen_t length;
      CHECK(!ask(&told[i], &now, &length), "%s (%d): it has no %s name any more", told[i].what, i,
            told[i].peer ? "peer's" : "own");
      CHECK(length == told[i].length && !memcmp(&now, &told[i].name, length), "%s (%d): its %s name is \"%s\"",
            told[i].what, i, told[i].peer ? "peer's" : "own", length > 2 ? now.sun_path + !now.sun_path[0] : "");
    }
    for (int i = 0; i < n; i++) exchange(links[i], "a connection");
    close(bound(SOCK_STREAM, unique[0])), close(bound(SOCK_STREAM, unique[1]));
    struct stat file;
    CHECK(access(scratch("d"), F_OK) && access(scratch("r"), F_OK) && access(scratch("first"), F_OK) &&
              access(scratch("caller"), F_OK),
          "a name that had gone is there again");
    CHECK(!lstat(scratch("stale"), &file) && S_ISSOCK(file.st_mode) && (file.st_mode & 0777) == 0640,
          "the socket without a listener has gone");
    CHECK(!lstat(scratch("second"), &file) && S_ISSOCK(file.st_mode), "the renamed socket has gone");
    CHECK(!lstat(scratch("replaced"), &file) && S_ISREG(file.st_mode),
          "the file in the place of a name is another one");
    int lost = socket(AF_UNIX, SOCK_STREAM, 0), brief[2];
    struct sockaddr_un to = named(scratch("stale"));
    CHECK(connect(lost, (struct sockaddr *)&to, sizeof to) && errno == ECONNREFUSED, "somebody listens again");
    close(lost);
    link_to(again, scratch("again"), SOCK_STREAM, NULL, brief);
    exchange(brief, "a new connection"), close(brief[0]), close(brief[1]);
    pause_ms(2);
  }
  char last[8];
  CHECK(read(dead[0][1], last, 8) == 4 && read(dead[0][1], last, 8) == 0, "a dead server's last words");
  CHECK(read(dead[1][0], last, 8) == 4 && read(dead[1][0], last, 8) == 0, "a dead client's last words");
  CHECK(read(dead[5][1], last, 8) == 4 && read(dead[5][1], last, 8) == 0, "a dead packet server's last words");
  return feature_pass();
}
