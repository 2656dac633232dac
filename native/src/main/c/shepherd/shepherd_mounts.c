/* The mounts of a restored job: a copy of the machine's, which hears of what the machine mounts and unmounts, but not
 * the other way; those that share mounts with each other on the machine do so in the copy (mount_namespaces(7)). */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shepherd.h"

/* linux/mount.h, which does not go with sys/mount.h before glibc 2.37 */
#define BOTH_EMPTY_PATHS 0x44 /* MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH */
#define JOIN_GROUP 0x100      /* MOVE_MOUNT_SET_GROUP, Linux 5.15 */
#define CHANGE_MOUNT 442      /* mount_setattr(2), Linux 5.12 */
#define ASK_NO_SERVER 0x4000  /* AT_STATX_DONT_SYNC: one that is gone would be waited for */
#define MOST 4096

struct change {
  uint64_t set, clear, propagation, user_namespace;
};

struct mounted {
  int id, group, master, fd;
  size_t root; /* length of its path in the file system */
  bool done;
};

static void change(const struct mounted *mounted, uint64_t propagation) {
  struct change to = {.propagation = propagation};
  syscall(CHANGE_MOUNT, mounted->fd, "", AT_EMPTY_PATH, &to, sizeof to);
}

static bool join(const struct mounted *from, const struct mounted *to) {
  change(to, MS_PRIVATE);
  return syscall(SYS_move_mount, from->fd, "", to->fd, "", BOTH_EMPTY_PATHS | JOIN_GROUP) == 0;
}

/* The widest of a group begins it: it can be had only by what lies in it. */
static struct mounted *first_of(struct mounted *all, size_t count, int group) {
  struct mounted *first = NULL;
  for (size_t i = 0; i < count && group; i++)
    if (all[i].group == group && (!first || all[i].root < first->root)) first = &all[i];
  return first;
}

/* After its master, if that is one of these: also what has no other member may get some. */
static void share(struct mounted *all, size_t count, struct mounted *one) {
  if (one->done) return;
  one->done = true;
  struct mounted *first = first_of(all, count, one->group), *master = first_of(all, count, one->master);
  if (first && first != one) {
    share(all, count, first);
    if (!join(first, one)) change(one, MS_SHARED);
    return;
  }
  if (master) {
    share(all, count, master);
    if (join(master, one)) change(one, MS_SLAVE);
  }
  if (first) change(one, MS_SHARED);
}

/* Whether the path leads to the mount, and not to one over it; then it is open. */
static bool is_reached(struct mounted *mounted, const char *point) {
  struct statx is;
  mounted->fd = open(point, O_PATH | O_CLOEXEC | O_NOFOLLOW);
  if (mounted->fd < 0) return false;
  if (syscall(SYS_statx, mounted->fd, "", AT_EMPTY_PATH | ASK_NO_SERVER, 0x1000 /* STATX_MNT_ID */, &is) == 0 &&
      is.stx_mask & 0x1000 && (int)((uint64_t *)&is)[0x90 / 8] == mounted->id)
    return true;
  close(mounted->fd);
  return false;
}

static int number(const char *line, const char *key) {
  const char *found = strstr(line, key), *end = strstr(line, " - ");
  return found && found < end ? atoi(found + strlen(key)) : 0;
}

/* Mounts that share with others or receive from them, open. */
static size_t read_mounts(struct mounted *all, FILE *file) {
  char *line = NULL, *root = NULL, *point = NULL;
  size_t room = 0, count = 0;
  while (count < MOST && getline(&line, &room, file) > 0) {
    struct mounted one = {.group = number(line, " shared:"), .master = number(line, " master:")};
    free(root), free(point);
    root = point = NULL;
    if ((one.group || one.master) && sscanf(line, "%d %*s %*s %ms %ms", &one.id, &root, &point) == 3) {
      mount_unescape(point);
      one.root = strcmp(root, "/") ? strlen(root) : 0;
      if (is_reached(&one, point)) all[count++] = one;
    }
  }
  free(line), free(root), free(point);
  return count;
}

/* An older kernel does not know the flag. */
static bool can_join(void) {
  return syscall(SYS_move_mount, -1, "", -1, "", BOTH_EMPTY_PATHS | JOIN_GROUP) < 0 && errno == EBADF;
}

/* Returns 0; -1 with errno. An ordinary user's copy shares nothing by itself, and he cannot mount in it. */
int mounts_copy(void) {
  struct mounted *all = geteuid() || !can_join() ? NULL : calloc(MOST, sizeof *all);
  FILE *file = all ? fopen("/proc/self/mountinfo", "re") : NULL;
  size_t count = file ? read_mounts(all, file) : 0;
  if (file) fclose(file);
  int result = mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL), error = errno;
  for (size_t i = 0; i < count && result == 0; i++) share(all, count, &all[i]);
  for (size_t i = 0; i < count; i++) close(all[i].fd);
  free(all);
  errno = error;
  return result;
}
