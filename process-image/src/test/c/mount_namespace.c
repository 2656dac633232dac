/* A process in a mount namespace of its own: a tmpfs with all that can be in one, a directory and a file mounted at
 * another place, read-only and writable, /proc; mounts on mounts. Nobody else sees them, and they stay what they are.
 */
#include "feature.h"
#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static struct timespec old = {1000000000, 123456789};

static void make(const char *path, const char *text, mode_t mode) {
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  MUST(!fchmod(fd, mode) && !close(fd));
}

static void check_text(const char *path, const char *text) {
  char got[64] = "";
  int fd = open(path, O_RDONLY);
  ssize_t bytes = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s'", path, got);
  MUST(!close(fd));
}

static struct stat look(const char *path) {
  struct stat stat;
  CHECK(!lstat(path, &stat), "lstat %s", path);
  return stat;
}

static void make_tmpfs(void) {
  MUST(!mount("ours", scratch("t"), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOATIME, "size=8m,mode=1755"));
  make(scratch("t/file"), "some text", 0640);
  MUST(!mkdir(scratch("t/dir"), 0700) && !mkdir(scratch("t/dir/deep"), 0711));
  make(scratch("t/dir/deep/file"), "deeper", 0600);
  MUST(!symlink("../file", scratch("t/dir/link")) && !link(scratch("t/file"), scratch("t/dir/hard")));
  MUST(!mkfifo(scratch("t/fifo"), 0620) && !mknod(scratch("t/null"), S_IFCHR | 0666, makedev(1, 3)));
  MUST(!chmod(scratch("t/fifo"), 0620) && !chown(scratch("t/fifo"), 12, 34) && !lchown(scratch("t/dir/link"), 56, 78));
  int fd = open(scratch("t/holes"), O_RDWR | O_CREAT, 0600);
  MUST(!ftruncate(fd, 5 << 20) && pwrite(fd, "x", 1, 3 << 20) == 1 && !close(fd));
  if (setxattr(scratch("t/file"), "trusted.ours", "value", 5, 0)) MUST(errno == EOPNOTSUPP);
  struct timespec times[2] = {old, old};
  MUST(!utimensat(AT_FDCWD, scratch("t/file"), times, 0) && !utimensat(AT_FDCWD, scratch("t/dir"), times, 0));
  MUST(!utimensat(AT_FDCWD, scratch("t/dir/link"), times, AT_SYMLINK_NOFOLLOW));
}

static void check_tmpfs(void) {
  struct statfs system;
  MUST(!statfs(scratch("t"), &system));
  CHECK(system.f_type == 0x01021994 && system.f_blocks * system.f_bsize == 8 << 20, "the tmpfs has another size");
  CHECK((look(scratch("t")).st_mode & 07777) == 01755, "the mode of the tmpfs");
  check_text(scratch("t/file"), "some text");
  check_text(scratch("t/dir/link"), "some text");
  check_text(scratch("t/dir/deep/file"), "deeper");
  struct stat file = look(scratch("t/file")), dir = look(scratch("t/dir")), symbolic = look(scratch("t/dir/link"));
  CHECK(file.st_nlink == 2 && look(scratch("t/dir/hard")).st_ino == file.st_ino, "the second name");
  CHECK(file.st_mtim.tv_sec == old.tv_sec && file.st_mtim.tv_nsec == old.tv_nsec, "when the file was written to");
  CHECK(file.st_atim.tv_sec == old.tv_sec && (file.st_mode & 07777) == 0640, "when the file was read; its mode");
  CHECK(dir.st_mtim.tv_sec == old.tv_sec && (dir.st_mode & 07777) == 0700, "when the directory was changed; its mode");
  CHECK(symbolic.st_mtim.tv_sec == old.tv_sec && symbolic.st_uid == 56 && symbolic.st_gid == 78, "the symbolic link");
  struct stat fifo = look(scratch("t/fifo")), node = look(scratch("t/null"));
  CHECK(S_ISFIFO(fifo.st_mode) && (fifo.st_mode & 07777) == 0620 && fifo.st_uid == 12, "the FIFO");
  CHECK(S_ISCHR(node.st_mode) && node.st_rdev == makedev(1, 3), "the device node");
  struct stat holes = look(scratch("t/holes"));
  CHECK(holes.st_size == 5 << 20 && holes.st_blocks <= 4096, "holes: %ld blocks", (long)holes.st_blocks);
  char value[8] = "";
  ssize_t length = getxattr(scratch("t/file"), "trusted.ours", value, sizeof value);
  CHECK(length < 0 || (length == 5 && !memcmp(value, "value", 5)), "the attribute");
  CHECK(open(scratch("t/null"), O_RDONLY) < 0 && errno == EACCES, "nodev is lost");
}

/* What mountinfo says of a mount: its options and the optional fields. */
static void options_of(const char *point, char *got) {
  char line[4096];
  FILE *file = fopen("/proc/self/mountinfo", "r");
  MUST(file);
  while (fgets(line, sizeof line, file)) {
    char path[PATH_MAX], own[256];
    if (sscanf(line, "%*s %*s %*s %*s %4095s %255[^-]", path, own) == 2 && !strcmp(path, point)) strcpy(got, own);
  }
  MUST(!fclose(file));
}

static void check_mount(const char *point, const char *options) {
  char at[PATH_MAX], got[256] = "";
  snprintf(at, sizeof at, "%s ", options);
  /* between two reads of it a restart gives other numbers, so that a line may be cut: then it is asked again */
  for (int tries = 0; tries < 3 && strcmp(got, at); tries++) options_of(point, got);
  CHECK(!strcmp(got, at), "%s is mounted '%s', not '%s'", point, got, at);
}

static int kept, through, device, gone, nameless, same, fifo, early;
static char *mapped;

static void mount_over(const char *place, const char *options, const char *file, const char *text) {
  MUST(!mount("over", scratch(place), "tmpfs", 0, options));
  make(scratch(file), text, 0600);
}

static void make_mounts(void) {
  MUST(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  make_tmpfs();
  MUST(!mount(scratch("from"), scratch("to"), NULL, MS_BIND, NULL));
  MUST(!mount(NULL, scratch("to"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOEXEC, NULL));
  MUST(!mount(scratch("itself"), scratch("itself"), NULL, MS_BIND, NULL));
  MUST(!mount(NULL, scratch("itself"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
  MUST(!mount(scratch("from/file"), scratch("bound"), NULL, MS_BIND, NULL));
  mount_over("t/dir/deep", "mode=700", "t/dir/deep/upper", "above");
  MUST(!mount("proc", scratch("p"), "proc", 0, "hidepid=2"));
  mount_over("r", NULL, "r/file", "fixed");
  MUST(!mount(NULL, scratch("r"), NULL, MS_REMOUNT | MS_RDONLY, NULL));
  mount_over("l", NULL, "l/low", "hidden");
  mount_over("l", NULL, "l/high", "seen");
  MUST(!chdir(scratch("t/dir")));
}

static void open_files(void) {
  kept = open(scratch("t/file"), O_RDWR), through = open(scratch("to/file"), O_RDONLY);
  int written = open(scratch("bound"), O_RDWR);
  MUST(kept >= 0 && through >= 0 && written >= 0 && pwrite(written, "S", 1, 0) == 1);
  device = open(scratch("t/holes"), O_RDWR);
  mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, device, 3 << 20);
  MUST(mapped != MAP_FAILED);
  gone = open(scratch("t/gone"), O_RDWR | O_CREAT, 0600), nameless = open(scratch("t"), O_RDWR | O_TMPFILE, 0600);
  MUST(gone >= 0 && nameless >= 0 && write(gone, "gone", 4) == 4 && write(nameless, "none", 4) == 4);
  MUST(!unlink(scratch("t/gone")));
  MUST((fifo = open(scratch("t/fifo"), O_RDWR)) >= 0 && write(fifo, "queued", 6) == 6);
  same = open(scratch("t/same"), O_RDWR | O_CREAT | O_EXCL, 0600);
  MUST(same >= 0 && write(same, "other", 5) == 5);
}

static void check_file(int fd, const char *text, const char *what) {
  char got[16] = "";
  CHECK(pread(fd, got, strlen(text), 0) == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s'", what, got);
}

static void check_files(char count) {
  char path[PATH_MAX] = "", got;
  check_file(kept, "some text", "the open file"), check_file(through, "Somewhere", "the other one");
  check_file(gone, "gone", "the deleted file"), check_file(nameless, "none", "the file without a name");
  check_file(same, "other", "the file of the same name"), check_file(early, "early", "the deleted file from before");
  CHECK(getcwd(path, sizeof path) && !strcmp(path, scratch("t/dir")), "it works in %s", path);
  char queued[8] = "";
  CHECK(read(fifo, queued, 6) == 6 && !strcmp(queued, "queued") && write(fifo, "queued", 6) == 6, "the FIFO");
  *mapped = count;
  CHECK(pread(device, &got, 1, 3 << 20) == 1 && got == count, "the mapping is not that of the file");
  CHECK(access(scratch("t/gone"), F_OK), "the deleted file is there");
  check_text(scratch("l/high"), "seen"), check_text(scratch("t/same"), "other");
}

__attribute__((noreturn)) static void inside(void) {
  feature_child();
  early = open(scratch("early"), O_RDWR | O_CREAT, 0600); /* where the job was started, and without a name there */
  MUST(early >= 0 && write(early, "early", 5) == 5 && !unlink(scratch("early")));
  make_mounts();
  open_files();
  make(scratch("inside"), "ready", 0600);
  for (char count = 'a'; !feature_finishing(); count = count == 'z' ? 'a' : count + 1) {
    MUST(!umount(scratch("t/dir/deep")));
    check_tmpfs();
    mount_over("t/dir/deep", "mode=700", "t/dir/deep/upper", "above");
    pause_ms(3);
    check_text(scratch("t/dir/deep/upper"), "above");
    check_mount(scratch("t"), "rw,nosuid,nodev,noatime");
    check_mount(scratch("to"), "ro,noexec,relatime");
    CHECK(open(scratch("to/file"), O_RDWR) < 0 && errno == EROFS, "it can be written to");
    CHECK(mkdir(scratch("itself/new"), 0700) && errno == EROFS, "what is mounted on itself can be written to");
    check_text(scratch("r/file"), "fixed");
    CHECK(open(scratch("r/file"), O_RDWR) < 0 && errno == EROFS, "a read-only tmpfs can be written to");
    CHECK(!access(scratch("p/self/status"), R_OK), "no second /proc");
    check_files(count);
  }
  MUST(!close(through) && !umount(scratch("t/dir/deep")) && !umount(scratch("p")) && !umount(scratch("itself")) &&
       !umount(scratch("to")));
  MUST(!umount(scratch("l")));
  check_text(scratch("l/low"), "hidden");
  CHECK(access(scratch("to/file"), F_OK), "something else was mounted at its place");
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  for (const char *const *name = (const char *[]){"t", "to", "itself", "from", "p", "l", "r", NULL}; *name; name++)
    MUST(!mkdir(scratch(*name), 0755));
  make(scratch("from/file"), "somewhere", 0644), make(scratch("bound"), "", 0644);
  make(scratch("t/same"), "a file of the same name", 0600);
  pid_t child = 0;
  if (!geteuid() && !(child = fork())) inside();
  while (child && access(scratch("inside"), F_OK)) pause_ms(1);
  feature_ready();
  int status = 0;
  while (!feature_finishing()) {
    CHECK(!child || !waitpid(child, &status, WNOHANG), "the child ended with %#x", status);
    CHECK(access(scratch("t/file"), F_OK) && access(scratch("to/file"), F_OK), "the namespace is no more its own");
    check_text(scratch("t/same"), "a file of the same name");
    CHECK(!look(scratch("bound")).st_size, "what is mounted over a file is seen");
    pause_ms(3);
  }
  if (child) CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  return feature_pass();
}
