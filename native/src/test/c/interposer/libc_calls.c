/* Every function of the C library that libudckpt.so takes over, called with arguments good and bad, wherever a program
 * may call it: one line for each call, with its result. Without and with the library preloaded the lines must be the
 * same.
 *
 *     libc_calls list        the functions that are driven here
 *     libc_calls             the lines
 *     libc_calls pretended   those of paths at which the soft fabric's devices are to be seen
 *
 * Nothing here allocates, locks or needs a large stack while it calls: it runs in signal handlers, in a vfork child
 * and on a stack of PTHREAD_STACK_MIN. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char alternate[64 << 10];

static void handle_faults(void)
{
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

static void own_signal_stack(void)
{
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    sigaltstack(&stack, NULL);
}

static void put_allocations(const char *where, int count)
{
    put(where);
    put(" allocations ");
    put_number(count);
    put("\n");
}

static void drive_counted(const char *where)
{
    allocations = 0;
    drive(where);
    put_allocations(where, allocations);
}

static int wanted; /* of this program's start: its lines */

/* Before every constructor, that of the preloaded library too. */
static void before_constructors(int argc, char **argv, char **env)
{
    (void)argv, (void)env;
    wanted = argc == 1;
    if (!wanted)
        return;
    umask(0);
    make_arguments();
    handle_faults();
    own_signal_stack();
    drive("before constructors"); /* the next function in line may have to be found first */
}
__attribute__((section(".preinit_array"), used)) static void (*preinit)(int, char **, char **) = before_constructors;

__attribute__((constructor)) static void constructor(void)
{
    if (wanted)
        drive_counted("constructor");
}

__attribute__((destructor)) static void destructor(void)
{
    if (!wanted)
        return;
    drive_counted("destructor");
    rmdir(folder);
    show_lines();
}

static void at_exit(void)
{
    if (wanted)
        drive_counted("atexit");
}

static void on_signal(int signal)
{
    (void)signal;
    drive_counted("signal handler");
}

static void *in_thread(void *unused)
{
    (void)unused;
    own_signal_stack();
    drive_counted("small stack");
    return NULL;
}

static void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) ||
        pthread_create(&thread, &attributes, in_thread, NULL))
        _exit(5);
    pthread_join(thread, NULL);
    own_signal_stack();
}

static void await_child(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child || status) {
        put("the child has failed\n");
    }
}

static void children(void)
{
    show_lines();
    pid_t child = fork();
    if (!child) {
        drive_counted("child");
        show_lines();
        _exit(0);
    }
    await_child(child);
    child = vfork();
    if (!child) {
        drive_counted("vfork child");
        _exit(0);
    }
    await_child(child);
}

/* The fabric's devices: seen, and not to be opened. The standard error is somebody else's at that moment. */
static void *hold_stderr(void *barrier)
{
    flockfile(stderr);
    pthread_barrier_wait(barrier);
    for (;;)
        pause();
    return NULL;
}

static void drive_pretended(void)
{
    static const char *const seen[] = {"/dev/infiniband/uverbs0", "/sys/class/infiniband"};
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    make_arguments();
    rmdir(folder);
    handle_faults();
    own_signal_stack();
    if (pthread_create(&thread, NULL, hold_stderr, &barrier))
        _exit(4);
    pthread_barrier_wait(&barrier);
    alarm(20);
    allocations = 0;
    path_count = 0;
    context = "";
    for (int i = 0; i < 2; i++) {
        add_path(seen[i], at_end(seen[i], 1));
        drive_stat(&paths[i]);
        drive_access(&paths[i]);
    }
    drive_open(&paths[0]);
    put_allocations("", allocations);
    show_lines();
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "list")) {
        for (unsigned i = 0; i < driven_count; i++) {
            put(driven[i]);
            end_line();
        }
        show_lines();
        return 0;
    }
    if (argc == 2 && !strcmp(argv[1], "pretended"))
        drive_pretended();
    if (argc != 1)
        return 2;
    atexit(at_exit);
    drive_counted("main");
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    small_stack();
    children();
    return 0;
}
