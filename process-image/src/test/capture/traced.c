/*
 * A tracer and what it traces, named by argv[2]. In argv[1], the file `finish` asks for the end: by then the tracer has
 * been detached, and its child must run, and end, as if there had been none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(x) \
    do { \
        if ((long)(x) < 0) { \
            perror(#x); \
            exit(1); \
        } \
    } while (0)
#define OK 42
#define THREADS 3

struct shared {
    volatile long steps[THREADS + 1]; /* of each thread of the child */
    volatile int handled, sender;
    volatile int watched;
    volatile pid_t last; /* of a chain */
};

static struct shared *shared;
static const char *kind;

static int is(const char *word) {
    return !strcmp(kind, word);
}

static void handler(int signal, siginfo_t *info, void *unused) {
    (void)signal, (void)unused;
    shared->sender = info->si_pid;
    shared->handled++;
}

static void step(int thread) {
    while (access("finish", F_OK)) {
        shared->steps[thread]++;
        shared->watched = 1;
        if (is("sleeping")) usleep(1000);
    }
}

static void *other(void *thread) {
    step((int)(long)thread);
    return NULL;
}

static void child(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    MUST(sigaction(SIGUSR2, &action, NULL));
    if (is("asked") || is("asked-signal")) MUST(ptrace(PTRACE_TRACEME, 0, 0, 0));
    pthread_t threads[THREADS];
    int count = is("threads") ? THREADS : 0;
    for (long i = 0; i < count; i++) MUST(-pthread_create(&threads[i], NULL, other, (void *)(i + 1)));
    step(0);
    for (int i = 0; i < count; i++) MUST(-pthread_join(threads[i], NULL));
    _exit(OK);
}

static void await_steps(void) {
    while (shared->steps[0] < 3) usleep(1000);
}

static void attach(pid_t pid) {
    int status;
    MUST(ptrace(PTRACE_ATTACH, pid, 0, 0));
    MUST(waitpid(pid, &status, __WALL));
    MUST(ptrace(PTRACE_CONT, pid, 0, 0));
}

/* Stops a child that was seized, in the middle of its work. */
static void interrupt(pid_t pid) {
    int status;
    MUST(ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    MUST(waitpid(pid, &status, __WALL));
}

/* Like strace: each call stops it twice. Ends when the requests do not reach it any more. */
static void *follow(void *argument) {
    pid_t pid = *(pid_t *)argument;
    int status;
    MUST(ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD));
    MUST(ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status);
        if (ptrace(PTRACE_SYSCALL, pid, 0, signal == (SIGTRAP | 0x80) || signal == SIGTRAP ? 0 : signal) &&
            errno != ESRCH)
            return "cannot go on";
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == OK ? NULL : "its end";
}

static void trace_threads(pid_t pid) {
    char path[64];
    for (int i = 0; i <= THREADS; i++)
        while (!shared->steps[i]) usleep(1000);
    for (pid_t tid = pid; tid < pid + 100; tid++) {
        snprintf(path, sizeof path, "/proc/%d/task/%d", pid, tid);
        if (!access(path, F_OK)) MUST(ptrace(PTRACE_SEIZE, tid, 0, 0));
    }
    interrupt(pid);
}

/* Stopped by job control: it is to stay so without its tracer. */
static void stop(pid_t pid, int listen) {
    int status;
    MUST(kill(pid, SIGSTOP));
    MUST(waitpid(pid, &status, __WALL));
    MUST(ptrace(PTRACE_CONT, pid, 0, SIGSTOP));
    MUST(waitpid(pid, &status, __WALL));
    if (listen) MUST(ptrace(PTRACE_LISTEN, pid, 0, 0));
}

/* A hardware breakpoint on what the child writes all the time. */
static void watch(pid_t pid) {
    interrupt(pid);
    MUST(ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[0]), &shared->watched));
    MUST(ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[7]), 1 | 1 << 16 | 3 << 18));
}

/* A breakpoint as debuggers set it: nobody takes its SIGTRAP when they have gone. */
static long set_breakpoint(pid_t pid) {
    interrupt(pid);
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, pid, (void *)trace_threads, 0);
    MUST(-errno);
    MUST(ptrace(PTRACE_POKETEXT, pid, (void *)trace_threads, (word & ~0xffL) | 0xcc));
    return word;
}

static pid_t start(void) {
    pid_t pid;
    MUST(pid = fork());
    if (!pid) child();
    return pid;
}

/* The child is traced by one that is traced itself. */
static pid_t chain(void) {
    pid_t middle;
    MUST(middle = fork());
    if (!middle) {
        pid_t last = start();
        await_steps();
        MUST(ptrace(PTRACE_SEIZE, last, 0, 0));
        shared->last = last;
        int status;
        while (waitpid(last, &status, 0) == last && !WIFEXITED(status) && !WIFSIGNALED(status)) {
        }
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    while (!shared->last) usleep(1000);
    attach(middle);
    return middle;
}

static const char *grows(pid_t pid) {
    char path[64], text[512] = {0};
    int fd;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    MUST(fd = open(path, O_RDONLY));
    MUST(read(fd, text, sizeof text - 1));
    close(fd);
    if (!strstr(text, "TracerPid:\t0\n")) return "it is still traced";
    if (is("stopped") || is("listening")) {
        if (!strstr(text, "State:\tT")) return "it is not stopped any more";
        MUST(kill(pid, SIGCONT));
    } else if (strstr(text, "State:\tT") || strstr(text, "State:\tt")) return "it is stopped";
    for (int i = 0; i <= (is("threads") ? THREADS : 0); i++) {
        long before = shared->steps[i];
        for (int round = 0; shared->steps[i] == before; round++) {
            if (round == 5000) return "it does not go on";
            usleep(1000);
        }
    }
    return NULL;
}

int main(int count, char **words) {
    if (count < 3) return 2;
    MUST(chdir(words[1]));
    kind = words[2];
    MUST(shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_t pid = is("chain") ? chain() : start();
    const char *wrong = NULL;
    pthread_t thread;
    int followed = 0, status, expected = 0;
    siginfo_t info;
    long word = 0;
    await_steps();
    if (is("seized") || is("sleeping") || is("watched") || is("listening") || is("interrupted") || is("breakpoint"))
        MUST(ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_EXITKILL));
    if (is("attached") || is("stopped") || is("halted")) attach(pid);
    if (is("attaching")) MUST(ptrace(PTRACE_ATTACH, pid, 0, 0));
    if (is("halted")) { /* as gdb stops a thread */
        MUST(syscall(SYS_tgkill, pid, pid, SIGSTOP));
        MUST(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT | __WALL));
    }
    if (is("watched")) watch(pid);
    else if (is("interrupted")) interrupt(pid);
    else if (is("breakpoint")) word = set_breakpoint(pid);
    else if (is("stopped") || is("listening")) stop(pid, is("listening"));
    else if (is("threads")) trace_threads(pid);
    else if (is("asked-signal")) {
        MUST(kill(pid, SIGUSR2));
        MUST(waitid(P_PID, pid, &info, WSTOPPED | WNOWAIT));
        expected = 1;
    } else if (is("followed")) {
        MUST(-pthread_create(&thread, NULL, follow, &pid));
        followed = 1;
        usleep(20000);
    }
    close(open("ready", O_CREAT | O_WRONLY, 0600));
    while (access("check", F_OK)) usleep(1000);
    if (is("breakpoint")) {
        /* it was refused; the debugger takes it out, and detaches */
        MUST(ptrace(PTRACE_POKETEXT, pid, (void *)trace_threads, word));
        MUST(ptrace(PTRACE_DETACH, pid, 0, 0));
    }
    if (!wrong && (is("watched") || is("interrupted")) && ptrace(PTRACE_CONT, pid, 0, 0) == 0) wrong = "not detached";
    if (!wrong) wrong = grows(shared->last ? shared->last : pid);
    if (!wrong && (shared->handled != expected || (expected && shared->sender != getpid()))) wrong = "signals";
    close(open("checked", O_CREAT | O_WRONLY, 0600));
    while (access("finish", F_OK)) usleep(1000);
    if (followed) {
        void *told;
        MUST(-pthread_join(thread, &told));
        if (!wrong) wrong = told;
    } else {
        while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        }
        if (!wrong && (!WIFEXITED(status) || WEXITSTATUS(status) != OK)) wrong = "its end";
    }
    FILE *result = fopen("result", "w");
    fprintf(result, "%s\n", wrong ? wrong : "PASS");
    return fclose(result);
}
