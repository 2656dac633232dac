/* System calls of the library itself, past the functions of the C library that it takes over for the job (open, access,
 * eventfd): those look at paths and flags of programs, and are on a floor above. */
#pragma once
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int system_open(const char *path, int flags, mode_t mode)
{
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static inline int system_access(const char *path, int mode)
{
    return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
}

static inline int system_eventfd(unsigned count, int flags)
{
    return (int)syscall(SYS_eventfd2, count, flags);
}
