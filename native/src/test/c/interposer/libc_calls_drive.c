/* libc_calls: the functions that libudckpt.so takes over. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "libc_calls_functions.h"

const char *const driven[] = {
#define X(name, call) #name,
    FUNCTIONS(X)
#undef X
};
const size_t driven_count = sizeof driven / sizeof *driven;

/* --- Allocations are counted --- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
static volatile int calling;
volatile int allocations;

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
volatile int died;

void on_fault(int signal)
{
    died = signal;
    siglongjmp(after, 1);
}

/* errno is to be kept by what succeeds. */
#define KEPT 4242

__attribute__((noinline)) long call(enum function function, long a, long b, long c, long d)
{
    volatile long result = -99;
    died = 0;
    if (!sigsetjmp(after, 1)) {
        errno = KEPT;
        calling = 1;
        switch (function) {
#define X(name, call) \
    case F_##name: \
        result = (call); \
        break;
            FUNCTIONS(X)
#undef X
        }
    }
    calling = 0;
    return result;
}

void put_result(long result)
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

/* --- The functions --- */

void begin(enum function function, const struct path *path, const char *more, long number)
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

void drive_stat(const struct path *path)
{
    for (enum function function = F_stat; function <= F___lxstat64; function++)
        for (int b = 0; b < buffer_count; b++)
            for (int version = 0; version < (function < F___xstat ? 1 : 4); version++) {
                begin(function, path, buffers[b].name, version);
                long result = call(function, (long)path->at, (long)buffers[b].at, version, 0);
                put_result(result);
                if (!b && !died && !result) {
                    const struct stat *status = (const struct stat *)buffers[b].at; /* the same as stat64 */
                    put(" mode ");
                    put_number(status->st_mode);
                    put(" device ");
                    put_number((long)status->st_rdev);
                }
                end_line();
            }
}

void drive_access(const struct path *path)
{
    static const int modes[] = {F_OK, R_OK, W_OK, X_OK, R_OK | W_OK, 8, 0xff, -1};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        begin(F_access, path, "mode", modes[i]);
        put_result(call(F_access, (long)path->at, modes[i], 0, 0));
        end_line();
    }
}

/* A descriptor is shown by what it can do, and closed. */
static void put_descriptor(long result)
{
    if (!died && result >= 0) {
        int error = errno;
        struct stat status;
        put(fcntl((int)result, F_GETFD) & FD_CLOEXEC ? " closes" : " stays");
        put(" flags ");
        put_number(fcntl((int)result, F_GETFL));
        put(" mode ");
        put_number(fstat((int)result, &status) ? -1 : (long)status.st_mode);
        close((int)result);
        errno = error;
        result = 1000;
    }
    put_result(result);
    end_line();
}

static const int flags[] = {O_RDONLY, O_RDONLY | O_CLOEXEC, O_WRONLY,           O_RDWR | O_NONBLOCK, O_DIRECTORY,
                            O_PATH,   O_PATH | O_NOFOLLOW,  O_TMPFILE | O_RDWR, O_TMPFILE,           O_ACCMODE,
                            -1};

void drive_open(const struct path *path)
{
    static const int folders[] = {AT_FDCWD, -1, 999};
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (!strcmp(path->name, "/") && flags[i] & O_TMPFILE & ~O_DIRECTORY)
            continue; /* it may be written to by this user, or not */
        for (enum function function = F_open; function <= F_open64; function++) {
            begin(function, path, "flags", flags[i]);
            put_descriptor(call(function, (long)path->at, flags[i], 0600, 0));
        }
        /* else it wants the mode, and ends the process */
        int checked = !(flags[i] & O_CREAT) && (flags[i] & O_TMPFILE) != O_TMPFILE;
        for (enum function function = F___open_2; checked && function <= F___open64_2; function++) {
            begin(function, path, "flags", flags[i]);
            put_descriptor(call(function, (long)path->at, flags[i], 0, 0));
        }
        for (unsigned k = 0; k < sizeof folders / sizeof *folders; k++) {
            const char *where = k == 0 ? "here, flags" : k == 1 ? "-1, flags" : "closed, flags";
            for (enum function function = F_openat; function <= F_openat64; function++) {
                begin(function, path, where, flags[i]);
                put_descriptor(call(function, (long)path->at, flags[i], 0600, folders[k]));
            }
            for (enum function function = F___openat_2; checked && function <= F___openat64_2; function++) {
                begin(function, path, where, flags[i]);
                put_descriptor(call(function, (long)path->at, flags[i], 0, folders[k]));
            }
        }
    }
}

void drive_watch(const struct path *path)
{
    static const uint32_t masks[] = {IN_MODIFY, IN_ATTRIB | IN_DONT_FOLLOW, IN_CREATE | IN_ONLYDIR, 0};
    for (unsigned i = 0; i < sizeof masks / sizeof *masks; i++) {
        int watches = inotify_init1(IN_CLOEXEC), descriptors[] = {watches, -1, 999};
        for (unsigned k = 0; k < 2 * sizeof descriptors / sizeof *descriptors; k++) { /* again: the same watch */
            begin(F_inotify_add_watch, path, k % 3 ? "no queue, mask" : "mask", (long)masks[i]);
            put_result(call(F_inotify_add_watch, (long)path->at, (long)masks[i], descriptors[k % 3], 0));
            end_line();
        }
        close(watches);
    }
}

/* The mode of a new file is passed on. */
static void drive_create(void)
{
    static const struct path here = {"new file", file}, there = {"folder", folder};
    static const int modes[] = {0, 0640, 04751, 0xfffff};
    for (unsigned i = 0; i < sizeof modes / sizeof *modes; i++) {
        begin(F_open, &here, "created", modes[i]);
        put_descriptor(call(F_open, (long)file, O_CREAT | O_WRONLY | O_EXCL, modes[i], 0));
        begin(F_open64, &here, "there already", modes[i]);
        put_descriptor(call(F_open64, (long)file, O_CREAT | O_WRONLY | O_EXCL, modes[i], 0));
        unlink(file);
        begin(F_openat, &here, "created", modes[i]);
        put_descriptor(call(F_openat, (long)file, O_CREAT | O_WRONLY | O_CLOEXEC, modes[i], AT_FDCWD));
        unlink(file);
        begin(F_openat64, &there, "without a name", modes[i]);
        put_descriptor(call(F_openat64, (long)folder, O_TMPFILE | O_RDWR, modes[i], AT_FDCWD));
    }
}

static void drive_eventfd(void)
{
    static const int all[] = {
        0, EFD_CLOEXEC, EFD_NONBLOCK, EFD_SEMAPHORE, EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK, 2, 0x100, -1};
    static const struct path none = {"7", NULL};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        begin(F_eventfd, &none, "flags", all[i]);
        put_descriptor(call(F_eventfd, 7, all[i], 0, 0));
    }
}

/* Few of its calls, but each with an error and without; of io_urings, which the library notes, all that can be wrong.
 */
static void drive_system_calls(void)
{
    struct io_uring_params good = {0}, bad = {.flags = ~0U};
    struct io_uring_probe probe = {0};
    struct io_uring_params *const parameters[] = {&good, &bad, NULL, (struct io_uring_params *)-8L};
    int memory = memfd_create("page", MFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC), ring = -1;
    static const struct path none = {"number", NULL};
    for (unsigned i = 0; i < 8; i++) {
        begin(F_syscall, &none, "setup", i);
        int made = (int)call(F_syscall, SYS_io_uring_setup, i / 4 * 4, (long)parameters[i % 4], 0);
        int error = errno;
        ring = ring < 0 && made >= 0 ? dup(made) : ring;
        errno = error;
        put_descriptor(made);
    }
    const long registrations[][3] = {
        {ring, IORING_REGISTER_EVENTFD, (long)&event}, {ring, IORING_REGISTER_EVENTFD, (long)&event},
        {ring, IORING_UNREGISTER_EVENTFD, 0},          {ring, IORING_REGISTER_EVENTFD_ASYNC, -8},
        {ring, IORING_REGISTER_PROBE, (long)&probe},   {ring, 4000, 0},
        {memory, IORING_REGISTER_PROBE, (long)&probe}, {-1, IORING_REGISTER_EVENTFD, 0}};
    for (unsigned i = 0; i < sizeof registrations / sizeof *registrations; i++) {
        begin(F_syscall, &none, "register", i);
        put_result(
            call(F_syscall, SYS_io_uring_register, registrations[i][0], registrations[i][1], registrations[i][2]));
        end_line();
    }
    const long others[][4] = {{SYS_fcntl, memory, F_GETFD, 0},
                              {SYS_fcntl, -1, F_GETFD, 0},
                              {SYS_write, memory, -8, 5},
                              {SYS_write, memory, 0, 0},
                              {SYS_getppid, 1, 2, 3},
                              {-1, 0, 0, 0},
                              {4000, 0, 0, 0},
                              {SYS_mmap, memory, MAPPED, 1}};
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        begin(F_syscall, &none, "call", i);
        long result = call(F_syscall, others[i][0], others[i][1], others[i][2], others[i][3]);
        put_result(others[i][0] == SYS_getppid ? result == getppid() : result);
        end_line();
    }
    begin(F_syscall, &none, "mapped", 0);
    long page = call(F_syscall, SYS_mmap, memory, MAPPED, 4096);
    put_result(page > 0 && !munmap((void *)page, 4096));
    end_line();
    close(ring);
    close(event);
    close(memory);
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
    static const struct path names[] = {
        {"A", "A"}, {"AB", "AB"}, {"A=1", "A=1"}, {"A=", "A="}, {"noequals", "noequals"}, {"C", "C"}, {"=", "="}};
    char **before = environ;
    for (unsigned l = 0; l < 3; l++)
        for (int i = 0; i < path_count + (int)(sizeof names / sizeof *names); i++) {
            const struct path *name = i < path_count ? &paths[i] : &names[i - path_count];
            environ = lists[l];
            for (enum function function = F_getenv; function <= F_secure_getenv; function++) {
                begin(function, name, "list", l);
                put_found((const char *)call(function, (long)name->at, 0, 0, 0));
            }
        }
    environ = before;
}

static void drive_time(void)
{
    for (int t = 0; t < buffer_count; t++)
        for (int z = 0; z < buffer_count; z++) {
            struct timeval *time = (struct timeval *)(uintptr_t)buffers[t].at;
            struct timezone *zone = (struct timezone *)((uintptr_t)buffers[z].at + (z ? 0 : 256));
            if (!z)
                memset(zone, 0x55, sizeof *zone);
            if (!t)
                *time = (struct timeval){0};
            begin(F_gettimeofday, &buffers[t], buffers[z].name, 0);
            put_result(call(F_gettimeofday, (long)time, (long)zone, 0, 0));
            if (!z && !died) {
                put(" zone ");
                put_number(zone->tz_minuteswest);
                put(" ");
                put_number(zone->tz_dsttime);
            }
            put(!t && (time->tv_sec < 1500000000 || time->tv_usec < 0 || time->tv_usec > 999999) ? " no time\n" : "\n");
        }
}

void drive(const char *where)
{
    context = where;
    for (int i = 0; i < path_count; i++) {
        drive_stat(&paths[i]);
        drive_access(&paths[i]);
        drive_open(&paths[i]);
        drive_watch(&paths[i]);
    }
    drive_create();
    drive_eventfd();
    drive_semaphores();
    drive_notifications();
    drive_namespaces();
    drive_system_calls();
    drive_environment();
    drive_time();
}
