/* Names are bytes, and need not be UTF-8: of files, directories, sockets, FIFOs, locks, watches, processes and threads
 * (a name of 15 bytes may end within a character). */
#include "feature.h"
#include <stddef.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define DIRECTORY "d\xe9j\xe0"
/* Cut off at 15 bytes. */
static const char process_name[] = "x\xe3\x81\x82\xe3\x81\x82\xe3\x81\x82\xe3\x81\x82\xe3\x81";
static const char thread_name[] = "\xff\\\xfe \x80";
static const char child_name[] = "a\\\xe9 b";

static void *named_thread(void *ready) {
  char now[16];
  MUST(!prctl(PR_SET_NAME, thread_name));
  *(_Atomic bool *)ready = true;
  while (!feature_over) {
    MUST(!prctl(PR_GET_NAME, now));
    CHECK(!strcmp(now, thread_name), "a thread is called otherwise");
    pause_ms(3);
  }
  return NULL;
}

/* What /proc says of the link NAME of this process. */
static void check_link(const char *name, const char *file, const char *what) {
  char text[PATH_MAX], path[64];
  snprintf(path, sizeof path, "/proc/self/%s", name);
  ssize_t length = readlink(path, text, sizeof text - 1);
  MUST(length > 0);
  text[length] = 0;
  CHECK(!strcmp(text, file), "%s has another name", what);
}

static void check_fd(int fd, const char *file, const char *what) {
  char name[32];
  snprintf(name, sizeof name, "fd/%d", fd);
  check_link(name, file, what);
}

static struct sockaddr_un address(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  MUST((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s", scratch(name)) < sizeof address.sun_path);
  return address;
}

static void check_call(struct sockaddr_un *server) {
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  MUST(client >= 0);
  CHECK(!connect(client, (void *)server, sizeof *server), "the server has lost its name");
  MUST(!close(client));
}

static pid_t named_zombie(void) {
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    prctl(PR_SET_NAME, child_name);
    _exit(7);
  }
  siginfo_t info;
  MUST(!waitid(P_PID, child, &info, WEXITED | WNOWAIT));
  return child;
}

static void check_zombie(pid_t child) {
  char path[64], name[32] = {0};
  snprintf(path, sizeof path, "/proc/%d/comm", child);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  MUST(fd >= 0 && read(fd, name, sizeof name - 1) > 0 && !close(fd));
  size_t length = strlen(child_name);
  CHECK(!strncmp(name, child_name, length) && name[length] == '\n', "a child is called otherwise");
  int status;
  bool waited = waitpid(child, &status, 0) == child;
  CHECK(waited && WIFEXITED(status) && WEXITSTATUS(status) == 7, "a child ended otherwise");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char byte, now[16];
  MUST(!prctl(PR_SET_NAME, process_name) && !mkdir(scratch(DIRECTORY), 0755));
  const char *file = strdup(scratch(DIRECTORY "/caf\xe9.dat")), *gone = strdup(scratch(DIRECTORY "/g\xf6ne"));
  const char *mapped = strdup(scratch("m\xe4p")), *directory = strdup(scratch(DIRECTORY));
  int kept = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0644), deleted = open(gone, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  int memory = open(mapped, O_RDWR | O_CREAT | O_CLOEXEC, 0644), handle = open(directory, O_PATH | O_CLOEXEC);
  MUST(kept >= 0 && deleted >= 0 && memory >= 0 && handle >= 0 && write(kept, "0123456789", 10) == 10);
  MUST(write(deleted, "gone", 4) == 4 && !unlink(gone) && !flock(kept, LOCK_EX) && !ftruncate(memory, 4096));
  char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  MUST(shared != MAP_FAILED && strcpy(shared, "shared"));
  MUST(!chdir(directory) && !mkfifo("p\xefpe", 0600));
  int fifo = open("p\xefpe", O_RDWR | O_CLOEXEC);
  int watch = geteuid() ? -1 : inotify_init1(IN_CLOEXEC | IN_NONBLOCK); /* only root's watches can be kept */
  MUST(fifo >= 0 && write(fifo, "f", 1) == 1 && (geteuid() || inotify_add_watch(watch, directory, IN_CREATE) >= 0));
  struct sockaddr_un server = address("s\xe9rver");
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  MUST(listener >= 0 && client >= 0 && !bind(listener, (void *)&server, sizeof server) && !listen(listener, 8));
  MUST(!connect(client, (void *)&server, sizeof server));
  int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  MUST(accepted >= 0 && write(client, "c", 1) == 1);
  _Atomic bool called = false;
  pthread_t thread = start_thread(named_thread, (void *)&called);
  while (!called) pause_ms(1);
  pid_t zombie = named_zombie();
  feature_ready();
  while (!feature_finishing()) {
    MUST(!prctl(PR_GET_NAME, now));
    CHECK(!strcmp(now, process_name), "the process is called otherwise");
    check_fd(kept, file, "a file"), check_fd(memory, mapped, "a mapped file"), check_fd(handle, directory, "a handle");
    check_link("cwd", directory, "the working directory");
    pause_ms(5);
  }
  join_thread(thread);
  check_zombie(zombie);
  CHECK(pread(kept, &byte, 1, 9) == 1 && byte == '9' && lseek(kept, 0, SEEK_CUR) == 10, "a file has another content");
  CHECK(pread(deleted, &byte, 1, 3) == 1 && byte == 'e', "a deleted file has another content");
  CHECK(!strcmp(shared, "shared"), "shared memory has another content");
  CHECK(read(fifo, &byte, 1) == 1 && byte == 'f' && !access("p\xefpe", F_OK), "a FIFO has lost its byte or its name");
  CHECK(read(accepted, &byte, 1) == 1 && byte == 'c', "a socket has lost its byte");
  check_call(&server);
  int other = open(file, O_RDWR | O_CLOEXEC);
  CHECK(flock(other, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK, "a lock is gone");
  int made = open(
      "m\xe0"
      "de",
      O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  char event[256];
  MUST(made >= 0);
  CHECK(watch < 0 || read(watch, event, sizeof event) > 0, "a watch is gone");
  return feature_pass();
}
