/* System V shared memory: content, the id and the key, shared with a forked child; marked for destruction as MPIs do.
 */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

enum { PAGE = 4096, BYTES = 3 * PAGE, SOMEBODY = 33, PARTS = 5 };

/* A segment with a page of each protection, and one that is not mapped any more: what came of one shmat(2). */
struct parts {
  int id;
  char *at, *whole;
};

static struct parts make_parts(void) {
  struct parts made = {.id = shmget(IPC_PRIVATE, PARTS * PAGE, IPC_CREAT | 0600)};
  MUST(made.id >= 0);
  made.at = shmat(made.id, NULL, 0);
  made.whole = shmat(made.id, NULL, SHM_RDONLY);
  MUST(made.at != (void *)-1 && made.whole != (void *)-1);
  MUST(!shmctl(made.id, IPC_RMID, NULL)); /* with the last attachment, also where this process is killed */
  for (int i = 0; i < PARTS; i++) fill_pattern(made.at + i * PAGE, PAGE, 71 + i);
  MUST(!mprotect(made.at, PAGE, PROT_READ) && !mprotect(made.at + 2 * PAGE, PAGE, PROT_NONE));
  MUST(!munmap(made.at + 3 * PAGE, PAGE));
  return made;
}

static void check_parts(const struct parts *parts) {
  static int round;
  for (int i = 0; i < PARTS - 1; i++)
    check_pattern(parts->whole + i * PAGE, PAGE, 71 + i, "a segment that is mapped in parts, by its other attachment");
  for (int i = 0; i < 2; i++) check_pattern(parts->at + i * PAGE, PAGE, 71 + i, "the readable part of a segment");
  int null = open("/dev/zero", O_RDONLY), last = round++;
  MUST(null >= 0);
  CHECK(read(null, parts->at, 1) < 0 && read(null, parts->at + 2 * PAGE, 1) < 0 &&
            read(null, parts->at + 3 * PAGE, 1) < 0,
        "a part that cannot be written to can");
  close(null);
  memcpy(parts->at + 4 * PAGE, &last, sizeof last);
  CHECK(!memcmp(parts->whole + 4 * PAGE, &last, sizeof last),
        "what is written to a part is not in the other attachment");
}

static void end_parts(const struct parts *parts) {
  struct shmid_ds status;
  MUST(!mprotect(parts->at + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE));
  CHECK(mprotect(parts->whole, PAGE, PROT_WRITE) < 0 && errno == EACCES, "a read-only attachment can be written to");
  check_pattern(parts->at + 2 * PAGE, PAGE, 73, "the part that could not be read");
  MUST(!shmdt(parts->at) && !shmctl(parts->id, IPC_STAT, &status));
  CHECK(status.shm_nattch == 1, "shmdt(2) has left %lu attachments", status.shm_nattch);
  MUST(!shmdt(parts->whole));
  CHECK(shmctl(parts->id, IPC_STAT, &status) < 0 && (errno == EINVAL || errno == EIDRM), "the segment is still there");
}

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
  struct parts parts = make_parts();
  feature_ready();
  uint64_t last = 0;
  while (!feature_finishing()) {
    uint64_t value = *counter;
    CHECK(value == last || value == last + 1, "the counter went from %lu to %lu", last, value);
    last = value;
    if (value % 2) *counter = last = value + 1;
    check_pattern(area, BYTES, 70, "System V segment");
    check_parts(&parts);
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
  end_parts(&parts);
  return feature_pass();
}
