/* User and mount namespaces of a feature program's own. */
#ifndef OWN_USER_H
#define OWN_USER_H
#include "feature.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>

static inline void write_file(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CREAT, 0640);
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && !close(fd), "write %s", path);
}

/* A user namespace, in which this user and group are called user and group, with namespaces of these flags. */
static inline void own_user(int flags, unsigned user, unsigned group) {
  char text[64];
  uid_t uid = geteuid();
  gid_t gid = getegid();
  /* whose files in /proc are root's otherwise, where the process has just become another user */
  MUST(!unshare(CLONE_NEWUSER | flags) && !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
  write_file("/proc/self/setgroups", "deny");
  snprintf(text, sizeof text, "%u %u 1", user, uid);
  write_file("/proc/self/uid_map", text);
  snprintf(text, sizeof text, "%u %u 1", group, gid);
  write_file("/proc/self/gid_map", text);
}

/* A mount namespace, for an ordinary user in a user namespace, from which nothing comes back. */
static inline void own_mounts(void) {
  if (geteuid()) own_user(CLONE_NEWNS, 0, 0);
  else MUST(!unshare(CLONE_NEWNS));
  MUST(!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
}

#endif
