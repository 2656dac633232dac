/* A tree of processes: pipes between them, getppid, a grandchild, and wait statuses that come at the right moment. */
#include "feature.h"
#include <sys/wait.h>

typedef struct {
  pid_t pid;
  int to[2], from[2];
} Child;

static void serve(Child *links, pid_t parent, int step) {
  feature_child();
  close(links->to[1]), close(links->from[0]);
  int value;
  ssize_t got;
  while ((got = read(links->to[0], &value, 4)) == 4) {
    CHECK(getppid() == parent, "the parent of %d was %d, is %d", getpid(), parent, getppid());
    CHECK(getpid() == feature_pid, "pid %d became %d", feature_pid, getpid());
    value += step;
    CHECK(write(links->from[1], &value, 4) == 4, "answer");
  }
  CHECK(got == 0, "read returned %zd", got);
}

static Child start_child(int step, int code) {
  Child child;
  MUST(!pipe2(child.to, O_CLOEXEC) && !pipe2(child.from, O_CLOEXEC));
  pid_t parent = getpid();
  child.pid = fork();
  MUST(child.pid >= 0);
  if (!child.pid) {
    serve(&child, parent, step);
    _exit(code);
  }
  close(child.to[0]), close(child.from[1]);
  return child;
}

static void ask(const Child *child, int value, int step) {
  int answer;
  CHECK(write(child->to[1], &value, 4) == 4 && read(child->from[0], &answer, 4) == 4 && answer == value + step,
        "child %d answered %d to %d", child->pid, answer, value);
}

static void *waiter(void *argument) { /* blocked in waitpid for the whole life of the first child */
  Child *child = argument;
  int status;
  CHECK(waitpid(child->pid, &status, 0) == child->pid, "waitpid was interrupted");
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7 && feature_over, "the first child ended with %#x", status);
  return NULL;
}

/* The middle of the tree: has a child of its own and passes questions on. */
static void middle(Child *links) {
  feature_child();
  close(links->to[1]), close(links->from[0]); /* before the fork, or the leaf would keep the pipe open */
  Child leaf = start_child(30, 9);
  int value;
  while (read(links->to[0], &value, 4) == 4) {
    ask(&leaf, value, 30);
    value += 30;
    CHECK(write(links->from[1], &value, 4) == 4, "answer");
  }
  close(leaf.to[1]);
  int status;
  CHECK(waitpid(leaf.pid, &status, 0) == leaf.pid && WEXITSTATUS(status) == 9, "the grandchild ended with %#x", status);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  Child first = start_child(10, 7), second;
  MUST(!pipe2(second.to, O_CLOEXEC) && !pipe2(second.from, O_CLOEXEC));
  second.pid = fork();
  if (!second.pid) {
    close(first.to[1]), close(first.from[0]);
    middle(&second);
    _exit(8);
  }
  close(second.to[0]), close(second.from[1]);
  pthread_t thread = start_thread(waiter, &first);
  feature_ready();
  for (int n = 0; !feature_finishing(); n++) {
    ask(&first, n, 10), ask(&second, n, 30);
    pid_t brief = n % 32 ? 0 : fork(); /* a new child can be made and waited for at any time */
    if (n % 32 == 0 && !brief) _exit(3);
    int status;
    if (brief)
      CHECK(waitpid(brief, &status, 0) == brief && WEXITSTATUS(status) == 3, "a brief child ended with %#x", status);
    pause_ms(2);
  }
  close(first.to[1]), close(second.to[1]);
  join_thread(thread);
  int status;
  CHECK(waitpid(second.pid, &status, 0) == second.pid && WIFEXITED(status) && WEXITSTATUS(status) == 8,
        "the second child ended with %#x", status);
  CHECK(waitpid(-1, &status, 0) == -1 && errno == ECHILD, "there is a child that nobody made");
  return feature_pass();
}
