/* The functions that libudckpt.so takes over, and how one is called. */
#pragma once
#include "libc_calls.h"
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/time.h>
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

/* Instead of a third argument: mmap(2) of a page, which has six. */
#define MAPPED (-4243)

#define FUNCTIONS(X) \
    X(stat, stat((const char *)a, (struct stat *)b)) \
    X(stat64, stat64((const char *)a, (struct stat64 *)b)) \
    X(lstat, lstat((const char *)a, (struct stat *)b)) \
    X(lstat64, lstat64((const char *)a, (struct stat64 *)b)) \
    X(__xstat, old__xstat((int)c, (const char *)a, (struct stat *)b)) \
    X(__xstat64, old__xstat64((int)c, (const char *)a, (struct stat64 *)b)) \
    X(__lxstat, old__lxstat((int)c, (const char *)a, (struct stat *)b)) \
    X(__lxstat64, old__lxstat64((int)c, (const char *)a, (struct stat64 *)b)) \
    X(access, access((const char *)a, (int)b)) \
    X(open, open((const char *)a, (int)b, (mode_t)c)) \
    X(open64, open64((const char *)a, (int)b, (mode_t)c)) \
    X(openat, openat((int)d, (const char *)a, (int)b, (mode_t)c)) \
    X(openat64, openat64((int)d, (const char *)a, (int)b, (mode_t)c)) \
    X(__open_2, __open_2((const char *)a, (int)b)) \
    X(__open64_2, __open64_2((const char *)a, (int)b)) \
    X(__openat_2, __openat_2((int)d, (const char *)a, (int)b)) \
    X(__openat64_2, __openat64_2((int)d, (const char *)a, (int)b)) \
    X(eventfd, eventfd((unsigned)a, (int)b)) \
    X(semop, semop((int)a, (struct sembuf *)b, (size_t)c)) \
    X(semtimedop, semtimedop((int)a, (struct sembuf *)b, (size_t)c, (const struct timespec *)d)) \
    X(unshare, unshare((int)a)) \
    X(setns, setns((int)a, (int)b)) \
    X(inotify_add_watch, inotify_add_watch((int)c, (const char *)a, (uint32_t)b)) \
    X(mq_notify, mq_notify((mqd_t)a, (const struct sigevent *)b)) \
    X(syscall, c == MAPPED ? syscall(a, 0L, 4096L, 1L, 2L, b, d) : syscall(a, b, c, d, 1L)) \
    X(getenv, (long)getenv((const char *)a)) \
    X(secure_getenv, (long)secure_getenv((const char *)a)) \
    X(gettimeofday, gettimeofday((struct timeval *)a, (void *)b))

enum function {
#define X(name, call) F_##name,
    FUNCTIONS(X)
#undef X
};

/* The beginning of a line: what is called, and with what. */
void begin(enum function function, const struct path *path, const char *more, long number);
long call(enum function function, long a, long b, long c, long d);
/* Its result, or the signal that it died of. */
void put_result(long result);
/* libc_calls_ipc.c */
void drive_semaphores(void);
void drive_notifications(void);
void drive_namespaces(void);
