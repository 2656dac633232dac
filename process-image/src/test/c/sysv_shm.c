/* System V shared memory: content, the id and the key, shared with a forked child; marked for destruction as MPIs do.
 */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

enum { BYTES = 3 * 4096, SOMEBODY = 33 };

int main(int argc, char **argv) {
  feature_start(argc, argv);
  int removed = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600),
      kept = shmget(0x75640000 | (getpid() & 0xffff), BYTES, IPC_CREAT | IPC_EXCL | 0600);
  MUST(removed >= 0 && kept >= 0);
  _Atomic uint64_t *counter = shmat(removed, NULL, 0);
  char *area = shmat(kept, NULL, 0);
  MUST(counter != (void *)-1 && area != (void *)-1);
  MUST(!shmctl(removed, IPC_RMID, NULL));
  fill_pattern(area, BYTES, 70);
  struct shmid_ds before;
  MUST(!shmctl(kept, IPC_STAT, &before));
  before.shm_perm.uid = before.shm_perm.gid = SOMEBODY;
  MUST(geteuid() || !shmctl(kept, IPC_SET, &before)); /* root may give it away */
  pid_t child = fork();
  if (!child) { /* makes every even value odd, until the stop value comes */
    feature_child();
    for (;;) {
      uint64_t value = *counter;
      if (value == UINT64_MAX) _exit(0);
      if (value % 2 == 0) *counter = value + 1;
      pause_ms(1);
    }
  }
  feature_ready();
  uint64_t last = 0;
  while (!feature_finishing()) {
    uint64_t value = *counter;
    CHECK(value == last || value == last + 1, "the counter went from %lu to %lu", last, value);
    last = value;
    if (value % 2) *counter = last = value + 1;
    check_pattern(area, BYTES, 70, "System V segment");
    struct shmid_ds status;
    CHECK(!shmctl(kept, IPC_STAT, &status), "the id %d is not valid any more", kept);
    CHECK(status.shm_segsz == BYTES && status.shm_nattch == 2, "the segment has %zu bytes and %lu attachments",
          status.shm_segsz, status.shm_nattch);
    CHECK(geteuid() || (status.shm_perm.uid == SOMEBODY && status.shm_perm.gid == SOMEBODY),
          "the segment belongs to user %d, group %d", status.shm_perm.uid, status.shm_perm.gid);
    CHECK(shmget(0x75640000 | (getpid() & 0xffff), 0, 0) == kept, "the key leads to another segment");
    pause_ms(1);
  }
  *counter = UINT64_MAX;
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0, "the child ended with %#x", status);
  CHECK(last > 2, "the child never answered");
  pid_t late = fork(); /* has it too, if it is born after a restart */
  if (!late) {
    check_pattern(area, BYTES, 70, "System V segment of a later child");
    _exit(0);
  }
  CHECK(waitpid(late, &status, 0) == late && status == 0, "a later child ended with %#x", status);
  struct shmid_ds last_look;
  MUST(!shmctl(kept, IPC_STAT, &last_look));
  CHECK(last_look.shm_nattch == 1, "%lu attachments are left", last_look.shm_nattch);
  MUST(!shmctl(kept, IPC_RMID, NULL));
  return feature_pass();
}
