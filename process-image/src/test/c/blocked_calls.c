/* Threads that sit in blocking calls over the checkpoint: each call ends for its own reason, once. */
#include "feature.h"
#include <semaphore.h>
#include <sys/socket.h>

static int read_pipe[2], write_pipe[2], pair[2];
static sem_t semaphore;
static sigset_t waited;

static void *in_read(void *unused) {
  char bytes[4];
  ssize_t got = read(read_pipe[0], bytes, 4);
  CHECK(got == 4 && !memcmp(bytes, "done", 4) && feature_over, "a blocked read returned %zd", got);
  return unused;
}

static void *in_write(void *unused) {
  static char bytes[1 << 17]; /* twice the pipe: blocked half-way */
  fill_pattern(bytes, sizeof bytes, 5);
  /* Any stop, a debugger's or job control's, makes a half-done write return what it has done (pipe(7)): go on from
   * there. */
  for (size_t done = 0; done < sizeof bytes;) {
    ssize_t put = write(write_pipe[1], bytes + done, sizeof bytes - done);
    CHECK(put > 0, "a blocked write returned %zd", put);
    done += put;
  }
  CHECK(feature_over, "more bytes went into a pipe than fit");
  return unused;
}

static void *in_recv(void *unused) {
  char bytes[8];
  ssize_t got = recv(pair[0], bytes, 8, MSG_WAITALL);
  CHECK(got == 8 && !memcmp(bytes, "messages", 8) && feature_over, "a blocked recv returned %zd", got);
  return unused;
}

static void *in_semaphore(void *unused) {
  CHECK(!sem_wait(&semaphore) && feature_over, "sem_wait was interrupted");
  return unused;
}

static void *in_sigwait(void *unused) {
  int signum;
  OK(sigwait(&waited, &signum)); /* unlike sigwaitinfo, it restarts by itself */
  CHECK(signum == SIGUSR1 && feature_over, "sigwait gave signal %d", signum);
  return unused;
}

static void *in_pause(void *unused) {
  pause();
  FAIL("pause returned");
  return unused;
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  MUST(!pipe(read_pipe) && !pipe(write_pipe) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair) &&
       !sem_init(&semaphore, 0, 0));
  sigemptyset(&waited), sigaddset(&waited, SIGUSR1);
  OK(pthread_sigmask(SIG_BLOCK, &waited, NULL));
  void *(*bodies[])(void *) = {in_read, in_write, in_recv, in_semaphore, in_sigwait};
  pthread_t threads[5];
  for (int i = 0; i < 5; i++) threads[i] = start_thread(bodies[i], NULL);
  start_thread(in_pause, NULL);
  pause_ms(20);
  feature_ready();
  while (!feature_finishing()) pause_ms(5);
  MUST(write(read_pipe[1], "done", 4) == 4 && send(pair[1], "messages", 8, 0) == 8 && !sem_post(&semaphore) &&
       !kill(getpid(), SIGUSR1));
  static char bytes[1 << 17];
  for (size_t done = 0; done < sizeof bytes;) {
    ssize_t got = read(write_pipe[0], bytes + done, sizeof bytes - done);
    CHECK(got > 0, "read of the full pipe");
    done += got;
  }
  check_pattern(bytes, sizeof bytes, 5, "blocked write");
  for (int i = 0; i < 5; i++) join_thread(threads[i]);
  return feature_pass();
}
