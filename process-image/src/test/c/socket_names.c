/* Names of unix sockets: whose they are and what they permit, in which directory they stand, and which have gone. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

typedef struct {
  int fd;
  const char *said; /* to bind(2) */
  char path[PATH_MAX];
  struct stat file;
} Named;

static struct sockaddr_un address(const char *name) {
  struct sockaddr_un to = {.sun_family = AF_UNIX};
  CHECK(strlen(name) < sizeof to.sun_path, "%s is too long", name);
  strcpy(to.sun_path, name);
  return to;
}

static Named bound(int type, const char *said, const char *path, int mode) {
  Named one = {.fd = socket(AF_UNIX, type, 0), .said = strdup(said)};
  struct sockaddr_un own = address(said);
  MUST(one.fd >= 0 && !bind(one.fd, (struct sockaddr *)&own, sizeof own));
  strcpy(one.path, path);
  MUST(!chmod(path, mode) && !lstat(path, &one.file));
  MUST(type == SOCK_DGRAM || !listen(one.fd, 4));
  return one;
}

static void check_said(const Named *one) {
  struct sockaddr_un got;
  socklen_t length = sizeof got;
  CHECK(!getsockname(one->fd, (struct sockaddr *)&got, &length) && !strcmp(got.sun_path, one->said),
        "the name is \"%s\", not \"%s\"", got.sun_path, one->said);
}

/* It stands where it stood, belongs to whom it belonged, and leads to this socket. */
static void check_file(const Named *one, int type) {
  struct stat now;
  CHECK(!lstat(one->path, &now) && S_ISSOCK(now.st_mode), "there is no socket %s", one->path);
  CHECK(now.st_mode == one->file.st_mode && now.st_uid == one->file.st_uid && now.st_gid == one->file.st_gid,
        "%s has mode %o of %d:%d, not %o of %d:%d", one->path, now.st_mode, now.st_uid, now.st_gid, one->file.st_mode,
        one->file.st_uid, one->file.st_gid);
  int fd = socket(AF_UNIX, type, 0);
  struct sockaddr_un to = address(one->path);
  CHECK(!connect(fd, (struct sockaddr *)&to, sizeof to), "connect to %s", one->path);
  if (type != SOCK_DGRAM) {
    int accepted = accept4(one->fd, NULL, NULL, SOCK_CLOEXEC);
    CHECK(accepted >= 0, "accept at %s", one->path);
    close(accepted);
  }
  close(fd);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  umask(0);
  bool root = geteuid() == 0;
  MUST(!mkdir(scratch("private"), 0750) && !mkdir(scratch("start"), 0700) && !symlink("private", scratch("link")));
  Named stream = bound(SOCK_STREAM, scratch("private/stream"), scratch("private/stream"), 0600);
  Named packets = bound(SOCK_SEQPACKET, scratch("link/packets"), scratch("private/packets"), 0660);
  Named datagrams = bound(SOCK_DGRAM, scratch("private/datagrams"), scratch("private/datagrams"), 0622);
  if (root) MUST(!chown(stream.path, 65534, 65533) && !lstat(stream.path, &stream.file));
  MUST(!setenv("PWD", scratch("start"), 1) && !chdir(scratch("start")));
  int start = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* how an ordinary user's checkpoint finds the directory */
  MUST(start >= 0);
  Named relative = bound(SOCK_STREAM, "relative", scratch("start/relative"), 0606);
  Named upwards = bound(SOCK_STREAM, "../private/./upwards", scratch("private/upwards"), 0700);
  MUST(!chdir("/"));
  Named gone = bound(SOCK_STREAM, scratch("gone"), scratch("gone"), 0600);
  MUST(!unlink(gone.path));
  Named moved = bound(SOCK_STREAM, scratch("private/new"), scratch("private/new"), 0640);
  MUST(!rename(moved.path, scratch("private/moved")));
  strcpy(moved.path, scratch("private/moved"));
  feature_ready();
  while (!feature_finishing()) {
    Named *all[] = {&stream, &packets, &datagrams, &relative, &upwards, &gone, &moved};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) check_said(all[i]);
    check_file(&stream, SOCK_STREAM), check_file(&packets, SOCK_SEQPACKET), check_file(&datagrams, SOCK_DGRAM);
    check_file(&relative, SOCK_STREAM), check_file(&upwards, SOCK_STREAM), check_file(&moved, SOCK_STREAM);
    CHECK(access(scratch("gone"), F_OK) && access(scratch("private/new"), F_OK),
          "a name that had been removed is there again");
    char here[PATH_MAX];
    CHECK(getcwd(here, sizeof here) && !strcmp(here, "/"), "the working directory is %s", here);
    struct stat directory;
    CHECK(!stat(scratch("private"), &directory) && (directory.st_mode & 07777) == 0750, "the directory has mode %o",
          directory.st_mode);
    pause_ms(2);
  }
  return feature_pass();
}
