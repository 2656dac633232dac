/* O_PATH descriptors of files, directories, symbolic links (one leads nowhere), FIFOs and sockets: where they lead, and
 * that they are no more than that. */
#include "feature.h"
#include <sys/socket.h>
#include <sys/un.h>

enum { FILE_, LINK, FIFO_, SOCKET_, DIRECTORY, PROGRAM, NOWHERE, KINDS };
static const mode_t types[] = {S_IFREG, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFDIR, S_IFREG, S_IFLNK};

static int open_path(const char *path, int flags) {
  int fd = open(path, O_PATH | flags);
  CHECK(fd >= 0, "open %s", path);
  return fd;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!mkdir(scratch("directory"), 0755));
  int file = open_scratch("directory/file", O_WRONLY | O_CREAT);
  MUST(write(file, "content", 7) == 7 && !close(file) && !symlink("file", scratch("directory/link")) &&
       !symlink("no/file", scratch("nowhere")) && !mkfifo(scratch("directory/fifo"), 0600));
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  CHECK(snprintf(name.sun_path, sizeof name.sun_path, "%s", scratch("directory/socket")) < (int)sizeof name.sun_path,
        "the scratch directory's name is too long");
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  MUST(!bind(listener, (struct sockaddr *)&name, sizeof name) && !listen(listener, 3));
  int fds[] = {open_path(scratch("directory/file"), O_CLOEXEC), open_path(scratch("directory/link"), O_NOFOLLOW),
               open_path(scratch("directory/fifo"), 0),         open_path(scratch("directory/socket"), 0),
               open_path(scratch("directory"), O_DIRECTORY),    open_path("/proc/self/exe", 0),
               open_path(scratch("nowhere"), O_NOFOLLOW)};
  int twin = dup(fds[FILE_]);
  struct stat stats[KINDS], now;
  for (int i = 0; i < KINDS; i++) MUST(!fstat(fds[i], &stats[i]) && (stats[i].st_mode & S_IFMT) == types[i]);
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    char path[64], text[64];
    for (int i = 0; i < KINDS; i++) {
      CHECK(!fstat(fds[i], &now) && (now.st_mode & S_IFMT) == types[i], "O_PATH descriptor %d is of another type", i);
      CHECK(i == SOCKET_ || (now.st_ino == stats[i].st_ino && now.st_dev == stats[i].st_dev),
            "O_PATH descriptor %d leads elsewhere", i);
      CHECK(fcntl(fds[i], F_GETFL) & O_PATH, "O_PATH descriptor %d has become an open file", i);
      CHECK(read(fds[i], text, 1) == -1 && errno == EBADF, "O_PATH descriptor %d can be read", i);
    }
    check_flags(fds[FILE_], O_PATH, FD_CLOEXEC, "file"), check_flags(fds[LINK], O_PATH | O_NOFOLLOW, 0, "link"),
        check_flags(fds[DIRECTORY], O_PATH | O_DIRECTORY, 0, "directory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", twin);
    int opened = open(path, O_RDONLY);
    CHECK(opened >= 0 && read(opened, text, 8) == 7 && !memcmp(text, "content", 7) && !close(opened),
          "a file cannot be opened by its O_PATH descriptor");
    CHECK(readlinkat(fds[LINK], "", text, sizeof text) == 4 && !memcmp(text, "file", 4),
          "a symbolic link's descriptor leads elsewhere");
    CHECK(!faccessat(fds[DIRECTORY], "fifo", F_OK, 0), "a directory's descriptor leads elsewhere");
    snprintf(name.sun_path, sizeof name.sun_path, "/proc/self/fd/%d", fds[SOCKET_]);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    CHECK(!connect(client, (struct sockaddr *)&name, sizeof name),
          "a socket cannot be reached by its O_PATH descriptor");
    int accepted = accept(listener, NULL, NULL);
    MUST(accepted >= 0 && !close(accepted) && !close(client));
    pause_ms(5);
  }
  return feature_pass();
}
