/* System V objects of a process that has executed another program since it made them, and of a child of its that has,
 * too: they are found by their numbers and keys. */
#include "feature.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>

#define ROLE "FEATURE_SYSV_ROLE"
enum { VALUE = 41, TYPE = 6 };

static key_t key(pid_t maker) {
  return 0x75660000 | (maker & 0xffff);
}

static void execute(const char *role, char **argv) {
  MUST(!setenv(ROLE, role, 1));
  execv("/proc/self/exe", argv);
  FAIL("execv");
}

static void child(void) {
  int set = semget(key(getppid()), 0, 0);
  struct sembuf wait = {0, -1, 0};
  CHECK(set >= 0, "no set has the key of process %d", getppid());
  CHECK(!semop(set, &wait, 1), "semop in a child that has executed a program");
  _exit(3);
}

static int parent(char **argv) {
  pid_t waiting = fork();
  if (!waiting) execute("child", argv);
  int set = semget(key(getpid()), 0, 0), queue = msgget(key(getpid()), 0);
  MUST(set >= 0 && queue >= 0);
  while (semctl(set, 0, GETNCNT) != 1) pause_ms(2);
  feature_ready();
  while (!feature_finishing()) {
    CHECK(semctl(set, 1, GETVAL) == VALUE && semctl(set, 1, GETPID) == getpid(), "value %d, set by process %d",
          semctl(set, 1, GETVAL), semctl(set, 1, GETPID));
    pause_ms(3);
  }
  struct {
    long type;
    char text[8];
  } message;
  CHECK(msgrcv(queue, &message, sizeof message.text, -TYPE, IPC_NOWAIT) == 5 && !strcmp(message.text, "kept"),
        "the message");
  struct sembuf release = {0, 1, 0};
  MUST(!semop(set, &release, 1));
  int status;
  CHECK(waitpid(waiting, &status, 0) == waiting && WEXITSTATUS(status) == 3, "the child ended with %#x", status);
  MUST(!semctl(set, 0, IPC_RMID) && !msgctl(queue, IPC_RMID, NULL));
  return feature_pass();
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  const char *role = getenv(ROLE);
  if (role && !strcmp(role, "child")) child();
  if (role) return parent(argv);
  int set = semget(key(getpid()), 2, IPC_CREAT | IPC_EXCL | 0600), queue = msgget(key(getpid()), IPC_CREAT | 0600);
  MUST(set >= 0 && queue >= 0 && !semctl(set, 1, SETVAL, VALUE));
  struct {
    long type;
    char text[8];
  } message = {TYPE, "kept"};
  MUST(!msgsnd(queue, &message, 5, 0));
  execute("parent", argv);
}
