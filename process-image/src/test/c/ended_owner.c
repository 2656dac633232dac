/* Files in /proc of what has ended and was waited for: a child, a thread; texts that nobody has read, a directory, what
 * can be written; what holds what it tells of, read in part; in two processes. */
#include "feature.h"
#include <dirent.h>
#include <sys/wait.h>

enum { STATUS, TABLE, FOLDER, WRITABLE, TASK, FILES };

static int file[FILES];

static int open_of(pid_t pid, const char *name, int flags) {
  char path[96];
  snprintf(path, sizeof path, "/proc/%d%s", pid, name);
  int fd = open(path, flags | O_CLOEXEC);
  CHECK(fd >= 0, "open %s: %s", path, strerror(errno));
  return fd;
}

static void *wait_for_word(void *pipe_end) {
  char byte;
  CHECK(read(*(int *)pipe_end, &byte, 1) == 1, "no word for the thread");
  return NULL;
}

/* A thread's own file, when it has ended. */
static int of_thread(void) {
  int word[2];
  char name[64];
  pthread_t thread;
  MUST(!pipe(word) && !pthread_create(&thread, NULL, wait_for_word, word));
  pid_t tid = 0;
  DIR *tasks = opendir("/proc/self/task");
  MUST(tasks);
  for (struct dirent *one; (one = readdir(tasks));)
    if (atoi(one->d_name) > tid) tid = atoi(one->d_name);
  closedir(tasks);
  snprintf(name, sizeof name, "/task/%d/stat", tid);
  int fd = open_of(getpid(), name, O_RDONLY);
  MUST(write(word[1], "", 1) == 1 && !pthread_join(thread, NULL));
  MUST(!close(word[0]) && !close(word[1]));
  return fd;
}

static ssize_t error_of(ssize_t result) {
  return result < 0 ? -errno : result;
}

/* Nothing of it moves a position: all fails. */
static void look(const char *when) {
  char bytes[64];
  struct stat status;
  for (int i = 0; i < FILES; i++) CHECK(!fstat(file[i], &status), "%s: fstat of file %d: %s", when, i, strerror(errno));
  CHECK(error_of(pread(file[STATUS], bytes, sizeof bytes, 0)) == -ESRCH, "%s: what has ended is told of", when);
  CHECK(error_of(pread(file[TASK], bytes, sizeof bytes, 0)) == -ESRCH, "%s: a thread that has ended is told of", when);
  CHECK(pread(file[TABLE], bytes, sizeof bytes, 0) == sizeof bytes, "%s: mountinfo: %s", when, strerror(errno));
  CHECK(error_of(syscall(SYS_getdents64, file[FOLDER], bytes, sizeof bytes)) == -ENOENT, "%s: a list of nothing", when);
  CHECK(error_of(write(file[WRITABLE], "name", 4)) == -ESRCH, "%s: what has ended got a name: %s", when,
        strerror(errno));
  CHECK(S_ISDIR((fstat(file[FOLDER], &status), status.st_mode)), "%s: no directory any more", when);
  CHECK(!lseek(file[STATUS], 0, SEEK_CUR) && lseek(file[TABLE], 0, SEEK_CUR) == 10, "%s: positions %ld and %ld", when,
        lseek(file[STATUS], 0, SEEK_CUR), lseek(file[TABLE], 0, SEEK_CUR));
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  char text[100];
  pid_t child = fork();
  if (!child) {
    pause();
    _exit(1);
  }
  file[STATUS] = open_of(child, "/status", O_RDONLY);
  file[TABLE] = open_of(child, "/mountinfo", O_RDONLY);
  file[FOLDER] = open_of(child, "", O_RDONLY | O_DIRECTORY);
  file[WRITABLE] = open_of(child, "/comm", O_RDWR);
  MUST(read(file[TABLE], text, 10) == 10);
  MUST(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child);
  file[TASK] = of_thread();
  pid_t other = fork();
  if (!other) {
    feature_child();
    while (!feature_finishing()) {
      look("in the child");
      pause_ms(10);
    }
    _exit(0);
  }
  feature_ready();
  while (!feature_finishing()) {
    look("at work");
    pause_ms(5);
  }
  look("at the end");
  int ended = 0;
  MUST(waitpid(other, &ended, 0) == other);
  CHECK(WIFEXITED(ended) && !WEXITSTATUS(ended), "the child ended with %x", ended);
  CHECK(read(file[TABLE], text, sizeof text) > 20, "the table of mounts does not go on: %s", strerror(errno));
  return feature_pass();
}
