/* Every function of the C library that libudckpt.so takes over, called with arguments good and bad, wherever a program may call it: one line for each
 * call, with its result. Without and with the library preloaded the lines must be the same.
 *
 *     libc_calls list        the functions that are driven here
 *     libc_calls             the lines
 *     libc_calls pretended   those of paths at which the soft fabric's devices are to be seen
 *
 * Nothing here allocates, locks or needs a large stack while it calls: it runs in signal handlers, in a vfork child and on a stack of PTHREAD_STACK_MIN. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define OLD(name, type) \
    extern int old##name(int version, const char *path, struct type *status); \
    __asm__(".symver old" #name "," #name "@GLIBC_2.2.5");
OLD(__xstat, stat) /* of programs built before glibc 2.33 */
OLD(__xstat64, stat64)
OLD(__lxstat, stat)
OLD(__lxstat64, stat64)

/* What _FORTIFY_SOURCE makes of open(2). */
extern int __open_2(const char *path, int flags), __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags), __openat64_2(int folder, const char *path, int flags);

#define FUNCTIONS(X)                                                                     \
    X(stat, stat((const char *) a, (struct stat *) b))                                   \
    X(stat64, stat64((const char *) a, (struct stat64 *) b))                             \
    X(lstat, lstat((const char *) a, (struct stat *) b))                                 \
    X(lstat64, lstat64((const char *) a, (struct stat64 *) b))                           \
    X(__xstat, old__xstat((int) c, (const char *) a, (struct stat *) b))                 \
    X(__xstat64, old__xstat64((int) c, (const char *) a, (struct stat64 *) b))           \
    X(__lxstat, old__lxstat((int) c, (const char *) a, (struct stat *) b))               \
    X(__lxstat64, old__lxstat64((int) c, (const char *) a, (struct stat64 *) b))         \
    X(access, access((const char *) a, (int) b))                                         \
    X(open, open((const char *) a, (int) b, (mode_t) c))                                 \
    X(open64, open64((const char *) a, (int) b, (mode_t) c))                             \
    X(openat, openat((int) d, (const char *) a, (int) b, (mode_t) c))                    \
    X(openat64, openat64((int) d, (const char *) a, (int) b, (mode_t) c))                \
    X(__open_2, __open_2((const char *) a, (int) b))                                     \
    X(__open64_2, __open64_2((const char *) a, (int) b))                                 \
    X(__openat_2, __openat_2((int) d, (const char *) a, (int) b))                        \
    X(__openat64_2, __openat64_2((int) d, (const char *) a, (int) b))                    \
    X(eventfd, eventfd((unsigned) a, (int) b))                                           \
    X(getenv, (long) getenv((const char *) a))                                           \
    X(secure_getenv, (long) secure_getenv((const char *) a))                             \
    X(gettimeofday, gettimeofday((struct timeval *) a, (void *) b))

enum function {
#define X(name, call) F_##name,
    FUNCTIONS(X)
#undef X
};

static const char *const driven[] = {
#define X(name, call) #name,
    FUNCTIONS(X)
#undef X
};

/* --- Lines, without stdio --- */

static char lines[4 << 20];
static size_t used;

static void put(const char *text)
{
    size_t length = strlen(text);
    if (used + length < sizeof lines) {
        memcpy(lines + used, text, length);
        used += length;
    }
}

static void put_number(long value)
{
    char digits[24], *at = digits + sizeof digits - 1;
    unsigned long rest = value < 0 ? -(unsigned long) value : (unsigned long) value;
    *at = 0;
    do
        *--at = (char) ('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    put(at);
}

static void show_lines(void)
{
    for (size_t at = 0; at < used;) {
        ssize_t n = write(1, lines + at, used - at);
        if (n <= 0)
            _exit(9);
        at += (size_t) n;
    }
    used = 0;
}

/* --- Allocations are counted --- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static volatile int calling;
static volatile int allocations;

void *malloc(size_t size)
{
    allocations += calling;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations += calling;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    allocations += calling;
    return __libc_realloc(old, size);
}

/* --- One call --- */

static sigjmp_buf after;
static volatile int died;

static void on_fault(int signal)
{
    died = signal;
    siglongjmp(after, 1);
}

/* errno is to be kept by what succeeds. */
#define KEPT 4242

static __attribute__((noinline)) long call(enum function function, long a, long b, long c, long d)
{
    volatile long result = -99;
    died = 0;
    if (!sigsetjmp(after, 1)) {
        errno = KEPT;
        calling = 1;
        switch (function) {
#define X(name, call)      \
    case F_##name:         \
        result = (call);   \
        break;
            FUNCTIONS(X)
#undef X
        }
    }
    calling = 0;
    return result;
}

static void put_result(long result)
{
    int error = errno;
    put(" = ");
    if (died) {
        put("signal ");
        put_number(died);
    } else {
        put_number(result);
        put(" errno ");
        put_number(error);
    }
}

static void end_line(void)
{
    put("\n");
}

/* --- Arguments --- */

struct path {
    const char *name, *at;
};
enum { MOST_PATHS = 40 };
static struct path paths[MOST_PATHS];
static int path_count;
static struct path buffers[8];
static int buffer_count;
static char long_path[2 * PATH_MAX], long_name[NAME_MAX + 20];
static char folder[] = "/tmp/libc-calls-XXXXXX";
static char file[sizeof folder + 2];
static const char *context = "";
static size_t page;

static void add_path(const char *name, const void *at)
{
    if (path_count == MOST_PATHS)
        _exit(8);
    paths[path_count++] = (struct path){name, at};
}

/* The text lies at the end of a page behind which there is nothing. */
static const char *at_end(const char *text, int terminated)
{
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t length = strlen(text) + (terminated ? 1 : 0);
    if (pages == MAP_FAILED || munmap(pages + page, page))
        _exit(7);
    return memcpy(pages + page - length, text, length);
}

#define KERNEL ((void *) 0xffff888000000000ul)
#define NOT_CANONICAL ((void *) 0x8000000000000000ul)

static void make_arguments(void)
{
    page = (size_t) sysconf(_SC_PAGESIZE);
    char *gone = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shut = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *readable = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char good[4096] __attribute__((aligned(64)));
    static char empty[1];
    if (gone == MAP_FAILED || munmap(gone, page) || !mkdtemp(folder))
        _exit(6);
    strcpy(file, folder);
    strcat(file, "/f");
    memset(long_path, '/', sizeof long_path - 1);
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[0] = '/';
    add_path("NULL", NULL);
    add_path("1", (void *) 1);
    add_path("unmapped", gone);
    add_path("unreadable", shut);
    add_path("kernel", KERNEL);
    add_path("not canonical", NOT_CANONICAL);
    add_path("last byte", (void *) -1);
    add_path("/tmp at page end, not terminated", at_end("/tmp", 0));
    add_path("/dev/infini at page end, not terminated", at_end("/dev/infini", 0));
    add_path("/dev/infiniband/ at page end, not terminated", at_end("/dev/infiniband/", 0));
    add_path("/dev/infiniband/uverbs at page end, not terminated", at_end("/dev/infiniband/uverbs", 0));
    add_path("/dev/infiniband/uverbs0 at page end, not terminated", at_end("/dev/infiniband/uverbs0", 0));
    add_path("/sys/class/infiniband at page end, not terminated", at_end("/sys/class/infiniband", 0));
    add_path("/dev/infiniband/uverbs at page end", at_end("/dev/infiniband/uverbs", 1));
    add_path("/dev/infiniband/no-such-device", "/dev/infiniband/no-such-device");
    add_path("/ at page end", at_end("/", 1));
    add_path("empty", empty);
    add_path("empty at page end", at_end("", 1));
    add_path("/", "/");
    add_path("/dev/null", "/dev/null");
    add_path("/dev/null/x", "/dev/null/x");
    add_path("dev", "dev");
    add_path("/no/such", "/no/such");
    add_path("long path", long_path);
    add_path("long name", long_name);
    buffers[buffer_count++] = (struct path){"good", good};
    buffers[buffer_count++] = (struct path){"NULL", NULL};
    buffers[buffer_count++] = (struct path){"unmapped", gone};
    buffers[buffer_count++] = (struct path){"read-only", readable};
    buffers[buffer_count++] = (struct path){"kernel", KERNEL};
    buffers[buffer_count++] = (struct path){"page end", at_end("12345678", 1)};
}

/* --- The functions --- */

static void begin(enum function function, const struct path *path, const char *more, long number)
{
    put(context);
    put(" ");
    put(driven[function]);
    put("(");
    put(path->name);
    put(", ");
    put(more);
    put(" ");
    put_number(number);
    put(")");
}

static void drive_stat(const struct path *path)
{
    for (enum function function = F_stat; function <= F___lxstat64; function++)
        for (int b = 0; b < buffer_count; b++)
            for (int version = 0; version < (function < F___xstat ? 1 : 4); version++) {
                begin(function, path, buffers[b].name, version);
                long result = call(function, (long) path->at, (long) buffers[b].at, version, 0);
                put_result(result);
                if (!b && !died && !result) {
                    const struct stat *status = (const struct stat *) buffers[b].at; /* the same as stat64 */
                    put(" mode ");
                    put_number(status->st_mode);
                    put(" device ");
                    put_number((long) status->st_rdev);
                }
                end_line();
            }
}

static void drive_access(const struct path *path)
{
    static const int modes[] = {F_OK, R_OK, W_OK, X_OK, R_OK | W_OK, 8, 0xff, -1};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        begin(F_access, path, "mode", modes[i]);
        put_result(call(F_access, (long) path->at, modes[i], 0, 0));
        end_line();
    }
}

/* A descriptor is shown by what it can do, and closed. */
static void put_descriptor(long result)
{
    if (!died && result >= 0) {
        int error = errno;
        struct stat status;
        put(fcntl((int) result, F_GETFD) & FD_CLOEXEC ? " closes" : " stays");
        put(" flags ");
        put_number(fcntl((int) result, F_GETFL));
        put(" mode ");
        put_number(fstat((int) result, &status) ? -1 : (long) status.st_mode);
        close((int) result);
        errno = error;
        result = 1000;
    }
    put_result(result);
    end_line();
}

static const int flags[] = {O_RDONLY, O_RDONLY | O_CLOEXEC, O_WRONLY, O_RDWR | O_NONBLOCK, O_DIRECTORY, O_PATH, O_PATH | O_NOFOLLOW, O_TMPFILE | O_RDWR, O_TMPFILE,
                            O_ACCMODE, -1};

static void drive_open(const struct path *path)
{
    static const int folders[] = {AT_FDCWD, -1, 999};
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!strcmp(path->name, "/") && flags[i] & O_TMPFILE & ~O_DIRECTORY)
            continue; /* it may be written to by this user, or not */
        for (enum function function = F_open; function <= F_open64; function++) {
            begin(function, path, "flags", flags[i]);
            put_descriptor(call(function, (long) path->at, flags[i], 0600, 0));
        }
        int checked = !(flags[i] & O_CREAT) && (flags[i] & O_TMPFILE) != O_TMPFILE; /* else it wants the mode, and ends the process */
        for (enum function function = F___open_2; checked && function <= F___open64_2; function++) {
            begin(function, path, "flags", flags[i]);
            put_descriptor(call(function, (long) path->at, flags[i], 0, 0));
        }
        for (unsigned k = 0; k < sizeof folders / sizeof *folders; k++) {
            const char *where = k == 0 ? "here, flags" : k == 1 ? "-1, flags" : "closed, flags";
            for (enum function function = F_openat; function <= F_openat64; function++) {
                begin(function, path, where, flags[i]);
                put_descriptor(call(function, (long) path->at, flags[i], 0600, folders[k]));
            }
            for (enum function function = F___openat_2; checked && function <= F___openat64_2; function++) {
                begin(function, path, where, flags[i]);
                put_descriptor(call(function, (long) path->at, flags[i], 0, folders[k]));
            }
        }
    }
}

/* The mode of a new file is passed on. */
static void drive_create(void)
{
    static const struct path here = {"new file", file}, there = {"folder", folder};
    static const int modes[] = {0, 0640, 04751, 0xfffff};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        begin(F_open, &here, "created", modes[i]);
        put_descriptor(call(F_open, (long) file, O_CREAT | O_WRONLY | O_EXCL, modes[i], 0));
        begin(F_open64, &here, "there already", modes[i]);
        put_descriptor(call(F_open64, (long) file, O_CREAT | O_WRONLY | O_EXCL, modes[i], 0));
        unlink(file);
        begin(F_openat, &here, "created", modes[i]);
        put_descriptor(call(F_openat, (long) file, O_CREAT | O_WRONLY | O_CLOEXEC, modes[i], AT_FDCWD));
        unlink(file);
        begin(F_openat64, &there, "without a name", modes[i]);
        put_descriptor(call(F_openat64, (long) folder, O_TMPFILE | O_RDWR, modes[i], AT_FDCWD));
    }
}

static void drive_eventfd(void)
{
    static const int all[] = {0, EFD_CLOEXEC, EFD_NONBLOCK, EFD_SEMAPHORE, EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK, 2, 0x100, -1};
    static const struct path none = {"7", NULL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        begin(F_eventfd, &none, "flags", all[i]);
        put_descriptor(call(F_eventfd, 7, all[i], 0, 0));
    }
}

static void put_found(const char *value)
{
    put_result(!died && value);
    if (value && !died) {
        put(" ");
        put(value);
    }
    end_line();
}

static void drive_environment(void)
{
    static char *own[] = {"A=1", "AB=2", "=3", "noequals", "A=4", "B", "C=", NULL}, *none[] = {NULL};
    static char **const lists[] = {own, none, NULL};
    static const struct path names[] = {{"A", "A"}, {"AB", "AB"}, {"A=1", "A=1"}, {"A=", "A="}, {"noequals", "noequals"}, {"C", "C"}, {"=", "="}};
    char **before = environ;
    for (unsigned l = 0; l < 3; l++)
        for (int i = 0; i < path_count + (int) (sizeof names / sizeof *names); i++) {
            const struct path *name = i < path_count ? &paths[i] : &names[i - path_count];
            environ = lists[l];
            for (enum function function = F_getenv; function <= F_secure_getenv; function++) {
                begin(function, name, "list", l);
                put_found((const char *) call(function, (long) name->at, 0, 0, 0));
            }
        }
    environ = before;
}

static void drive_time(void)
{
    for (int t = 0; t < buffer_count; t++)
        for (int z = 0; z < buffer_count; z++) {
            struct timeval *time = (struct timeval *) (uintptr_t) buffers[t].at;
            struct timezone *zone = (struct timezone *) ((uintptr_t) buffers[z].at + (z ? 0 : 256));
            if (!z)
                memset(zone, 0x55, sizeof *zone);
            if (!t)
                *time = (struct timeval){0};
            begin(F_gettimeofday, &buffers[t], buffers[z].name, 0);
            put_result(call(F_gettimeofday, (long) time, (long) zone, 0, 0));
            if (!z && !died) {
                put(" zone ");
                put_number(zone->tz_minuteswest);
                put(" ");
                put_number(zone->tz_dsttime);
            }
            put(!t && (time->tv_sec < 1500000000 || time->tv_usec < 0 || time->tv_usec > 999999) ? " no time\n" : "\n");
        }
}

static void drive(const char *where)
{
    context = where;
    for (int i = 0; i < path_count; i++) {
        drive_stat(&paths[i]);
        drive_access(&paths[i]);
        drive_open(&paths[i]);
    }
    drive_create();
    drive_eventfd();
    drive_environment();
    drive_time();
}

/* --- Where --- */

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
    (void) argv, (void) env;
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
    (void) signal;
    drive_counted("signal handler");
}

static void *in_thread(void *unused)
{
    (void) unused;
    own_signal_stack();
    drive_counted("small stack");
    return NULL;
}

static void small_stack(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t) PTHREAD_STACK_MIN) || pthread_create(&thread, &attributes, in_thread, NULL))
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
        for (unsigned i = 0; i < sizeof driven / sizeof *driven; i++) {
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
