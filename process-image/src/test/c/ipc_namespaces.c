/* IPC namespaces: the same keys, names and, often, the same numbers in three of them; with limits of their own, a
 * thread and a child, undo of semaphores, message queues that nobody has open, and their file system mounted. An
 * ordinary user has them in user namespaces of his own. One with a control group namespace, too.
 */
#include "own_user.h"
#include <mqueue.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/wait.h>

enum { BYTES = 3 * 4096, LONGEST = 40, HELD = 3, VALUE = 9 };
static key_t key;
static uint64_t seed; /* of the namespace */
static int segment, set, queue;
static mqd_t held = -1; /* where the job was started: in the others nobody has the queue open */
static char *memory;
static char name[64];

static long limit(const char *path) {
  char text[64] = "";
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0 && !close(fd), "read %s", path);
  return atol(text);
}

static bool may_set_limits(void) {
  int fd = open("/proc/sys/kernel/msgmnb", O_WRONLY);
  return fd >= 0 && !close(fd);
}

static void send_both(long type) {
  struct {
    long type;
    char text[LONGEST];
  } message = {.type = type};
  fill_pattern(message.text, LONGEST, seed + (uint64_t)type);
  CHECK(!msgsnd(queue, &message, LONGEST, 0), "msgsnd");
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = LONGEST};
  mqd_t posix = mq_open(name, O_CREAT | O_WRONLY, 0600, &attributes);
  CHECK(posix >= 0 && !mq_send(posix, message.text, LONGEST, (unsigned)type) && !mq_close(posix), "mq_send");
}

static void receive_both(long type) {
  struct {
    long type;
    char text[LONGEST];
  } message;
  CHECK(msgrcv(queue, &message, LONGEST, type, IPC_NOWAIT) == LONGEST, "msgrcv %ld", type);
  check_pattern(message.text, LONGEST, seed + (uint64_t)type, "a message");
  unsigned priority;
  mqd_t posix = mq_open(name, O_RDONLY | O_NONBLOCK);
  CHECK(posix >= 0 && mq_receive(posix, message.text, LONGEST, &priority) == LONGEST && !mq_close(posix),
        "mq_receive from %s", name);
  CHECK(priority == (unsigned)type, "a message of priority %u, not %ld", priority, type);
  check_pattern(message.text, LONGEST, seed + (uint64_t)type, "a message of a POSIX queue");
}

/* The process has taken HELD, which the kernel gives back when it ends. */
static void make_objects(uint64_t number, bool again) {
  seed = number;
  if (again) {
    CHECK(semget(key, 1, 0) < 0 && shmget(key, BYTES, 0) < 0 && msgget(key, 0) < 0 && mq_open(name, O_RDONLY) < 0,
          "a new namespace has what was there before");
  }
  segment = shmget(key, BYTES, IPC_CREAT | IPC_EXCL | 0600);
  set = semget(key, 1, IPC_CREAT | IPC_EXCL | 0600);
  queue = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
  MUST(segment >= 0 && set >= 0 && queue >= 0 && !semctl(set, 0, SETVAL, VALUE));
  memory = shmat(segment, NULL, 0);
  MUST(memory != (void *)-1);
  fill_pattern(memory, BYTES, seed);
  struct sembuf take = {0, -HELD, SEM_UNDO};
  MUST(!semop(set, &take, 1));
  send_both(1);
  if (!again) held = mq_open(name, O_RDONLY);
}

static void check_objects(void) {
  check_pattern(memory, BYTES, seed, "the segment");
  struct shmid_ds status;
  CHECK(!shmctl(segment, IPC_STAT, &status) && status.shm_segsz == BYTES, "the segment");
  CHECK(shmget(key, BYTES, 0) == segment && semget(key, 1, 0) == set && msgget(key, 0) == queue, "other numbers");
  int value = semctl(set, 0, GETVAL);
  CHECK(value == VALUE - HELD, "the semaphore is %d", value);
  send_both(2);
  receive_both(2);
  receive_both(1);
  send_both(1);
}

static void remove_objects(void) {
  receive_both(1);
  MUST(!shmdt(memory) && !shmctl(segment, IPC_RMID, NULL) && !semctl(set, 0, IPC_RMID) &&
       !msgctl(queue, IPC_RMID, NULL) && !mq_unlink(name));
}

static void enter(int flags) {
  if (unshare(CLONE_NEWIPC | flags)) own_user(CLONE_NEWIPC | flags, geteuid(), getegid());
}

/* In a namespace of control groups whose root is the job's group. */
static void check_groups(void) {
  char line[256];
  FILE *groups = fopen("/proc/self/cgroup", "r");
  while (groups && fgets(line, sizeof line, groups))
    CHECK(!strcmp(strrchr(line, ':'), ":/\n"), "it is in control group %s", line);
  if (groups) fclose(groups);
}

static void *thread(void *unused) {
  Identity self = identity();
  while (!feature_over) {
    check_identity(&self);
    check_pattern(memory, BYTES, seed, "the segment in a thread");
    CHECK(semget(key, 1, 0) == set, "a thread is in another namespace");
    pause_ms(4);
  }
  return unused;
}

/* Its mounts are its own, too: message queues among them. */
static void first(void) {
  feature_child();
  MUST(!shmdt(memory) && !mq_close(held));
  struct sembuf take = {0, -1, SEM_UNDO};
  MUST(!semop(set, &take, 1)); /* which the kernel gives back when the namespace is left */
  enter(CLONE_NEWNS | CLONE_NEWCGROUP);
  bool limits = may_set_limits();
  if (limits) write_file("/proc/sys/kernel/msgmnb", "23456"), write_file("/proc/sys/kernel/sem", "300 4000 50 70");
  long bytes = limit("/proc/sys/kernel/msgmnb"), most = limit("/proc/sys/fs/mqueue/msg_max");
  make_objects(100, true);
  MUST(!mount("queues", scratch("q"), "mqueue", 0, NULL));
  pid_t child = fork();
  if (!child) feature_child();
  pthread_t other = start_thread(thread, NULL);
  if (child) write_file(scratch("first"), "ready");
  while (!feature_finishing()) {
    if (child) check_objects();
    check_groups();
    CHECK(semget(key, 1, 0) == set && !access(scratch("q"), F_OK), "not in the namespace");
    char file[PATH_MAX];
    snprintf(file, sizeof file, "%s%s", scratch("q"), name);
    CHECK(!access(file, F_OK), "%s is not there", file);
    CHECK(limit("/proc/sys/kernel/msgmnb") == bytes && limit("/proc/sys/fs/mqueue/msg_max") == most, "limits");
    CHECK(!limits || (bytes == 23456 && limit("/proc/sys/kernel/sem") == 300), "the limits are a new namespace's");
    pause_ms(2);
  }
  join_thread(other);
  if (!child) _exit(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child in the namespace ended with %#x", status);
  MUST(!umount(scratch("q")));
  remove_objects();
  _exit(0);
}

static void second(void) {
  feature_child();
  MUST(!shmdt(memory) && !mq_close(held));
  enter(0);
  make_objects(200, true);
  write_file(scratch("second"), "ready");
  while (!feature_finishing()) {
    check_objects();
    pause_ms(2);
  }
  remove_objects();
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  key = 0x75650000 | (getpid() & 0xffff);
  snprintf(name, sizeof name, "/udckpt-feature-%d-namespace", feature_pid);
  MUST(!mkdir(scratch("q"), 0755));
  mq_unlink(name);
  make_objects(0, false);
  pid_t children[2];
  children[0] = fork();
  if (!children[0]) first();
  children[1] = fork();
  if (!children[1]) second();
  while (access(scratch("first"), F_OK) || access(scratch("second"), F_OK)) pause_ms(1);
  feature_ready();
  int status;
  while (!feature_finishing()) {
    CHECK(!waitpid(-1, &status, WNOHANG), "a child ended with %#x", status);
    check_objects();
    pause_ms(3);
  }
  for (int i = 0; i < 2; i++) CHECK(waitpid(children[i], &status, 0) == children[i] && !status, "a child: %#x", status);
  check_objects();
  remove_objects();
  return feature_pass();
}
