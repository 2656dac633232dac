/* System V semaphores: ids, keys, values, who changed them last; a child that shares them, and waits for one. */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/wait.h>

enum { PING, PONG, END, SEMAPHORES, MANY = 32000, SOMEBODY = 33 };
static int own, keyed, many;

static void change(int set, int number, int by) {
  struct sembuf operation = {(unsigned short)number, (short)by, 0};
  CHECK(!semop(set, &operation, 1), "semop %+d on semaphore %d of set %d", by, number, set);
}

/* Answers each ping, and waits for the end in a thread of its own. */
static void *wait_for_end(void *unused) {
  change(keyed, END, -1);
  _exit(7);
}

static void answer(void) {
  feature_child();
  start_thread(wait_for_end, NULL);
  for (;;) {
    change(keyed, PING, -1);
    change(keyed, PONG, 1);
  }
}

static void check_sets(const struct semid_ds *before, const unsigned short *values) {
  static unsigned short now[MANY];
  struct semid_ds status;
  MUST(!semctl(keyed, 0, IPC_STAT, &status));
  CHECK(status.sem_perm.mode == before->sem_perm.mode && status.sem_perm.uid == before->sem_perm.uid &&
            status.sem_perm.cuid == before->sem_perm.cuid && status.sem_perm.cgid == before->sem_perm.cgid,
        "mode %o, user %d, made by %d:%d", status.sem_perm.mode, status.sem_perm.uid, status.sem_perm.cuid,
        status.sem_perm.cgid);
  CHECK(status.sem_otime != 0, "it was operated on");
  CHECK(semget(0x75640000 | (getpid() & 0xffff), 0, 0) == keyed, "the key leads to another set");
  MUST(!semctl(own, 0, IPC_STAT, &status));
  CHECK(status.sem_otime == 0 && semctl(own, 0, GETPID) == getpid() && semctl(own, 1, GETPID) == 0,
        "nobody has operated on it, and its first semaphore was set");
  MUST(!semctl(many, 0, GETALL, now));
  CHECK(!memcmp(now, values, sizeof now), "values of the large set");
  CHECK(semctl(many, 77, GETPID) == getpid(), "process %d has set it", semctl(many, 77, GETPID));
}

int main(int argc, char **argv) {
  static unsigned short values[MANY];
  feature_start(argc, argv);
  keyed = semget(0x75640000 | (getpid() & 0xffff), SEMAPHORES, IPC_CREAT | IPC_EXCL | 0640);
  own = semget(IPC_PRIVATE, 2, 0600);
  many = semget(0x75650000 | (getpid() & 0xffff), MANY, IPC_CREAT | 0600);
  MUST(keyed >= 0 && own >= 0 && many >= 0);
  for (int i = 0; i < MANY; i++) values[i] = (unsigned short)(i * 7 % 32768);
  MUST(!semctl(many, 0, SETALL, values) && !semctl(own, 0, SETVAL, 3));
  struct semid_ds before;
  MUST(!semctl(keyed, 0, IPC_STAT, &before));
  before.sem_perm.uid = before.sem_perm.gid = SOMEBODY;
  MUST(geteuid() || !semctl(keyed, 0, IPC_SET, &before)); /* root may give it away */
  MUST(!semctl(keyed, 0, IPC_STAT, &before));
  pid_t child = fork();
  if (!child) answer();
  change(keyed, PING, 1);
  change(keyed, PONG, -1);
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    change(keyed, PING, 1);
    change(keyed, PONG, -1);
    int last = semctl(keyed, PONG, GETPID);
    CHECK(last == getpid() || last == child, "process %d was the last to change it", last);
    check_sets(&before, values);
    pause_ms(2);
  }
  CHECK(semctl(keyed, END, GETNCNT) == 1, "%d threads wait", semctl(keyed, END, GETNCNT));
  change(keyed, END, 1);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "the child ended with %#x", status);
  MUST(!semctl(keyed, 0, IPC_RMID) && !semctl(own, 0, IPC_RMID) && !semctl(many, 0, IPC_RMID));
  return feature_pass();
}
