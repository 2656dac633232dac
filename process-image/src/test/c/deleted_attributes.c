/* Deleted files that are open keep their owner, mode and times; as root the owner is another one. */
#include "feature.h"
#include <sys/stat.h>

enum { FILES = 4, OTHER = 61003 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  static const mode_t modes[FILES] = {0600, 0644, 0400, 06755};
  int files[FILES];
  struct stat then[FILES];
  for (int i = 0; i < FILES; i++) {
    char name[16];
    snprintf(name, sizeof name, "file%d", i);
    files[i] = open_scratch(name, O_RDWR | O_CREAT | O_EXCL);
    MUST(write(files[i], name, 5) == 5);
    if (!geteuid() && i % 2) MUST(!fchown(files[i], OTHER, OTHER + i));
    MUST(!fchmod(files[i], modes[i]));
    struct timespec times[2] = {{1000000000 + i, 123456789}, {1100000000 + i, 987654321}};
    MUST(!futimens(files[i], times) && !unlink(scratch(name)) && !fstat(files[i], &then[i]));
  }
  feature_ready();
  while (!feature_finishing()) {
    for (int i = 0; i < FILES; i++) {
      struct stat now;
      MUST(!fstat(files[i], &now));
      CHECK(now.st_uid == then[i].st_uid && now.st_gid == then[i].st_gid, "deleted file %d belongs to %d:%d, not %d:%d",
            i, now.st_uid, now.st_gid, then[i].st_uid, then[i].st_gid);
      CHECK(now.st_mode == then[i].st_mode, "deleted file %d has the mode %o, not %o", i, now.st_mode, then[i].st_mode);
      CHECK(now.st_mtim.tv_sec == then[i].st_mtim.tv_sec && now.st_mtim.tv_nsec == then[i].st_mtim.tv_nsec,
            "deleted file %d was modified at %ld.%09ld", i, now.st_mtim.tv_sec, now.st_mtim.tv_nsec);
      CHECK(!now.st_nlink && now.st_size == 5, "deleted file %d has %ld links and %ld bytes", i, (long)now.st_nlink,
            (long)now.st_size);
    }
    pause_ms(3);
  }
  return feature_pass();
}
