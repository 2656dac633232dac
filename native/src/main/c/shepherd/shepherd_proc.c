/* The /proc of a restored job: of its own pid namespace, with what the machine (or a container) has mounted over parts
 * of /proc. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shepherd.h"

/* linux/mount.h, which does not go with sys/mount.h before glibc 2.37 */
#define CLONE_TREE 1             /* OPEN_TREE_CLONE */
#define FROM_DESCRIPTOR 4        /* MOVE_MOUNT_F_EMPTY_PATH */
#define WITH_MOUNTS_BELOW 0x8000 /* AT_RECURSIVE */
#define NO_AUTOMOUNT 0x800       /* AT_NO_AUTOMOUNT */
#define MOUNTS_MOST 64

struct covered {
  char *path;
  int mounts; /* descriptor of a copy of them */
};

/* proc_pid_mountinfo(5): space, tab, newline and backslash are octal numbers. */
void mount_unescape(char *path) {
  char *to = path;
  for (const char *from = path; *from; to++) {
    if (from[0] == '\\' && from[1] && from[2] && from[3]) {
      *to = (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0');
      from += 4;
    } else {
      *to = *from++;
    }
  }
  *to = 0;
}

static bool below(const char *path, const struct covered *covered, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t length = strlen(covered[i].path);
    if (!strncmp(path, covered[i].path, length) && (!path[length] || path[length] == '/')) return true;
  }
  return false;
}

/* Copies of the mounts below /proc, each with those below it. Returns how many; -1 with the reason. */
static ssize_t copy_mounts(struct covered *covered, char *error, size_t size) {
  FILE *file = fopen("/proc/self/mountinfo", "re");
  char *line = NULL, *point = NULL;
  size_t room = 0, count = 0;
  if (!file) {
    snprintf(error, size, "cannot open /proc/self/mountinfo: %s", strerror(errno));
    return -1;
  }
  while (getline(&line, &room, file) > 0) {
    free(point);
    if (sscanf(line, "%*s %*s %*s %*s %ms", &point) != 1) {
      point = NULL;
      continue;
    }
    mount_unescape(point);
    if (strncmp(point, "/proc/", 6) || below(point, covered, count)) continue;
    if (count == MOUNTS_MOST) {
      snprintf(error, size, "more than %d mounts below /proc", MOUNTS_MOST);
      break;
    }
    int mounts = syscall(SYS_open_tree, AT_FDCWD, point, CLONE_TREE | O_CLOEXEC | WITH_MOUNTS_BELOW | NO_AUTOMOUNT);
    if (mounts < 0) {
      snprintf(error, size, "cannot copy the mount at %s: %s", point, strerror(errno));
      break;
    }
    covered[count++] = (struct covered){.path = point, .mounts = mounts};
    point = NULL;
  }
  bool done = feof(file);
  free(line);
  free(point);
  fclose(file);
  return done ? (ssize_t)count : -1;
}

/* Returns 0; -1 with the reason. What lies over a process's own directory goes with the process. */
static int put_mounts(const struct covered *covered, size_t count, char *error, size_t size) {
  for (size_t i = 0; i < count; i++) {
    if (syscall(SYS_move_mount, covered[i].mounts, "", AT_FDCWD, covered[i].path, FROM_DESCRIPTOR) < 0 &&
        errno != ENOENT) {
      snprintf(error, size, "cannot repeat the mount at %s: %s", covered[i].path, strerror(errno));
      return -1;
    }
    close(covered[i].mounts);
  }
  return 0;
}

/*
 * What the machine unmounts (and mounts) goes for the job, too, as for any process: a copy of the mounts that heard
 * nothing of it would keep a disk busy. The other way nothing goes. In a chroot whose root is no mount point (EINVAL,
 * mount(2)) it has to do that the mount at /proc is so. */
int proc_mount(char *error, size_t size) {
  struct covered covered[MOUNTS_MOST];
  if (mounts_copy() < 0 && (errno != EINVAL || mount("none", "/proc", NULL, MS_SLAVE, NULL) < 0)) {
    snprintf(error, size, "cannot make the mounts of a restored job private: %s", strerror(errno));
    return -1;
  }
  ssize_t count = copy_mounts(covered, error, size);
  if (count < 0) return -1;
  if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
    snprintf(error, size,
             "cannot mount /proc in the namespace of a restored job: %s; where /proc is masked (a container), restart "
             "outside of it or unmask it",
             strerror(errno));
    return -1;
  }
  return put_mounts(covered, count, error, size);
}
