#define _GNU_SOURCE
#include "shared_file.h"
#include "common/system_calls.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* The same place when the new file fits there (a restored process has a hole where the old one was),
 * else any other: nothing but this library's own pointers knows the address. */
static void *map(const struct shared_file *old, int fd, size_t bytes, int protection)
{
    if (old->start && bytes <= old->size)
        return mmap(old->start, bytes, protection, MAP_SHARED | MAP_FIXED, fd, 0);
    return mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
}

int shared_file_map(struct shared_file *file, const char *directory, const char *name, int writable, char *error,
                    size_t size)
{
    char path[256];
    struct stat status = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    int fd = system_open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW, 0);
    void *start = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_uid && status.st_uid != geteuid())
        errno = EACCES; /* whoever it belongs to could change it at any time */
    else if (fd >= 0 && status.st_size >= PAGE)
        start = map(file, fd, status.st_size, writable ? PROT_READ | PROT_WRITE : PROT_READ);
    int saved = errno;
    if (fd >= 0)
        close(fd);
    if (start == MAP_FAILED) {
        snprintf(error, size, "%s: %s", path,
                 fd >= 0 && status.st_size < PAGE ? "shorter than its header" : strerror(saved));
        return -1;
    }
    file->start = start;
    file->size = status.st_size;
    return 0;
}

int shared_file_range(const struct shared_file *file, struct udckpt_owned_range *range)
{
    if (!file->start)
        return 0;
    range->start = (uintptr_t)file->start;
    range->end = range->start + ((file->size + PAGE - 1) & ~(size_t)(PAGE - 1));
    return 1;
}
