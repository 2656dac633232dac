/* What nobody may notice: the program holds a read and a write lease, and watches by inotify, for all events, its
 * directories, each of its files, its own program and the preloaded library, which it copies to its own directory
 * first; no event may come that is not its own. Its files are of many kinds. Twice it leaves events unread: after a
 * restart it hears of their loss, but of nothing else. */
#include "feature.h"
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define WATCHED (IN_ALL_EVENTS & ~IN_IGNORED)
static int inotify, broken;
static volatile sig_atomic_t breaks;

static void on_break(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  broken = info->si_fd, breaks++;
}

static void copy_file(const char *from, const char *to, int mode) {
  char bytes[65536];
  int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  MUST(in >= 0 && out >= 0);
  for (ssize_t n; (n = read(in, bytes, sizeof bytes)) > 0;) MUST(write(out, bytes, (size_t)n) == n);
  MUST(!close(in) && !close(out));
}

/* Runs from a program and a library that are nobody else's. */
static void run_own_copy(char **argv) {
  const char *library = getenv("LD_PRELOAD");
  char program[PATH_MAX] = "";
  MUST(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
  if (!strncmp(program, feature_scratch, strlen(feature_scratch))) return;
  MUST(!mkdir(scratch("own"), 0755));
  copy_file(program, scratch("own/unnoticed"), 0755);
  if (library && *library) {
    char first[PATH_MAX];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(library, ": "), library);
    copy_file(first, scratch("own/libudckpt.so"), 0755);
    setenv("LD_PRELOAD", scratch("own/libudckpt.so"), 1);
  }
  execv(scratch("own/unnoticed"), argv);
  FAIL("execv");
}

static int made(const char *name, int flags, size_t bytes) {
  int fd = open_scratch(name, O_RDWR | O_CREAT);
  char *content = malloc(bytes);
  fill_pattern(content, bytes, bytes);
  MUST(write(fd, content, bytes) == (ssize_t)bytes && !close(fd));
  free(content);
  return open_scratch(name, flags);
}

static void watch(const char *name) {
  CHECK(inotify_add_watch(inotify, scratch(name), WATCHED) > 0, "watch %s", name);
}

/* All events that are there, which have to be what the caller allows. */
static void expect(uint32_t allowed, bool overflow_allowed, const char *when) {
  union {
    struct inotify_event event;
    char bytes[65536];
  } buffer;
  for (ssize_t n; (n = read(inotify, &buffer, sizeof buffer)) > 0;)
    for (ssize_t at = 0; at < n;) {
      struct inotify_event *event = (struct inotify_event *)(buffer.bytes + at);
      bool loss = event->mask & IN_Q_OVERFLOW,
           aside = event->len && strstr(event->name, ".udckpt-rolled-back-"); /* removed when the job runs */
      CHECK(loss ? overflow_allowed : aside || !(event->mask & ~(allowed | IN_ISDIR | IN_EXCL_UNLINK)),
            "%s: event %#x of watch %d, %s", when, event->mask, event->wd, event->len ? event->name : "");
      at += (ssize_t)(sizeof *event + event->len);
    }
  CHECK(errno == EAGAIN, "read of inotify");
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  run_own_copy(argv);
  struct sigaction action = {.sa_sigaction = on_break, .sa_flags = SA_SIGINFO | SA_RESTART};
  MUST(!sigaction(SIGRTMIN + 5, &action, NULL));
  MUST(!mkdir(scratch("files"), 0755) && !mkdir(scratch("files/sub"), 0755));
  int written = made("files/written", O_WRONLY, 5000), appended = made("files/appended", O_WRONLY | O_APPEND, 70000),
      both = made("files/both", O_RDWR, 9000);
  int large = made("files/large", O_RDWR, 3 << 20), only_read = made("files/read", O_RDONLY, 4096),
      mapped = made("files/mapped", O_RDWR, 8192);
  int leased = made("files/leased", O_RDWR, 12345), read_leased = made("files/read-leased", O_RDONLY, 4096),
      gone = made("files/gone", O_RDWR, 6000);
  made("files/closed", O_RDONLY, 100), made("files/sub/named", O_RDONLY, 2000);
  int shared = memfd_create("shared", MFD_CLOEXEC), directory = open_scratch("files", O_RDONLY | O_DIRECTORY);
  MUST(!ftruncate(shared, 20000) && !mkfifo(scratch("files/fifo"), 0600));
  int fifo = open_scratch("files/fifo", O_RDWR);
  char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
  const char *private = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, only_read, 0);
  MUST(memory != MAP_FAILED && private != MAP_FAILED && private[0] == private[0] && lseek(leased, 77, SEEK_SET) == 77);
  bool root = !geteuid(); /* only root's watches are kept */
  int fds[] = {leased, read_leased};
  for (int i = 0; i < 2; i++)
    MUST(!fcntl(fds[i], F_SETSIG, SIGRTMIN + 5) && !fcntl(fds[i], F_SETLEASE, i ? F_RDLCK : F_WRLCK));
  inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  MUST(inotify >= 0);
  if (root) {
    const char *all[] = {"own",           "own/unnoticed",   "files",        "files/sub",
                         "files/written", "files/appended",  "files/both",   "files/large",
                         "files/read",    "files/mapped",    "files/leased", "files/read-leased",
                         "files/closed",  "files/sub/named", "files/fifo"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) watch(all[i]);
    if (!access(scratch("own/libudckpt.so"), F_OK)) watch("own/libudckpt.so");
  }
  MUST(!unlink(scratch("files/gone")));
  expect(IN_ALL_EVENTS, false, "at the start");
  feature_ready();
  for (int round = 0; !feature_finishing(); round++) {
    CHECK(!breaks, "the lease of descriptor %d was broken", broken);
    expect(round % 8 ? 0 : IN_MODIFY, true, "without doing anything");
    CHECK(fcntl(leased, F_GETLEASE) == F_WRLCK && fcntl(read_leased, F_GETLEASE) == F_RDLCK, "the leases are %d and %d",
          fcntl(leased, F_GETLEASE), fcntl(read_leased, F_GETLEASE));
    CHECK(lseek(leased, 0, SEEK_CUR) == 77, "the position is another one");
    memory[round % 8192]++;
    if (round % 8 == 7)
      MUST(write(written, "x", 1) == 1 && write(appended, "y", 1) == 1 &&
           pwrite(both, "z", 1, 3) == 1); /* read a while later */
    pause_ms(10);
  }
  CHECK(fcntl(leased, F_GETSIG) == SIGRTMIN + 5, "the signal of a lease is %d", fcntl(leased, F_GETSIG));
  pid_t child = fork();
  if (!child) {
    int refused = open(scratch("files/leased"), O_RDONLY | O_NONBLOCK);
    _exit(refused < 0 && errno == EAGAIN ? 0 : 1);
  }
  int status;
  while (waitpid(child, &status, 0) < 0) MUST(errno == EINTR);
  CHECK(status == 0 && breaks && broken == leased,
        "who opens a leased file does not find the lease: status %#x, %d signals, descriptor %d", status, breaks,
        broken);
  MUST(!fcntl(leased, F_SETLEASE, F_UNLCK));
  CHECK(fcntl(gone, F_GETFL) >= 0 && fcntl(large, F_GETFL) >= 0 && fcntl(fifo, F_GETFL) >= 0 &&
            fcntl(directory, F_GETFL) >= 0 && fcntl(shared, F_GETFL) >= 0,
        "a descriptor is gone");
  return feature_pass();
}
