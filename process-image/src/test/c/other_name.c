/* Files whose name was removed and that have another one: a lock that was linked to its name, read, written, appended
 * to, in shared memory, with the other name in a directory above. What is written is in the file of the other name. */
#include "feature.h"

enum { BYTES = 9000 };

/* What is open as FLAGS, and has only the name OTHER when this returns. */
static int renamed(const char *name, const char *other, int flags) {
  int made = open(name, O_RDWR | O_CREAT | O_EXCL, 0640);
  unsigned char content[BYTES];
  fill_pattern(content, BYTES, 3);
  MUST(made >= 0 && write(made, content, BYTES) == BYTES && !close(made));
  int fd = open(name, flags);
  MUST(fd >= 0 && !link(name, other) && !unlink(name));
  return fd;
}

static void check_same(int fd, const char *other) {
  struct stat open, named;
  for (int look = 0; look < 3; look++) { /* one look may come before a restart */
    MUST(!fstat(fd, &open) && !stat(other, &named));
    if (open.st_ino == named.st_ino && open.st_dev == named.st_dev) break;
  }
  CHECK(open.st_ino == named.st_ino && open.st_dev == named.st_dev, "%s is another file than the open one", other);
  CHECK(open.st_nlink == 1, "%s has %lu names", other, (unsigned long)open.st_nlink);
}

static void check_content(const char *name, off_t from) {
  unsigned char got[BYTES], content[BYTES];
  fill_pattern(content, BYTES, 3);
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  MUST(fd >= 0);
  CHECK(pread(fd, got, BYTES - from, from) == BYTES - from && !memcmp(got, content + from, BYTES - from),
        "the content of %s", name);
  MUST(!close(fd));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char shared[64], shared_other[68];
  snprintf(shared, sizeof shared, "/dev/shm/udckpt-feature-other-%d", getpid());
  snprintf(shared_other, sizeof shared_other, "%s-2", shared);
  int reader = renamed(scratch("read"), scratch("read2"), O_RDONLY);
  int writer = renamed(scratch("write"), scratch("write2"), O_RDWR);
  int appender = renamed(scratch("append"), scratch("append2"), O_WRONLY | O_APPEND);
  int memory = renamed(shared, shared_other, O_RDWR);
  MUST(!mkdir(scratch("upper"), 0700) && !mkdir(scratch("upper/lower"), 0700));
  int above = renamed(scratch("upper/lower/deep"), scratch("deep2"), O_RDWR);
  MUST(lseek(reader, 17, SEEK_SET) == 17);
  feature_ready();
  uint64_t rounds = 0;
  while (!feature_finishing()) {
    check_same(reader, scratch("read2"));
    check_same(writer, scratch("write2"));
    check_same(appender, scratch("append2"));
    check_same(memory, shared_other);
    check_same(above, scratch("deep2"));
    CHECK(lseek(reader, 0, SEEK_CUR) == 17, "the offset");
    rounds++;
    uint64_t got = 0;
    CHECK(pwrite(writer, &rounds, sizeof rounds, 0) == sizeof rounds, "writing");
    int again = open(scratch("write2"), O_RDONLY | O_CLOEXEC);
    CHECK(again >= 0 && pread(again, &got, sizeof got, 0) == sizeof got && got == rounds && !close(again),
          "what was written is not in the file");
    check_content(scratch("write2"), sizeof rounds);
    check_content(scratch("append2"), 0);
    check_content(shared_other, 0);
    CHECK(access(scratch("write"), F_OK) && errno == ENOENT, "the removed name is there again");
    pause_ms(3);
  }
  CHECK(write(appender, "end", 3) == 3 && lseek(appender, 0, SEEK_END) == BYTES + 3, "appending");
  MUST(!unlink(shared_other));
  return feature_pass();
}
