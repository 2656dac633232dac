/* What a program can ask the kernel for once and keeps: NUMA policies of threads and memory, what a core file holds,
 * sealed memory, machine checks, huge pages by exception, merging of memory, no memory that is written and then
 * executed, no time stamp counter. What a kernel does not have is left out. */
#include "smaps.h"
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { PAGE = 4096, SIZE = 16 * PAGE, WORDS = 16 };
enum {
  SET_MCE = 33,
  GET_MCE = 34,
  SET_IO_FLUSHER = 57,
  GET_IO_FLUSHER = 58,
  SET_MDWE = 65,
  GET_MDWE = 66,
  SET_MERGE = 67,
  GET_MERGE = 68,
  EXCEPT_ADVISED = 2
};

typedef struct {
  int mode;
  unsigned long nodes[WORDS];
} Policy;

static Policy policy(void *memory) {
  Policy got = {0};
  MUST(!syscall(SYS_get_mempolicy, &got.mode, got.nodes, 8 * sizeof got.nodes, memory, memory ? MPOL_F_ADDR : 0));
  return got;
}

static void check_policy(const Policy *then, void *memory, const char *what) {
  Policy now = policy(memory);
  CHECK(!memcmp(&now, then, sizeof now), "the NUMA policy of %s was %#x of %#lx, is %#x of %#lx", what, then->mode,
        then->nodes[0], now.mode, now.nodes[0]);
}

/* For the audit (proc_pid_loginuid(5)); who has none may say it once. 4294967295: none, or a kernel without. */
static unsigned login_user(void) {
  unsigned user = UINT_MAX;
  FILE *file = fopen("/proc/self/loginuid", "r");
  if (file) MUST(fscanf(file, "%u", &user) == 1 && !fclose(file));
  return user;
}

static void log_in(unsigned user) {
  int fd = open("/proc/self/loginuid", O_WRONLY);
  if (fd >= 0) dprintf(fd, "%u", user), close(fd);
}

static unsigned long core_filter(void) {
  unsigned long value = 0;
  FILE *file = fopen("/proc/self/coredump_filter", "r");
  MUST(file && fscanf(file, "%lx", &value) == 1 && !fclose(file));
  return value;
}

static void *interleaver(void *unused) {
  unsigned long nodes = 1;
  MUST(!syscall(SYS_set_mempolicy, MPOL_INTERLEAVE | MPOL_F_STATIC_NODES, &nodes, 64));
  Policy own = policy(NULL);
  for (; !feature_over; pause_ms(3)) check_policy(&own, NULL, "a thread");
  return unused;
}

/* A process that may not make memory executable, whose memory is all for merging, which has huge pages only where it
 * asks for them, and no time stamps: so nothing of the vDSO's clocks is called in it. */
static void strict(int hold) {
  char *plain = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), byte;
  MUST(plain != MAP_FAILED);
  bool huge = !prctl(PR_SET_THP_DISABLE, 1, EXCEPT_ADVISED, 0, 0), merged = !prctl(SET_MERGE, 1, 0, 0, 0),
       denied = !prctl(SET_MDWE, 3 /* not for children */, 0, 0, 0);
  int tsc = 0;
  MUST(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV) && write(hold, "r", 1) == 1 && !fcntl(hold, F_SETFL, O_NONBLOCK));
  while (read(hold, &byte, 1) != 0) {
    CHECK(!huge || prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 3, "PR_GET_THP_DISABLE is %d",
          prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0));
    CHECK(!merged || (prctl(GET_MERGE, 0, 0, 0, 0) == 1 && has_flag(plain, "mg")),
          "memory is not for merging any more");
    CHECK(!denied || prctl(GET_MDWE, 0, 0, 0, 0) == 3, "PR_GET_MDWE is %d", prctl(GET_MDWE, 0, 0, 0, 0));
    CHECK(!denied || (mprotect(plain, PAGE, PROT_READ | PROT_EXEC) && errno == EACCES),
          "memory that was written became executable");
    CHECK(!prctl(PR_GET_TSC, &tsc) && tsc == PR_TSC_SIGSEGV, "the time stamp counter can be read again");
    pause_ms(3);
  }
  _exit(0);
}

int main(int argc, char **argv) {
  feature_start(argc, argv);
  unsigned long node = 1, filter = core_filter() ^ 0x4c;
  char *bound = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
       *sealed = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MUST(bound != MAP_FAILED && sealed != MAP_FAILED);
  bool numa = !syscall(SYS_set_mempolicy, MPOL_PREFERRED, &node, 64);
  MUST(!numa || !syscall(SYS_mbind, bound + PAGE, 4 * PAGE, MPOL_BIND, &node, 64, 0));
  Policy main_policy = numa ? policy(NULL) : (Policy){0}, bound_policy = numa ? policy(bound + PAGE) : (Policy){0},
         free_policy = {0};
  fill_pattern(bound, SIZE, 1), fill_pattern(sealed, SIZE, 2);
  bool seals = !syscall(462 /* mseal */, sealed + PAGE, 4 * PAGE, 0);
  bool checks = !prctl(SET_MCE, 1, 1 /* PR_MCE_KILL_EARLY */, 0, 0), flushes = !prctl(SET_IO_FLUSHER, 1, 0, 0, 0);
  FILE *file = fopen("/proc/self/coredump_filter", "w");
  MUST(file && fprintf(file, "%#lx", filter) > 0 && !fclose(file) && core_filter() == filter);
  log_in(geteuid() ? geteuid() : 4711); /* an ordinary user's restart knows one user only */
  unsigned login = login_user();
  pthread_t thread = numa ? start_thread(interleaver, NULL) : 0;
  int ends[2];
  MUST(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  pid_t child = fork();
  MUST(child >= 0);
  if (!child) {
    close(ends[0]);
    strict(ends[1]);
  }
  close(ends[1]);
  char byte;
  MUST(read(ends[0], &byte, 1) == 1);
  feature_ready();
  bool over = false;
  while (!over) {
    over = feature_finishing();
    CHECK(core_filter() == filter, "coredump_filter was %#lx, is %#lx", filter, core_filter());
    CHECK(login_user() == login, "the login user was %u, is %u", login, login_user());
    CHECK(!checks || prctl(GET_MCE, 0, 0, 0, 0) == 1, "the policy about machine checks is %d",
          prctl(GET_MCE, 0, 0, 0, 0));
    CHECK(!flushes || prctl(GET_IO_FLUSHER, 0, 0, 0, 0) == 1, "it is no I/O flusher any more");
    if (numa)
      check_policy(&main_policy, NULL, "the main thread"), check_policy(&bound_policy, bound + PAGE, "bound memory"),
          check_policy(&free_policy, bound, "memory beside");
    CHECK(!seals || (has_flag(sealed + PAGE, "sl") && !has_flag(sealed, "sl") && munmap(sealed + PAGE, PAGE) &&
                     errno == EPERM),
          "sealed memory is so no more");
    check_pattern(bound, SIZE, 1, "bound memory"), check_pattern(sealed, SIZE, 2, "sealed memory");
    pause_ms(3);
  }
  MUST(!close(ends[0]));
  int status;
  CHECK(waitpid(child, &status, 0) == child && !status, "the child ended with %#x", status);
  if (numa) join_thread(thread);
  return feature_pass();
}
