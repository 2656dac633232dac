/* Makes one thing that cannot be captured, named by argv[2], and then waits for the file `finish` in argv[1]. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <mqueue.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MUST(x) \
    do { \
        if ((long)(x) < 0) { \
            perror(#x); \
            exit(1); \
        } \
    } while (0)

#include "odd_connections.h"

static _Atomic int ready;
static int segment = -1;

static void wait_for_end(void) {
    while (access("finish", F_OK)) usleep(2000);
}

#include "odd_threads.h" /* which uses ready and wait_for_end */

static void nothing(union sigval value) {
    (void)value;
}

static void message_queue(const char *kind) {
    bool full = !strcmp(kind, "full");
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 1};
    const char *name = *kind == '/' ? kind : "/udckpt-odd";
    mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    MUST(queue);
    if (*kind == '/') return; /* another process has it, too */
    MUST(mq_unlink(name));
    if (full) MUST(mq_send(queue, "", 1, 0));
    struct sigevent event = {.sigev_notify = full ? SIGEV_NONE : SIGEV_THREAD, .sigev_notify_function = nothing};
    if (!strcmp(kind, "unknown")) /* behind the library's back */
        event.sigev_notify = SIGEV_SIGNAL, event.sigev_signo = SIGUSR1;
    long result = SYS_mq_notify;
    if (strcmp(kind, "unknown")) result = mq_notify(queue, &event);
    else __asm__ volatile("syscall" : "+a"(result) : "D"((long)queue), "S"(&event) : "rcx", "r11", "memory");
    MUST(result);
}

/* Waits until a process's main thread has ended, whatever others it has. */
static void await_main_end(pid_t pid) {
    char path[64], text[256] = {0};
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    do {
        usleep(1000);
        int fd;
        MUST(fd = open(path, O_RDONLY | O_CLOEXEC));
        MUST(read(fd, text, sizeof text - 1));
        close(fd);
    } while (strrchr(text, ')')[2] != 'Z');
}

/* A child as clone(2) makes it with FLAGS; it ends when the file `finish` is there. */
static void child(unsigned long flags) {
    pid_t pid;
    MUST(pid = syscall(SYS_clone, flags, 0, 0, 0, 0));
    if (!pid) {
        wait_for_end();
        _exit(0);
    }
}

#include "mounted.h" /* which use child() */
#include "odd_pids.h"

/* Two children that led process groups went over to each other's, while a third one held the first group. */
static void swapped_groups(void) {
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        MUST(pids[i] = fork());
        if (!pids[i]) {
            wait_for_end();
            _exit(0);
        }
        MUST(setpgid(pids[i], i == 2 ? pids[0] : pids[i]));
    }
    MUST(setpgid(pids[0], pids[1]));
    MUST(setpgid(pids[1], pids[0]));
    MUST(kill(pids[2], SIGKILL));
    MUST(waitpid(pids[2], NULL, 0));
}

static void *shared_stack(void) {
    char *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return stack + 65536;
}

static int sleeper(void *unused) {
    wait_for_end();
    return unused != NULL;
}

/* Two children of which one has made the other: they share their descriptors or memory, and not with their parent. */
static void sharing_siblings(bool memory) {
    pid_t pid;
    int made[2];
    char any;
    MUST(pipe(made));
    MUST(pid = fork());
    if (!pid) {
        if (memory) MUST(clone(sleeper, shared_stack(), CLONE_VM | CLONE_PARENT | SIGCHLD, NULL));
        else child(CLONE_FILES | CLONE_PARENT | SIGCHLD);
        MUST(write(made[1], "x", 1));
        close(made[0]), close(made[1]); /* of both */
        wait_for_end();
        _exit(0);
    }
    MUST(read(made[0], &any, 1));
    close(made[0]), close(made[1]);
}

/* A child that has ended, and told so by no signal. */
static void ended_without_signal(void) {
    pid_t pid;
    siginfo_t info;
    MUST(pid = syscall(SYS_clone, 0, 0, 0, 0, 0));
    if (!pid) _exit(0);
    MUST(waitid(P_PID, pid, &info, WEXITED | WNOWAIT | __WALL));
}

static void *last(void *signal) {
    MUST(prctl(PR_SET_PDEATHSIG, (long)signal, 0, 0, 0));
    ready = 1;
    wait_for_end();
    _exit(0);
}

/* The calling thread is killed, and the others of its process are not. */
static void end_by_filter(void) {
    struct sock_filter kills[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_uname, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, kills};
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    MUST(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
    syscall(SYS_uname, 0);
}

/* A child whose main thread has ended, while another one runs, and which no restart could make so. */
static void main_ended(const char *how) {
    pid_t pid;
    MUST(pid = fork());
    if (!pid) {
        pthread_t thread;
        MUST(-pthread_create(&thread, NULL, last, (void *)(long)(strcmp(how, "told") ? 0 : SIGUSR1)));
        while (!ready) usleep(1000);
        if (!strcmp(how, "killed")) end_by_filter();
        syscall(SYS_exit, 0);
    }
    await_main_end(pid);
    if (!strcmp(how, "stopped")) MUST(kill(pid, SIGSTOP));
}

/* A file in /proc of a child that has ended. */
static void ended_owner(const char *name, int flags, off_t position, bool waited) {
    int go[2];
    MUST(pipe(go));
    pid_t child = fork();
    if (!child) {
        char byte;
        close(go[1]);
        _exit(read(go[0], &byte, 1) != 0);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d%s", child, name);
    int fd = open(path, O_RDONLY | flags);
    MUST(fd);
    MUST(lseek(fd, position, SEEK_SET));
    MUST(close(go[1]));
    MUST(close(go[0]));
    siginfo_t info;
    MUST(waited ? waitpid(child, NULL, 0) : waitid(P_PID, child, &info, WEXITED | WNOWAIT));
}

static void udp_group(void) {
    struct ip_mreq group = {.imr_multiaddr = {htonl(0xe0000105)}, .imr_interface = {htonl(INADDR_LOOPBACK)}};
    MUST(setsockopt(socket(AF_INET, SOCK_DGRAM, 0), IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group));
}

/* Both ends speak Multipath TCP. */
static void multipath(void) {
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof name;
    int server = socket(AF_INET, SOCK_STREAM, 262 /* IPPROTO_MPTCP */);
    MUST(server);
    MUST(bind(server, (void *)&name, sizeof name));
    MUST(listen(server, 1));
    MUST(getsockname(server, (void *)&name, &length));
    MUST(connect(socket(AF_INET, SOCK_STREAM, 262), (void *)&name, sizeof name));
    MUST(accept(server, NULL, NULL));
}

/* A datagram socket with an abstract name, and one that is connected to it; one of the two is in a process outside of
 * the job. */
static void datagrams_outside(int server_is_outside) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int length = offsetof(struct sockaddr_un, sun_path) + 1 +
                 snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "udckpt-odd-%d", getpid());
    int server = socket(AF_UNIX, SOCK_DGRAM, 0), client = socket(AF_UNIX, SOCK_DGRAM, 0);
    MUST(bind(server, (struct sockaddr *)&name, length));
    MUST(connect(client, (struct sockaddr *)&name, length));
    int outside = server_is_outside ? server : client;
    pid_t between = fork();
    MUST(between);
    if (between == 0) {
        if (fork() != 0) _exit(0); /* so that it is nobody's child here */
        MUST(setsid());
        MUST(dup2(outside, 0));
        MUST(syscall(SYS_close_range, 1, ~0u, 0));
        wait_for_end();
        _exit(0);
    }
    MUST(waitpid(between, NULL, 0));
    MUST(close(outside));
}

static void signal_io(void) {
    int pair[2];
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    MUST(fcntl(pair[0], F_SETSIG, SIGURG)); /* which nobody minds */
    MUST(fcntl(pair[0], F_SETOWN, 1));
    MUST(fcntl(pair[0], F_SETFL, O_ASYNC));
}

static void path_handle(void) {
    int pipes[2];
    char path[40];
    MUST(pipe(pipes));
    snprintf(path, sizeof path, "/proc/self/fd/%d", pipes[0]);
    MUST(open(path, O_PATH));
}

/* A stranger owns the directory above its root. */
static void others_root(void) {
    pid_t pid;
    MUST(mkdir("theirs", 0755));
    MUST(mkdir("theirs/root", 0755));
    MUST(chown("theirs", 61002, 61002));
    int end[2];
    MUST(pipe(end));
    MUST(pid = fork());
    if (!pid) {
        char byte;
        close(end[1]);
        MUST(chroot("theirs/root"));
        _exit(read(end[0], &byte, 1) != 0); /* until the parent ends */
    }
}

/* A file that has only its other name when this returns: open, or mapped. */
static void other_name(const char *other, int mapped) {
    int fd;
    MUST(mkdir("elsewhere", 0700));
    MUST(fd = open("one", O_RDWR | O_CREAT, 0600));
    MUST(link("one", other));
    MUST(unlink("one"));
    if (!mapped) return;
    MUST(ftruncate(fd, 4096));
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED) _exit(1);
    close(fd);
}

#include "odd_network.h" /* which uses start and child */

/* Any rule will do: here, no device files are made. */
static void landlock(void) {
    unsigned long long rights = 1 << 11; /* LANDLOCK_ACCESS_FS_MAKE_BLOCK */
    int rules;
    MUST(rules = syscall(444 /* landlock_create_ruleset */, &rights, sizeof rights, 0));
    MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    MUST(syscall(446 /* landlock_restrict_self */, rules, 0));
    close(rules);
}

#include "odd_namespaces.h" /* which uses what is above */

/* One more than are kept of who made a socket's peer (SO_PEERGROUPS). */
static void peer_groups(void) {
    enum { GROUPS = 4097 };
    static gid_t groups[GROUPS];
    int pair[2];
    for (int i = 0; i < GROUPS; i++) groups[i] = 1000 + i;
    MUST(setgroups(GROUPS, groups));
    MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
}

static char handled; /* SYSCALL_DISPATCH_FILTER_ALLOW: calls go to the kernel all the same */

static _Atomic int over;

/* Holds what is refused, and has children that come and go all the time. */
static void *churn(void *unused) {
    (void)unused;
    while (!over) {
        pid_t pid = fork();
        if (!pid) usleep(200), _exit(0);
        if (pid > 0) waitpid(pid, NULL, 0);
    }
    return NULL;
}

static void make(const char *kind) {
    if (!strcmp(kind, "exit-signal")) child(0);
    else if (!strcmp(kind, "thread-descriptors")) start(own_descriptors);
    else if (!strcmp(kind, "thread-lock")) start(own_lock);
    else if (!strcmp(kind, "thread-inotify")) start(own_inotify);
    else if (!strcmp(kind, "thread-removed")) start(own_removed_directory);
    else if (!strcmp(kind, "thread-root")) start(own_root);
    else if (!strcmp(kind, "thread-mounts")) start(own_mounts);
    else if (!strcmp(kind, "thread-pair")) start(own_pair);
    else if (!strcmp(kind, "thread-filter")) start(own_filter);
    else if (!strcmp(kind, "groups")) swapped_groups();
    else if (!strncmp(kind, "siblings", 8)) sharing_siblings(kind[8]);
    else if (!strcmp(kind, "ended-signal")) ended_without_signal();
    else if (!strncmp(kind, "main-ended-", 11)) main_ended(kind + 11);
    else if (!strcmp(kind, "other-name")) other_name("elsewhere/two", 0);
    else if (!strcmp(kind, "mapped-other-name")) other_name("two", 1);
    else if (!strcmp(kind, "path-handle")) path_handle();
    else if (!strcmp(kind, "signal-io")) signal_io();
    else if (!strcmp(kind, "aio")) {
        unsigned long context = 0;
        long result = SYS_io_setup; /* not by syscall(3), which the library counts by */
        __asm__ volatile("syscall" : "+a"(result) : "D"(8L), "S"(&context) : "rcx", "r11", "memory");
        MUST((int)result);
    } else if (!strncmp(kind, "message-queue-", 14)) message_queue(kind + 14);
    else if (!strcmp(kind, "ended-descriptors")) ended_owner("/fd", O_DIRECTORY, 0, true);
    else if (!strcmp(kind, "ended-memory")) ended_owner("/mem", 0, 0, true);
    else if (!strcmp(kind, "ended-read")) ended_owner("/status", 0, 7, true);
    else if (!strcmp(kind, "ended-environment")) ended_owner("/environ", 0, 0, false);
    else if (!strcmp(kind, "other-owner")) MUST(open("/proc/1/status", O_RDONLY));
    else if (!strcmp(kind, "process-outside")) MUST(syscall(SYS_pidfd_open, 1, 0));
    else if (!strcmp(kind, "segment")) MUST(segment = shmget(IPC_PRIVATE, 65536, IPC_CREAT | 0600));
    else if (!strcmp(kind, "datagram-client")) datagrams_outside(1);
    else if (!strcmp(kind, "datagram-server")) datagrams_outside(0);
    else if (!strcmp(kind, "cpu-timer")) cpu_timer();
    else if (!strcmp(kind, "tcp-urgent")) tcp_urgent();
    else if (!strcmp(kind, "tcp-early")) tcp_early();
    else if (!strcmp(kind, "tcp-self")) tcp_self();
    else if (!strcmp(kind, "packet-ring")) packet_ring();
    else if (!strcmp(kind, "packet-group")) packet_group();
    else if (!strncmp(kind, "unix-early-", 11)) unix_early(kind + 11);
    else if (!strcmp(kind, "udp-group")) udp_group();
    else if (!strcmp(kind, "multipath")) multipath();
    else if (!strcmp(kind, "raw-shut")) shutdown(socket(AF_INET, SOCK_RAW, IPPROTO_UDP), SHUT_RDWR); /* ENOTCONN */
    else if (!strcmp(kind, "peer-groups")) peer_groups();
    else if (!strcmp(kind, "urgent-owner")) MUST(fcntl(socket(AF_INET, SOCK_STREAM, 0), F_SETOWN, getppid()));
    else if (!strcmp(kind, "netlink-generic")) MUST(socket(AF_NETLINK, SOCK_RAW, 16));
    else if (!strncmp(kind, "tcp-to:", 7)) call(loopback(atoi(kind + 7)));
    else if (!strcmp(kind, "landlock")) landlock();
    else if (!strcmp(kind, "session-keyring"))
        MUST(syscall(SYS_keyctl, 1 /* KEYCTL_JOIN_SESSION_KEYRING */, "udckpt-test"));
    else if (!strcmp(kind, "process-keyring")) MUST(syscall(SYS_keyctl, 0, -2 /* of the process */, 1));
    else if (!strcmp(kind, "others-root")) others_root();
    else if (!strcmp(kind, "thread-keyring")) start(own_keyring);
    else if (!strcmp(kind, "call-handler")) MUST(prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &handled));
    else if (!strcmp(kind, "churn")) {
        MUST(syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */));
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) MUST(-pthread_create(&threads[i], NULL, churn, NULL));
    } else if (!strncmp(kind, "mounted-", 8)) {
        mounted(kind + 8);
        if (!strcmp(kind, "mounted-sharing")) child(CLONE_FS | SIGCHLD);
    } else if (!strcmp(kind, "thread-names")) start(own_names);
    else if (!strncmp(kind, "left-segment", 12)) left_segment(strcmp(kind, "left-segment"));
    else if (!strncmp(kind, "network-", 8)) network(kind + 8);
    else if (!strncmp(kind, "pids-", 5)) pids(kind + 5);
    else {
        fprintf(stderr, "unknown kind %s\n", kind);
        exit(64);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 64;
    MUST(chdir(argv[1]));
    make(argv[2]);
    MUST(open("ready", O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    wait_for_end();
    over = 1;
    if (segment >= 0) shmctl(segment, IPC_RMID, NULL);
    FILE *result = fopen("result.new", "w");
    fputs("PASS\n", result);
    fclose(result);
    MUST(rename("result.new", "result"));
    return 0;
}
