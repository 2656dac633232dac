/* Handles (O_PATH) of files without a name: removed ones, of which one is open as well; memory that nobody has open
 * (memfd_create(2)); and a file that has another name than the one by which it was opened. What they lead to is opened
 * by them and read, and what has no name changed, all the time. */
#include "feature.h"
#include <sys/mman.h>

enum { REMOVED, OPEN_TOO, MEMORY, RENAMED, HANDLES };
static int handles[HANDLES], opened;
static uint64_t counts[HANDLES];

static int handle_of(int fd) {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  int handle = open(path, O_PATH | O_CLOEXEC);
  MUST(handle >= 0);
  return handle;
}

static int made(const char *name) {
  uint64_t zero = 0;
  int fd = open(scratch(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  MUST(fd >= 0 && write(fd, &zero, sizeof zero) == sizeof zero);
  return fd;
}

static void check(int which) {
  char path[40], link[PATH_MAX];
  uint64_t count = 0;
  struct stat there;
  snprintf(path, sizeof path, "/proc/self/fd/%d", handles[which]);
  ssize_t length = readlink(path, link, sizeof link - 1);
  MUST(length > 0);
  link[length] = 0;
  CHECK(strstr(link, which == MEMORY ? "/memfd:some (deleted)" : "(deleted)"), "handle %d is %s", which, link);
  CHECK(fcntl(handles[which], F_GETFL) & O_PATH && fcntl(handles[which], F_GETFD) == FD_CLOEXEC, "flags of %d", which);
  CHECK(!fstat(handles[which], &there) && S_ISREG(there.st_mode), "handle %d", which);
  CHECK((int)there.st_nlink == (which == RENAMED), "handle %d has %d names", which, (int)there.st_nlink);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  CHECK(fd >= 0 && read(fd, &count, sizeof count) == sizeof count, "handle %d cannot be opened", which);
  CHECK(count == counts[which], "handle %d leads to %d, not %d", which, (int)count, (int)counts[which]);
  if (which != RENAMED) { /* a file with a name, and not open, is not in the image */
    count = ++counts[which];
    MUST(pwrite(fd, &count, sizeof count, 0) == sizeof count);
  }
  MUST(!close(fd));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int removed = made("removed"), memory = memfd_create("some", MFD_CLOEXEC), renamed = made("before");
  uint64_t zero = 0;
  opened = made("open");
  MUST(memory >= 0 && write(memory, &zero, sizeof zero) == sizeof zero);
  MUST(!link(scratch("before"), scratch("behind")) && !unlink(scratch("before")));
  MUST(!unlink(scratch("removed")) && !unlink(scratch("open")));
  handles[REMOVED] = handle_of(removed), handles[OPEN_TOO] = handle_of(opened);
  handles[MEMORY] = handle_of(memory), handles[RENAMED] = handle_of(renamed);
  MUST(!close(removed) && !close(memory) && !close(renamed));
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < HANDLES; i++) check(i);
    uint64_t count = 0;
    struct stat one, other;
    CHECK(pread(opened, &count, sizeof count, 0) == sizeof count && count == counts[OPEN_TOO], "the open file");
    CHECK(!fstat(opened, &one) && !fstat(handles[OPEN_TOO], &other) && one.st_ino == other.st_ino, "two files");
    pause_ms(2);
  }
  return feature_pass();
}
