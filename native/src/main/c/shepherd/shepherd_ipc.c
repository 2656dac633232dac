/* The limits of System V and POSIX objects, which a new IPC namespace has as the kernel's defaults and not as the
 * machine (or the container) has set them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "shepherd.h"

/* ipc_namespaces(7) */
static const char *const names[] = {"kernel/shmall",
                                    "kernel/shmmax",
                                    "kernel/shmmni",
                                    "kernel/shm_rmid_forced",
                                    "kernel/msgmax",
                                    "kernel/msgmnb",
                                    "kernel/msgmni",
                                    "kernel/sem",
                                    "fs/mqueue/queues_max",
                                    "fs/mqueue/msg_max",
                                    "fs/mqueue/msgsize_max",
                                    "fs/mqueue/msg_default",
                                    "fs/mqueue/msgsize_default"};
#define QUEUES "/dev/mqueue"
#define QUEUES_MAGIC 0x19800202
#define NAMES (sizeof names / sizeof *names)
static char before[NAMES][128];

/* The kernel may have been built without one of them: a missing limit reads as empty. */
static int limit_open(const char *name, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/sys/%s", name);
  return open(path, flags | O_CLOEXEC);
}

static void limit_read(const char *name, char *value, size_t size) {
  int fd = limit_open(name, O_RDONLY);
  ssize_t n = fd < 0 ? -1 : read(fd, value, size - 1);
  if (fd >= 0) close(fd);
  value[n < 0 ? 0 : n] = 0;
}

/* Before the new namespace is entered. */
void ipc_remember(void) {
  for (size_t i = 0; i < NAMES; i++) limit_read(names[i], before[i], sizeof before[i]);
}

/* Where the machine shows its message queues, the job sees its own (mq_overview(7)). */
static void show_queues(void) {
  struct statfs is;
  if (statfs(QUEUES, &is) < 0 || is.f_type != QUEUES_MAGIC) return;
  if (mount("mqueue", QUEUES, "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
    fprintf(stderr,
            "udckpt: warning: " QUEUES " shows the machine's message queues and not the restored job's: mount: %s\n",
            strerror(errno));
}

/* In the new namespace. Returns 0; -1 with the reason. Only root can set the limits there: without root the kernel's
 * defaults stay (docs/internals/restore.md), with a warning for each that differs. */
int ipc_set(char *error, size_t size) {
  char now[sizeof before[0]];
  show_queues();
  for (size_t i = 0; i < NAMES; i++) {
    limit_read(names[i], now, sizeof now);
    if (!before[i][0] || !strcmp(now, before[i])) continue;
    int fd = limit_open(names[i], O_WRONLY);
    if (fd < 0 && (errno == EACCES || errno == EROFS)) {
      fprintf(stderr,
              "udckpt: warning: %s cannot be set in the IPC namespace of the restored job (%s): it has the kernel's "
              "%.*s there, not this machine's %.*s\n",
              names[i], strerror(errno), (int)strcspn(now, "\n"), now, (int)strcspn(before[i], "\n"), before[i]);
      continue;
    }
    if (fd < 0 || write(fd, before[i], strlen(before[i])) < 0) {
      snprintf(error, size, "cannot set %s to this machine's value in the IPC namespace of a restored job: %s",
               names[i], strerror(errno));
      if (fd >= 0) close(fd);
      return -1;
    }
    close(fd);
  }
  return 0;
}
