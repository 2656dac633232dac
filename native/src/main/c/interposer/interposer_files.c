/* What programs see of the device in the file system: the soft fabric's /dev/infiniband/uverbs0 looks like a device,
 * for UCX asks stat and access about it, and /sys/class/infiniband like a directory, for Open MPI's openib asks stat;
 * a real one is seen as it is; opening a device there is refused, because a descriptor of a real device behind the
 * library's back cannot be checkpointed. The memory of who opens /dev/userfaultfd is left alone.
 *
 * Each function here does for every argument what the one behind it does, so that one is called first, and a path is
 * looked at only when the kernel has read it. Nothing here allocates or locks: these functions are async-signal-safe
 * (signal-safety(7)). */
#include "interposer.h"
#include "agent-client/control.h"
#include "real-device/real_library.h"
#include "soft-fabric/soft_config.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define FOLDER "/dev/infiniband/"
#define FAULTS "/dev/userfaultfd"
#define UVERBS_MAJOR 231 /* Documentation/admin-guide/devices.txt */
#define UVERBS_MINOR 192

extern int __xstat(int version, const char *path, struct stat *status);
extern int __xstat64(int version, const char *path, struct stat64 *status);
extern int __lxstat(int version, const char *path, struct stat *status);
extern int __lxstat64(int version, const char *path, struct stat64 *status);

/* What open(2) becomes in programs that were built with _FORTIFY_SOURCE, when the flags are not known there. */
extern int __open_2(const char *path, int flags), __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags), __openat64_2(int folder, const char *path, int flags);

#define NEW_FUNCTIONS(X) \
    X(stat) \
    X(stat64) \
    X(lstat) \
    X(lstat64) \
    X(access) \
    X(open) \
    X(open64) \
    X(openat) \
    X(openat64) \
    X(__open_2) \
    X(__open64_2) \
    X(__openat_2) \
    X(__openat64_2)
/* Functions that only programs built before glibc 2.33 call. */
#define OLD_FUNCTIONS(X) X(__xstat) X(__xstat64) X(__lxstat) X(__lxstat64)

/* The next definition of each function in the search order. */
#define X(function) __typeof__(function) *function;
static struct {
    NEW_FUNCTIONS(X)
    OLD_FUNCTIONS(X)
} next;
#undef X

/* Functions that need a version to be found are not looked up without one: a failure would show in the program's
 * dlerror(3). stat(2) and its kin are not in the C library before 2.33, and no program calls them there. */
static void find_next(void)
{
    void *found;
#define X(function) \
    found = dlsym(RTLD_NEXT, #function); \
    if (!found) \
        dlerror(); \
    __atomic_store_n((void **)&next.function, found, __ATOMIC_RELEASE);
    NEW_FUNCTIONS(X)
#undef X
#define X(function) \
    found = dlvsym(RTLD_NEXT, #function, "GLIBC_2.2.5"); \
    __atomic_store_n((void **)&next.function, found, __ATOMIC_RELEASE);
    OLD_FUNCTIONS(X)
#undef X
}

/* Before anybody is likely to call in a signal handler: dlsym(3) takes a lock. */
__attribute__((constructor)) static void find_next_early(void)
{
    int error = errno;
    find_next();
    errno = error;
}

/* Another library's constructor may run before ours. */
#define NEXT(function) \
    ({ \
        __typeof__(function) *found_ = __atomic_load_n(&next.function, __ATOMIC_ACQUIRE); \
        if (__builtin_expect(!found_, 0)) { \
            find_next_early(); \
            found_ = __atomic_load_n(&next.function, __ATOMIC_ACQUIRE); \
        } \
        found_; \
    })

/* Whether a call that ended so has read its path to the end: other errors may have been found before, or are that it
 * cannot be read. */
static int has_read(int result)
{
    return result >= 0 || errno == ENOENT || errno == EACCES || errno == ENOTDIR;
}

/* Whether a path, which the kernel has read already, is a device of the soft fabric. */
static int is_device(const char *path)
{
    if (strncmp(path, FOLDER "uverbs", sizeof FOLDER "uverbs" - 1) || !top_is_soft())
        return 0;
    const char *digit = path + sizeof FOLDER "uverbs" - 1;
    return *digit >= '0' && *digit <= '9' && !digit[1] && (unsigned)(*digit - '0') < soft_devices();
}

/* What `path` looks like though it need not be there, or 0. @param result of the same call without us */
static mode_t pretended(const char *path, int result)
{
    static const char class[] = "/sys/class/infiniband";
    if (!has_read(result))
        return 0;
    if (is_device(path))
        return S_IFCHR | 0666;
    return !strcmp(path, class) && top_is_soft() ? S_IFDIR | 0555 : 0;
}

#define LOOKS_LIKE(mode, status) \
    do { \
        memset((status), 0, sizeof *(status)); \
        (status)->st_mode = (mode); \
        (status)->st_nlink = 1; \
        (status)->st_blksize = 4096; \
        if (S_ISCHR(mode)) \
            (status)->st_rdev = makedev(UVERBS_MAJOR, UVERBS_MINOR); \
    } while (0)

/* Where the kernel had nothing to tell, it is asked for what is always there: that is how a bad address becomes
 * EFAULT. */
#define TELL(name, status, ...) \
    int before = errno, result = NEXT(name)(__VA_ARGS__ path, status); \
    mode_t mode = pretended(path, result); \
    if (__builtin_expect(!mode, 1)) \
        return result; \
    if (result && NEXT(name)(__VA_ARGS__ "/", status)) \
        return -1; \
    LOOKS_LIKE(mode, status); \
    errno = before; \
    return 0;

#define STAT(name, type) \
    EXPORT int name(const char *path, struct type *status) \
    { \
        TELL(name, status) \
    }

#define XSTAT(name, type) \
    EXPORT int name(int version, const char *path, struct type *status) \
    { \
        TELL(name, status, version, ) \
    }

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)

EXPORT int access(const char *path, int mode)
{
    int before = errno, result = NEXT(access)(path, mode);
    mode_t look = pretended(path, result);
    if (__builtin_expect(!look, 1))
        return result;
    int refused = mode & (S_ISDIR(look) ? W_OK : X_OK);
    errno = refused ? EACCES : before;
    return refused ? -1 : 0;
}

static void say_refused(const char *path)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    static const char first[] = "udckpt: open of ";
    static const char last[] = " is not supported: a device opened behind the library cannot be checkpointed; "
                               "use ibv_open_device\n";
    struct iovec text[] = {
        {(void *)first, sizeof first - 1}, {(void *)path, strlen(path)}, {(void *)last, sizeof last - 1}};
    if (!atomic_flag_test_and_set(&said) && writev(STDERR_FILENO, text, 3) < 0)
        return; /* the program has closed its standard error, and hears by errno alone */
}

/* A device is not opened: a real one is closed again, and the one that only looks real is refused by the same words.
 * What does not exist at all may be asked for (UCX probes rdma_cm), and the kernel says so. */
static int opened(const char *path, int fd)
{
    int error = errno;
    struct stat status;
    if (real_inside || !has_read(fd) || __builtin_expect(strncmp(path, "/dev/", 5), 1))
        return fd;
    if (fd >= 0 && !strcmp(path, FAULTS))
        control_leave_memory();
    if (strncmp(path, FOLDER, sizeof FOLDER - 1))
        return fd;
    if (fd < 0 ? !is_device(path) : fstat(fd, &status) || !S_ISCHR(status.st_mode)) {
        errno = error;
        return fd;
    }
    if (fd >= 0)
        syscall(SYS_close, fd); /* close(2) may end a thread, and leave the descriptor */
    say_refused(path);
    errno = ENODEV;
    return -1;
}

static mode_t mode_of(int flags, va_list rest)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name) \
    EXPORT int name(const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return opened(path, NEXT(name)(path, flags, mode)); \
    }

#define OPENAT(name) \
    EXPORT int name(int folder, const char *path, int flags, ...) \
    { \
        va_list rest; \
        va_start(rest, flags); \
        mode_t mode = mode_of(flags, rest); \
        va_end(rest); \
        return opened(path, NEXT(name)(folder, path, flags, mode)); \
    }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

#define CHECKED_OPEN(name) \
    EXPORT int name(const char *path, int flags) \
    { \
        return opened(path, NEXT(name)(path, flags)); \
    }

#define CHECKED_OPENAT(name) \
    EXPORT int name(int folder, const char *path, int flags) \
    { \
        return opened(path, NEXT(name)(folder, path, flags)); \
    }

CHECKED_OPEN(__open_2)
CHECKED_OPEN(__open64_2)
CHECKED_OPENAT(__openat_2)
CHECKED_OPENAT(__openat64_2)
