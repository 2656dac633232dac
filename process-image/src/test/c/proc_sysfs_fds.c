/* Descriptors in /proc/self and /sys, directories, O_PATH and devices: what MPI's topology code keeps open. */
#include "feature.h"
#include <dirent.h>

static int open_at(const char *path, int flags) {
  int fd = open(path, flags);
  CHECK(fd >= 0, "open %s", path);
  return fd;
}

static void check_target(int fd, const char *path) {
  char link[64], target[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t got = readlink(link, target, sizeof target - 1);
  CHECK(got > 0, "readlink %s", link);
  target[got] = 0;
  CHECK(!strcmp(target, path), "descriptor %d was %s, is %s", fd, path, target);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char self[64], maps_path[64], task_path[64];
  snprintf(self, sizeof self, "/proc/%d/stat", getpid());
  snprintf(maps_path, sizeof maps_path, "/proc/%d/maps", getpid());
  snprintf(task_path, sizeof task_path, "/proc/%d/task", getpid());
  int stat = open_at(self, O_RDONLY | O_CLOEXEC), maps = open_at(maps_path, O_RDONLY),
      task = open_at(task_path, O_RDONLY | O_DIRECTORY);
  int meminfo = open_at("/proc/meminfo", O_RDONLY), sysfs = open_at("/sys/devices/system/cpu/online", O_RDONLY);
  int topology = open_at("/sys/devices/system/cpu", O_PATH | O_DIRECTORY | O_CLOEXEC), root = open_at("/", O_PATH);
  int null = open_at("/dev/null", O_WRONLY), zero = open_at("/dev/zero", O_RDONLY),
      random = open_at("/dev/urandom", O_RDONLY | O_NONBLOCK);
  int directory = open_at(feature_scratch, O_RDONLY | O_DIRECTORY), memory = open_at("/proc/self/mem", O_RDWR);
  char online[256] = {0}, buffer[512];
  MUST(read(sysfs, online, 255) > 0);
  MUST(read(meminfo, buffer, 100) == 100);
  feature_ready();
  volatile int marker = 4711;
  bool over = false;
  while (!over) {
    over = feature_finishing();
    pid_t pid = 0;
    CHECK(pread(stat, buffer, sizeof buffer, 0) > 0 && sscanf(buffer, "%d", &pid) == 1 && pid == getpid(),
          "/proc/self/stat gives pid %d", pid);
    CHECK(pread(maps, buffer, 20, 0) == 20, "/proc/self/maps");
    char name[32];
    snprintf(name, sizeof name, "%d", getpid());
    CHECK(!faccessat(task, name, F_OK, 0), "the task directory has no %s", name);
    CHECK(!faccessat(topology, "online", R_OK, 0), "an O_PATH descriptor of a sysfs directory leads nowhere");
    CHECK(!faccessat(root, "proc", F_OK, 0), "an O_PATH descriptor of the root leads nowhere");
    memset(buffer, 0, sizeof buffer);
    CHECK(pread(sysfs, buffer, 255, 0) > 0 && !strcmp(buffer, online), "a sysfs file reads \"%s\"", buffer);
    CHECK(lseek(meminfo, 0, SEEK_CUR) == 100, "the offset in /proc/meminfo is %ld", (long)lseek(meminfo, 0, SEEK_CUR));
    CHECK(write(null, "x", 1) == 1 && read(zero, buffer, 4) == 4 && !buffer[0] && !buffer[3] &&
              read(random, buffer, 4) == 4,
          "a memory device");
    CHECK(!faccessat(directory, "ready", F_OK, 0), "a directory descriptor leads elsewhere");
    int seen = 0;
    CHECK(pread(memory, &seen, sizeof seen, (off_t)(uintptr_t)&marker) == sizeof seen && seen == marker,
          "/proc/self/mem gives %d for %d", seen, marker);
    marker++;
    pause_ms(3);
  }
  check_target(topology, "/sys/devices/system/cpu"), check_target(sysfs, "/sys/devices/system/cpu/online"),
      check_target(meminfo, "/proc/meminfo");
  check_target(null, "/dev/null"), check_target(directory, feature_scratch), check_target(stat, self),
      check_target(root, "/");
  check_flags(topology, O_PATH | O_DIRECTORY, FD_CLOEXEC, "sysfs directory");
  check_flags(stat, O_RDONLY, FD_CLOEXEC, "/proc/self/stat");
  check_flags(random, O_RDONLY | O_NONBLOCK, 0, "/dev/urandom");
  return feature_pass();
}
