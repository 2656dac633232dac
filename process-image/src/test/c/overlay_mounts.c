/* Overlays in a mount namespace of its own (in a user namespace, for an ordinary user): one whose upper directory is on
 * a tmpfs that the namespace has, one whose tmpfs was unmounted, one for reading only whose upper layer was unmounted.
 * What was added, changed and removed stays so, files and memory of all layers too, and more can be changed. */
#include "feature.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static struct timespec old = {1000000000, 123456789};
static const char *attribute = ""; /* of overlays that a user may mount */

static void write_file(const char *path, const char *text, int flags, mode_t mode) {
  int fd = open(path, O_WRONLY | flags, 0600);
  MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  MUST((!mode || !fchmod(fd, mode)) && !close(fd));
}

static void make(const char *path, const char *text) {
  write_file(path, text, O_CREAT | O_EXCL, 0644);
}

static const char *in(const char *directory, const char *name) {
  static char paths[8][PATH_MAX];
  static unsigned next;
  char *path = paths[next++ % 8];
  snprintf(path, sizeof paths[0], "%s/%s", scratch(directory), name);
  return path;
}

static void check_text(const char *path, const char *text) {
  char got[256] = "";
  int fd = open(path, O_RDONLY);
  ssize_t bytes = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s' (%m)", path, got);
  MUST(!close(fd));
}

static struct stat look(const char *path) {
  struct stat stat;
  CHECK(!lstat(path, &stat), "lstat %s: %m", path);
  return stat;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* All names that a directory has, in their order. */
static void check_names(const char *path, const char *names) {
  char *found[32], all[512] = "";
  int count = 0;
  DIR *directory = opendir(path);
  CHECK(directory, "opendir %s: %m", path);
  for (struct dirent *entry; (entry = readdir(directory));)
    if (*entry->d_name != '.' && count < 32) found[count++] = strdup(entry->d_name);
  qsort(found, count, sizeof *found, by_name);
  for (int i = 0; i < count; i++) {
    strcat(strcat(all, i ? " " : ""), found[i]);
    free(found[i]);
  }
  MUST(!closedir(directory));
  CHECK(!strcmp(all, names), "%s has %s", path, all);
}

static void make_layers(void) {
  for (const char *const *name = (const char *[]){"low", "low/dir", "low/empty", "low/swap", "low/whole", "low2",
                                                  "low2/dir", "seen", "hidden", "fixed", "t", "h", "r", NULL};
       *name; name++)
    MUST(!mkdir(scratch(*name), 0755));
  make(scratch("low/a"), "lower a"), make(scratch("low/b"), "lower b"), make(scratch("low/gone"), "gone");
  make(scratch("low/mode"), "mode"), make(scratch("low/dir/keep"), "kept"), make(scratch("low/dir/drop"), "dropped");
  make(scratch("low/dir/change"), "changed"), make(scratch("low/swap/inner"), "inner");
  make(scratch("low/swapped"), "a file"), make(scratch("low/whole/one"), "one");
  make(scratch("low2/a"), "hidden by the other"), make(scratch("low2/second"), "second");
  make(scratch("low2/dir/below"), "below");
}

static void change(const char *at) {
  make(in(at, "new"), "new"), write_file(in(at, "b"), ", more", O_APPEND, 0);
  MUST(!unlink(in(at, "gone")) && !chmod(in(at, "mode"), 0600) && !unlink(in(at, "dir/drop")));
  write_file(in(at, "dir/change"), "C", 0, 0);
  MUST(!rmdir(in(at, "empty")) && !unlink(in(at, "swap/inner")) && !rmdir(in(at, "swap")));
  make(in(at, "swap"), "now a file");
  MUST(!unlink(in(at, "swapped")) && !mkdir(in(at, "swapped"), 0750));
  make(in(at, "swapped/file"), "in a directory");
  MUST(!mkdir(in(at, "deep"), 0711) && !mkdir(in(at, "deep/er"), 0700));
  make(in(at, "deep/er/file"), "deeper");
  MUST(!symlink("deep/er", in(at, "link")) && !link(in(at, "new"), in(at, "hard")) && !mkfifo(in(at, "fifo"), 0620));
  if (setxattr(in(at, "new"), "user.ours", "value", 5, 0)) MUST(errno == EOPNOTSUPP);
  struct timespec times[2] = {old, old};
  MUST(!utimensat(AT_FDCWD, in(at, "b"), times, 0) && !utimensat(AT_FDCWD, in(at, "deep"), times, 0));
}

static void check(const char *at, bool second) {
  check_names(scratch(at), second ? "a b deep dir fifo hard link log mode new second swap swapped whole"
                                  : "a b deep dir fifo hard link log mode new swap swapped whole");
  check_names(in(at, "dir"), second ? "below change keep" : "change keep");
  check_names(in(at, "swapped"), "file"), check_names(in(at, "whole"), "one"), check_names(in(at, "deep"), "er");
  check_text(in(at, "a"), "lower a"), check_text(in(at, "b"), "lower b, more"), check_text(in(at, "new"), "new");
  check_text(in(at, "mode"), "mode"), check_text(in(at, "dir/change"), "Changed"), check_text(in(at, "hard"), "new");
  check_text(in(at, "dir/keep"), "kept"), check_text(in(at, "swap"), "now a file");
  check_text(in(at, "swapped/file"), "in a directory"), check_text(in(at, "link/file"), "deeper");
  if (second) check_text(in(at, "second"), "second"), check_text(in(at, "dir/below"), "below");
  struct stat b = look(in(at, "b")), new = look(in(at, "new")), deep = look(in(at, "deep"));
  CHECK(b.st_mtim.tv_sec == old.tv_sec && b.st_mtim.tv_nsec == old.tv_nsec, "when b was written to");
  CHECK(deep.st_mtim.tv_sec == old.tv_sec && (deep.st_mode & 07777) == 0711, "the directory deep");
  CHECK(new.st_nlink == 2 && look(in(at, "hard")).st_ino == new.st_ino, "the second name");
  CHECK((look(in(at, "mode")).st_mode & 07777) == 0600 && S_ISFIFO(look(in(at, "fifo")).st_mode), "modes");
  char value[8] = "";
  ssize_t length = getxattr(in(at, "new"), "user.ours", value, sizeof value);
  CHECK(length < 0 ? errno == EOPNOTSUPP : length == 5 && !memcmp(value, "value", 5), "the attribute: %m");
}

static void check_fixed(void) {
  check_names(scratch("fixed"), "a b dir empty mode swap swapped top whole");
  check_names(scratch("fixed/dir"), "change drop extra keep");
  check_text(scratch("fixed/b"), "b of the top"), check_text(scratch("fixed/a"), "lower a");
  check_text(scratch("fixed/dir/extra"), "extra"), check_text(scratch("fixed/whole/one"), "one");
  CHECK(mkdir(scratch("fixed/new"), 0700) && errno == EROFS, "what is to be read only is changed");
}

static void mount_overlay(const char *at, const char *options) {
  char all[3 * PATH_MAX];
  snprintf(all, sizeof all, "%s%s", options, attribute);
  MUST(!mount("over", scratch(at), "overlay", MS_NOSUID, all));
}

static void mount_all(void) {
  char options[3 * PATH_MAX];
  for (const char *const *name = (const char *[]){"t", "h", "r", NULL}; *name; name++)
    MUST(!mount("layers", scratch(*name), "tmpfs", 0, NULL));
  for (const char *const *name = (const char *[]){"t/u", "t/w", "h/u", "h/w", "r/top", "r/top/dir", NULL}; *name;
       name++)
    MUST(!mkdir(scratch(*name), 0755));
  make(scratch("r/top/b"), "b of the top"), make(scratch("r/top/dir/extra"), "extra"), make(scratch("r/top/top"), "t");
  MUST(!mknod(scratch("r/top/gone"), S_IFCHR, makedev(0, 0)));
  snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", scratch("low"), scratch("t/u"),
           scratch("t/w"));
  mount_overlay("seen", options);
  snprintf(options, sizeof options, "lowerdir=%s:%s,upperdir=%s,workdir=%s", scratch("low"), scratch("low2"),
           scratch("h/u"), scratch("h/w"));
  if (!*attribute) strcat(options, ",index=on"); /* two mounts of it at a time are refused then */
  mount_overlay("hidden", options);
  snprintf(options, sizeof options, "lowerdir=%s:%s", scratch("r/top"), scratch("low"));
  mount_overlay("fixed", options);
  MUST(!umount2(scratch("h"), MNT_DETACH) && !umount2(scratch("r"), MNT_DETACH));
}

/* What mountinfo says of an overlay's options. */
static void read_options(const char *point, char *options, size_t size) {
  static char line[4 * PATH_MAX];
  FILE *file = fopen("/proc/self/mountinfo", "r");
  MUST(file);
  *options = 0;
  while (fgets(line, sizeof line, file)) {
    char *found = strstr(line, point), *type = strstr(line, " - overlay ");
    if (found && type && found[strlen(point)] == ' ') snprintf(options, size, "%s", type);
  }
  MUST(!fclose(file));
}

static int lower, upper, shared, gone, fifo;
static char *of_lower, *of_shared;

static void open_files(void) {
  make(scratch("seen/log"), ""), make(scratch("hidden/log"), "");
  lower = open(scratch("hidden/a"), O_RDONLY), upper = open(scratch("hidden/new"), O_RDWR);
  shared = open(scratch("hidden/log"), O_RDWR | O_APPEND), gone = open(scratch("hidden/gone"), O_RDWR | O_CREAT, 0600);
  MUST(lower >= 0 && upper >= 0 && shared >= 0 && gone >= 0 && write(gone, "left", 4) == 4);
  MUST(!unlink(scratch("hidden/gone")) && lseek(upper, 1, SEEK_SET) == 1 && write(shared, "0", 1) == 1);
  of_lower = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, lower, 0);
  of_shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
  MUST(of_lower != MAP_FAILED && of_shared != MAP_FAILED);
  MUST((fifo = open(scratch("hidden/fifo"), O_RDWR)) >= 0 && write(fifo, "queued", 6) == 6);
  MUST(!chdir(scratch("hidden/dir")));
}

static void check_files(char count) {
  char path[PATH_MAX] = "", got[8] = "";
  CHECK(pread(lower, got, 7, 0) == 7 && !memcmp(got, "lower a", 7) && !memcmp(of_lower, "lower a", 7), "a: %s", got);
  CHECK(pread(upper, got, 7, 0) == 3 && !memcmp(got, "new", 3) && lseek(upper, 0, SEEK_CUR) == 1, "new: %s", got);
  CHECK(pread(gone, got, 7, 0) == 4 && !memcmp(got, "left", 4) && access(scratch("hidden/gone"), F_OK), "gone: %s",
        got);
  CHECK(getcwd(path, sizeof path) && !strcmp(path, scratch("hidden/dir")), "it works in %s", path);
  CHECK(read(fifo, got, 6) == 6 && !memcmp(got, "queued", 6) && write(fifo, "queued", 6) == 6, "the FIFO");
  *of_shared = count;
  CHECK(pread(shared, got, 1, 0) == 1 && *got == count, "the mapping is not that of the file");
}

static void enter(void) {
  uid_t uid = geteuid();
  gid_t gid = getegid();
  MUST(!unshare((uid ? CLONE_NEWUSER : 0) | CLONE_NEWNS));
  if (uid) {
    char text[64];
    write_file("/proc/self/setgroups", "deny", 0, 0);
    snprintf(text, sizeof text, "0 %u 1", uid), write_file("/proc/self/uid_map", text, 0, 0);
    snprintf(text, sizeof text, "0 %u 1", gid), write_file("/proc/self/gid_map", text, 0, 0);
    attribute = ",userxattr";
  }
  MUST(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

__attribute__((noreturn)) static void inside(void) {
  static char options[3][4 * PATH_MAX], now[4 * PATH_MAX];
  const char *const places[] = {"seen", "hidden", "fixed"};
  feature_child();
  enter();
  mount_all();
  change("seen"), change("hidden"), open_files();
  for (int i = 0; i < 3; i++) {
    read_options(scratch(places[i]), options[i], sizeof options[i]);
    MUST(*options[i]);
  }
  make(scratch("inside"), "ready");
  for (char count = 'a'; !feature_finishing(); count = count == 'z' ? 'a' : count + 1) {
    check("seen", false), check("hidden", true), check_fixed(), check_files(count);
    check_text(scratch("t/u/new"), "new");
    CHECK(S_ISCHR(look(scratch("t/u/gone")).st_mode), "what the upper directory has instead of a removed file");
    for (int i = 0; i < 3; i++) {
      /* between two reads of it a restart gives other numbers, so that a line may be cut: then it is asked again */
      *now = 0;
      for (int tries = 0; tries < 3 && strcmp(now, options[i]); tries++)
        read_options(scratch(places[i]), now, sizeof now);
      CHECK(!strcmp(now, options[i]), "%s is mounted%s, not%s", places[i], now, options[i]);
    }
    MUST(!mkdir(scratch("hidden/empty"), 0700) && !rmdir(scratch("hidden/empty")));
    make(scratch("seen/gone"), "again");
    MUST(!unlink(scratch("seen/gone")));
    pause_ms(3);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  umask(022);
  make_layers();
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) inside();
  while (access(scratch("inside"), F_OK)) {
    MUST(!waitpid(child, NULL, WNOHANG));
    pause_ms(1);
  }
  feature_ready();
  int status = 0;
  while (!feature_finishing()) {
    CHECK(!waitpid(child, &status, WNOHANG), "the child ended with %#x", status);
    check_names(scratch("seen"), ""), check_names(scratch("hidden"), "");
    check_names(scratch("low"), "a b dir empty gone mode swap swapped whole");
    check_text(scratch("low/b"), "lower b");
    pause_ms(3);
  }
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
