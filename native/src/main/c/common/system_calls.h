/* System calls of the library itself, past the functions of the C library that it takes over for the job (open, access,
 * eventfd, syscall): those look at what programs ask for, and are on a floor above. */
#pragma once
#include "common/raw_call.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As syscall(3); arguments that a call does not have are 0. */
static inline long system_call(long number, long a, long b, long c, long d, long e, long f)
{
    long result = raw_call(number, a, b, c, d, e, f);
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

static inline int system_open(const char *path, int flags, mode_t mode)
{
    return (int)system_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

static inline int system_access(const char *path, int mode)
{
    return (int)system_call(SYS_faccessat, AT_FDCWD, (long)path, mode, 0, 0, 0);
}

static inline int system_eventfd(unsigned count, int flags)
{
    return (int)system_call(SYS_eventfd2, count, flags, 0, 0, 0, 0);
}
