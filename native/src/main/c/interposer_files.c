/* What programs see of the device in the file system: the soft fabric's /dev/infiniband/uverbs0 looks like a device,
 * for UCX asks stat and access about it, and /sys/class/infiniband like a directory, for Open MPI's openib asks stat; a real one is seen as it is; opening anything there is refused, because a descriptor of a
 * real device behind the library's back cannot be checkpointed. */
#include "interposer.h"
#include "real_library.h"
#include "soft_config.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define FOLDER "/dev/infiniband/"
#define UVERBS_MAJOR 231 /* Documentation/admin-guide/devices.txt */
#define UVERBS_MINOR 192

static int is_device(const char *path)
{
    if (!path || strncmp(path, FOLDER "uverbs", sizeof FOLDER "uverbs" - 1) || !top_device() || lower_device != &soft_device)
        return 0;
    const struct soft_config *config = soft_config();
    const char *digit = path + sizeof FOLDER "uverbs" - 1;
    return config && *digit >= '0' && (unsigned)(*digit - '0') < config->devices && !digit[1];
}

/* What `path` looks like though it need not be there, or 0. */
static mode_t pretended(const char *path)
{
    static const char class[] = "/sys/class/infiniband";
    if (is_device(path))
        return S_IFCHR | 0666;
    return path && !strcmp(path, class) && top_device() && lower_device == &soft_device ? S_IFDIR | 0555 : 0;
}

/* A real device, or the one that only looks real; what does not exist at all may be asked for (UCX
 * probes rdma_cm), and the kernel says so. */
static int is_behind(const char *path)
{
    if (real_inside || !path || strncmp(path, FOLDER, sizeof FOLDER - 1))
        return 0;
    return is_device(path) || !faccessat(AT_FDCWD, path, F_OK, 0);
}

static int refuse_open(const char *path)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        fprintf(stderr, "udckpt: open of %s is not supported: a device opened behind the library cannot be checkpointed; use ibv_open_device\n",
                path);
    errno = ENODEV;
    return -1;
}

/* The next definition of a function in the search order, found once. */
#define NEXT(function)                                                                                  \
    ({                                                                                                  \
        static __typeof__(&function) next;                                                              \
        __typeof__(&function) found = __atomic_load_n(&next, __ATOMIC_ACQUIRE);                         \
        if (!found) {                                                                                   \
            found = (__typeof__(&function)) dlsym(RTLD_NEXT, #function);                                \
            if (!found) /* dlsym passes by what glibc keeps for old programs only */                    \
                found = (__typeof__(&function)) dlvsym(RTLD_NEXT, #function, "GLIBC_2.2.5");            \
            __atomic_store_n(&next, found, __ATOMIC_RELEASE);                                           \
        }                                                                                               \
        found;                                                                                          \
    })

#define LOOKS_LIKE(mode, status)                                                                        \
    do {                                                                                                \
        memset((status), 0, sizeof *(status));                                                          \
        (status)->st_mode = (mode);                                                                     \
        (status)->st_nlink = 1;                                                                         \
        (status)->st_blksize = 4096;                                                                    \
        if (S_ISCHR(mode))                                                                              \
            (status)->st_rdev = makedev(UVERBS_MAJOR, UVERBS_MINOR);                                    \
    } while (0)

#define STAT(name, type)                                                                                \
    EXPORT int name(const char *path, struct type *status)                                              \
    {                                                                                                   \
        mode_t mode = pretended(path);                                                                  \
        if (!mode)                                                                                      \
            return NEXT(name)(path, status);                                                            \
        LOOKS_LIKE(mode, status);                                                                       \
        return 0;                                                                                       \
    }

#define XSTAT(name, type)                                                                               \
    EXPORT int name(int version, const char *path, struct type *status)                                 \
    {                                                                                                   \
        mode_t mode = pretended(path);                                                                  \
        if (!mode)                                                                                      \
            return NEXT(name)(version, path, status);                                                   \
        LOOKS_LIKE(mode, status);                                                                       \
        return 0;                                                                                       \
    }

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
XSTAT(__xstat, stat) /* programs built before glibc 2.33 */
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)

EXPORT int access(const char *path, int mode)
{
    mode_t look = pretended(path);
    if (!look)
        return NEXT(access)(path, mode);
    if (!(mode & (S_ISDIR(look) ? W_OK : X_OK)))
        return 0;
    errno = EACCES;
    return -1;
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                                      \
    EXPORT int name(const char *path, int flags, ...)                                                   \
    {                                                                                                   \
        va_list rest;                                                                                   \
        va_start(rest, flags);                                                                          \
        mode_t mode = mode_of(flags, rest);                                                             \
        va_end(rest);                                                                                   \
        if (is_behind(path))                                                                            \
            return refuse_open(path);                                                                   \
        return NEXT(name)(path, flags, mode);                         \
    }

#define OPENAT(name)                                                                                    \
    EXPORT int name(int folder, const char *path, int flags, ...)                                       \
    {                                                                                                   \
        va_list rest;                                                                                   \
        va_start(rest, flags);                                                                          \
        mode_t mode = mode_of(flags, rest);                                                             \
        va_end(rest);                                                                                   \
        if (is_behind(path))                                                                            \
            return refuse_open(path);                                                                   \
        return NEXT(name)(folder, path, flags, mode);            \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
