/* Processes in user namespaces of their own, as containers of an ordinary user have them: one with all capabilities
 * there, with its mounts and host name, a thread and a child; one that has made a second namespace below, has another
 * number there and no capability left, and a root directory of which only its mounts are known (pivot_root(2)).
 */
#include "own_user.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>

static uid_t user;
static gid_t group;

static void check_text(const char *path, const char *text) {
  char got[256] = "";
  int fd = open(path, O_RDONLY);
  ssize_t bytes = fd < 0 ? -1 : read(fd, got, sizeof got - 1);
  CHECK(bytes == (ssize_t)strlen(text) && !strcmp(got, text), "%s has '%s', not '%s'", path, got, text);
  MUST(!close(fd));
}

/* All that the kernel says of them, spaces left out. */
static void check_maps(unsigned inside, unsigned above) {
  for (const char *const *file = (const char *[]){"uid_map", "gid_map", NULL}; *file; file++) {
    char path[64];
    unsigned from, to, count;
    snprintf(path, sizeof path, "/proc/self/%s", *file);
    FILE *map = fopen(path, "r");
    MUST(map && fscanf(map, "%u %u %u", &from, &to, &count) == 3 && !fclose(map));
    CHECK(from == inside && count == 1 && (above == ~0U || to == above), "%s has %u %u %u", *file, from, to, count);
  }
  check_text("/proc/self/setgroups", "deny\n");
}

static unsigned long long capabilities(const char *field) {
  char line[256];
  unsigned long long value = ~0ULL;
  FILE *status = fopen("/proc/thread-self/status", "r");
  MUST(status);
  while (fgets(line, sizeof line, status))
    if (!strncmp(line, field, strlen(field))) value = strtoull(line + strlen(field), NULL, 16);
  MUST(!fclose(status));
  return value;
}

static unsigned long long effective, bounding;

static void check_own(void) {
  struct utsname names;
  CHECK(getuid() == 0 && geteuid() == 0 && getgid() == 0, "user %u, group %u", getuid(), getgid());
  CHECK(capabilities("CapEff:") == effective && capabilities("CapBnd:") == bounding, "capabilities %llx of %llx",
        capabilities("CapEff:"), effective);
  MUST(!uname(&names));
  CHECK(!strcmp(names.nodename, "ours") && !strcmp(names.domainname, "its.domain"), "the host is %s", names.nodename);
  check_maps(0, ~0U);
  check_text(scratch("t/file"), "in it");
  struct stat file;
  MUST(!stat(scratch("t/file"), &file));
  CHECK(file.st_uid == 0, "the file belongs to %u", file.st_uid);
  CHECK(open(scratch("fixed/file"), O_RDWR) < 0 && errno == EROFS, "a mount is not for reading only");
}

static void *thread(void *unused) {
  (void)unused;
  Identity self = identity();
  while (!feature_over) {
    check_identity(&self);
    check_own();
    pause_ms(5);
  }
  return NULL;
}

__attribute__((noreturn)) static void container(void) {
  feature_child();
  own_user(CLONE_NEWNS | CLONE_NEWUTS, 0, 0);
  MUST(!sethostname("ours", 4) && !setdomainname("its.domain", 10));
  MUST(!mount("t", scratch("t"), "tmpfs", 0, "size=1m,mode=700"));
  write_file(scratch("t/file"), "in it");
  MUST(!mount(scratch("fixed"), scratch("fixed"), NULL, MS_BIND, NULL));
  MUST(!mount(NULL, scratch("fixed"), NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL));
  MUST(!prctl(PR_CAPBSET_DROP, 25 /* CAP_SYS_TIME */, 0, 0, 0));
  effective = capabilities("CapEff:"), bounding = capabilities("CapBnd:");
  pid_t child = fork();
  if (!child) feature_child();
  pthread_t other = start_thread(thread, NULL);
  write_file(scratch(child ? "t/one" : "t/two"), "ready");
  while (access(scratch("t/one"), F_OK) || access(scratch("t/two"), F_OK)) pause_ms(1);
  if (child) write_file(scratch("container"), "ready");
  while (!feature_finishing()) {
    check_own();
    if (child) {
      MUST(!mount("further", scratch("m"), "tmpfs", 0, NULL));
      pause_ms(2);
      MUST(!umount(scratch("m")));
    }
    pause_ms(2);
  }
  OK(pthread_join(other, NULL));
  if (!child) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child in the container ended with %#x", status);
  MUST(!umount(scratch("t")) && !umount(scratch("fixed")));
  CHECK(access(scratch("t/file"), F_OK), "the file is not in the tmpfs only");
  _exit(0);
}

static void bind(const char *directory) {
  char place[PATH_MAX];
  snprintf(place, sizeof place, "new%s", directory);
  for (char *slash = place + 4; (slash = strchr(slash, '/')); *slash++ = '/') {
    *slash = 0;
    if (mkdir(place, 0755)) CHECK(errno == EEXIST, "mkdir %s", place);
  }
  if (mkdir(place, 0755)) CHECK(errno == EEXIST, "mkdir %s", place);
  char old[PATH_MAX];
  snprintf(old, sizeof old, "old%s", directory);
  CHECK(!mount(old, place, NULL, MS_BIND | MS_REC, NULL), "bind %s", directory);
}

/* As sandboxes do it: a new root directory on a tmpfs, what is needed of the old one mounted there, and that gone. */
static void new_root(void) {
  char shared[PATH_MAX];
  MUST(realpath(feature_scratch, shared));
  MUST(!mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) && !mount("tmpfs", scratch("m"), "tmpfs", 0, "mode=755"));
  MUST(!chdir(scratch("m")) && !mkdir("new", 0755) && !mkdir("old", 0755) && !mount("new", "new", NULL, MS_BIND, NULL));
  MUST(!syscall(SYS_pivot_root, ".", "old") && !chdir("/"));
  for (const char *const *name = (const char *[]){"/usr", "/lib", "/lib64", "/etc", "/dev", "/proc", NULL}; *name;
       name++) {
    char old[PATH_MAX];
    snprintf(old, sizeof old, "old%s", *name);
    if (!access(old, F_OK)) bind(*name);
  }
  bind(shared);
  MUST(!mount(NULL, "old", NULL, MS_REC | MS_PRIVATE, NULL) && !umount2("old", MNT_DETACH));
  MUST(!chdir("new") && !syscall(SYS_pivot_root, ".", ".") && !umount2(".", MNT_DETACH) && !chdir("/"));
  write_file("/note", "only here");
}

__attribute__((noreturn)) static void sandbox(void) {
  feature_child();
  own_user(CLONE_NEWNS, 0, 0);
  new_root();
  own_user(0, 4321, 4321);
  for (int number = 0; number < 41; number++) MUST(!prctl(PR_CAPBSET_DROP, number, 0, 0, 0) || errno == EINVAL);
  uint32_t header[2] = {0x20080522, 0}, none[6] = {0};
  MUST(!syscall(SYS_capset, header, none) && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  write_file(scratch("sandbox"), "ready");
  while (!feature_finishing()) {
    CHECK(getuid() == 4321 && getegid() == 4321, "user %u, group %u", getuid(), getegid());
    CHECK(!capabilities("CapPrm:") && !capabilities("CapBnd:"), "it has capabilities %llx", capabilities("CapPrm:"));
    CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1, "no_new_privs");
    check_maps(4321, 0);
    check_text("/note", "only here");
    CHECK(access("/root", F_OK) && access("/home", F_OK), "the old root directory is seen");
    CHECK(mount("further", scratch("m"), "tmpfs", 0, NULL) && errno == EPERM, "it may mount");
    pause_ms(3);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  user = geteuid(), group = getegid();
  for (const char *const *name = (const char *[]){"t", "m", "fixed", NULL}; *name; name++)
    MUST(!mkdir(scratch(*name), 0755));
  write_file(scratch("fixed/file"), "outside");
  pid_t first = fork();
  if (!first) container();
  while (access(scratch("container"), F_OK)) pause_ms(1);
  pid_t second = fork();
  if (!second) sandbox();
  while (access(scratch("sandbox"), F_OK)) pause_ms(1);
  feature_ready();
  int status;
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "a child ended with %#x", status);
    CHECK(geteuid() == user && getegid() == group, "user %u, group %u", geteuid(), getegid());
    CHECK(access(scratch("t/file"), F_OK), "a mount of another namespace is seen");
    pause_ms(3);
  }
  CHECK(waitpid(first, &status, 0) == first && !status, "the container ended with %#x", status);
  CHECK(waitpid(second, &status, 0) == second && !status, "the sandbox ended with %#x", status);
  return feature_pass();
}
