/* Processes and threads in control groups of their own, below the one in which they were started: in a hierarchy of
 * the program's own (version 1, with a name), two deep, shared, one with another owner, one that nobody is in; and in
 * one of version 2, where that is. */
#include "feature.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

static char hierarchy[64], name[80], mounted[PATH_MAX], second[PATH_MAX], begun[512];

static char *group(const char *path, const char *file) {
  static __thread char paths[4][PATH_MAX];
  static __thread unsigned next;
  char *to = paths[next++ % 4];
  CHECK(snprintf(to, PATH_MAX, "%s/%s/%s", mounted, path, file) < PATH_MAX, "a long path");
  return to;
}

static bool put(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
  if (fd >= 0) close(fd);
  return done;
}

static void get(const char *path, char *to, size_t size) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : read(fd, to, size - 1);
  CHECK(bytes >= 0, "read %s", path);
  to[bytes] = 0;
  close(fd);
}

/* The calling thread's group in a hierarchy, as /proc has it: behind its last colon. */
static void own(const char *key, char *to, size_t size) {
  char text[8192];
  get("/proc/thread-self/cgroup", text, sizeof text);
  char *at = strstr(text, key);
  CHECK(at, "no hierarchy %s", key);
  at += strlen(key);
  snprintf(to, size, "%.*s", (int)strcspn(at, "\n"), at);
}

static void is_in(const char *path) {
  char got[PATH_MAX];
  own(name, got, sizeof got);
  CHECK(!strcmp(got, path), "in group %s instead of %s", got, path);
}

static void setting(const char *path, const char *file, const char *value) {
  char got[256];
  get(group(path, file), got, sizeof got);
  CHECK(!strncmp(got, value, strlen(value)), "%s of %s is %s", file, path, got);
}

static bool check_files(const char *none) {
  (void)none;
  struct stat stat_a, stat_file, empty;
  MUST(!stat(group("a", ""), &stat_a) && !stat(group("a", "notify_on_release"), &stat_file));
  CHECK((stat_a.st_mode & 07777) == 0750 && stat_a.st_uid == 12 && stat_a.st_gid == 34, "the owner of a group");
  CHECK((stat_file.st_mode & 07777) == 0606 && stat_file.st_uid == 56, "the owner of a file");
  setting("a", "cgroup.clone_children", "1");
  setting("a/b", "cgroup.clone_children", "0");
  CHECK(!stat(group("a/b/empty", ""), &empty) && !stat(group("a/b/empty/deeper", ""), &empty), "empty groups");
  return true;
}

static void begin_second(void) {
  *second = 0;
  FILE *mounts = fopen("/proc/self/mounts", "r");
  char line[4096], point[PATH_MAX], type[64];
  while (fgets(line, sizeof line, mounts))
    if (sscanf(line, "%*s %4095s %63s", point, type) == 2 && !strcmp(type, "cgroup2")) {
      own("0::", begun, sizeof begun);
      snprintf(second, sizeof second, "%.2000s%.500s/udckpt-%d", point, strcmp(begun, "/") ? begun : "", getpid());
      break;
    }
  fclose(mounts);
  char file[PATH_MAX + 16];
  snprintf(file, sizeof file, "%s/cgroup.procs", second);
  if (*second && (mkdir(second, 0755) || !put(file, "0"))) *second = 0;
}

static void check_second(void) {
  char got[PATH_MAX], expected[PATH_MAX];
  if (!*second) return;
  own("0::", got, sizeof got);
  snprintf(expected, sizeof expected, "%.500s/udckpt-%d", strcmp(begun, "/") ? begun : "", feature_pid);
  CHECK(!strcmp(got, expected), "version 2: in %s instead of %s", got, expected);
}

/* In a child with mounts of its own, so that nothing of this stays but the groups. */
static bool inside(bool (*what)(const char *), const char *argument) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (!pid) {
    char options[128];
    snprintf(options, sizeof options, "none,name=%s", hierarchy);
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) _exit(1);
    if (mount("none", mounted, "cgroup", 0, options)) _exit(1);
    _exit(!what(argument));
  }
  int status;
  MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  return !WEXITSTATUS(status);
}

static bool make_groups(const char *none) {
  (void)none;
  MUST(!mkdir(group("a", ""), 0750) && put(group("a", "cgroup.clone_children"), "1"));
  MUST(!mkdir(group("a/b", ""), 0755) && put(group("a/b", "cgroup.clone_children"), "0"));
  MUST(!mkdir(group("c", ""), 0755));
  MUST(!mkdir(group("a/b/empty", ""), 0755) && !mkdir(group("a/b/empty/deeper", ""), 0755));
  MUST(!chown(group("a", ""), 12, 34) && !chown(group("a", "notify_on_release"), 56, 0));
  MUST(!chmod(group("a", "notify_on_release"), 0606));
  return true;
}

static bool remove_groups(const char *none) {
  (void)none;
  MUST(!rmdir(group("a/b/empty/deeper", "")) && !rmdir(group("a/b/empty", "")));
  MUST(!rmdir(group("a/b", "")) && !rmdir(group("a", "")) && !rmdir(group("c", "")));
  return true;
}

static bool nothing(const char *argument) {
  return *argument == 0;
}

/* The hierarchy goes with the last mount of it when no group is in it, which the kernel forgets some time later. */
static void remove_hierarchy(void) {
  char text[8192] = "";
  for (int round = 0; round < 500; round++) {
    get("/proc/self/cgroup", text, sizeof text);
    if (!strstr(text, name)) return;
    if (round % 50 == 10) MUST(inside(nothing, ""));
    pause_ms(10);
  }
}

/* "GROUP FILE NUMBER" */
static bool move(const char *order) {
  char path[64], file[64], number[64];
  MUST(sscanf(order, "%63s %63s %63s", path, file, number) == 3);
  return put(group(path, file), number);
}

static void enter(const char *path, const char *file) {
  char order[256];
  snprintf(order, sizeof order, "%s %s %ld", path, file, (long)syscall(SYS_gettid));
  MUST(inside(move, order));
}

static void *thread(void *path) {
  enter(path, "tasks");
  char expected[64];
  snprintf(expected, sizeof expected, "/%s", strcmp(path, ".") ? (char *)path : "");
  while (!feature_over) {
    is_in(expected);
    pause_ms(5);
  }
  return NULL;
}

static pid_t child(const char *path, int *ready) {
  pid_t pid = fork();
  MUST(pid >= 0);
  if (pid) return pid;
  feature_child();
  char expected[64];
  snprintf(expected, sizeof expected, "/%s", path);
  enter(path, "cgroup.procs");
  MUST(write(ready[1], "x", 1) == 1);
  while (!feature_finishing()) {
    is_in(expected);
    pause_ms(5);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  snprintf(hierarchy, sizeof hierarchy, "udckpt-%d-%lld", getpid(), (long long)now_ns() % 1000000);
  snprintf(name, sizeof name, "name=%s:", hierarchy);
  snprintf(mounted, sizeof mounted, "%s", scratch("groups"));
  MUST(!mkdir(mounted, 0755));
  if (!inside(make_groups, "")) { /* only root has groups */
    feature_ready();
    while (!feature_finishing()) pause_ms(5);
    return feature_pass();
  }
  int ready[2];
  MUST(!pipe(ready));
  pid_t deep = child("a/b", ready), beside = child("c", ready);
  enter("a", "cgroup.procs");
  begin_second();
  pthread_t threads[2];
  OK(pthread_create(&threads[0], NULL, thread, "a/b"));
  OK(pthread_create(&threads[1], NULL, thread, ".")); /* where it was started */
  char two[2];
  for (int got = 0; got < 2; got++) MUST(read(ready[0], two, 1) == 1);
  feature_ready();
  while (!feature_finishing()) {
    is_in("/a");
    check_second();
    pause_ms(5);
  }
  OK(pthread_join(threads[0], NULL));
  OK(pthread_join(threads[1], NULL));
  int status;
  MUST(waitpid(deep, &status, 0) == deep && !status && waitpid(beside, &status, 0) == beside && !status);
  MUST(inside(check_files, ""));
  enter(".", "cgroup.procs");
  char up[PATH_MAX + 32];
  snprintf(up, sizeof up, "%s/../cgroup.procs", second);
  if (*second) MUST(put(up, "0") && !rmdir(second));
  MUST(inside(remove_groups, ""));
  remove_hierarchy();
  return feature_pass();
}
