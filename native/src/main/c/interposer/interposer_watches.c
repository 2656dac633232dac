/* Notes the names of what a program watches (inotify_add_watch(2)). The kernel keeps only the files, and tells ordinary
 * users only their numbers: a checkpoint tries these names (docs/internals/kinds.md). */
#include "interposer.h"
#include "udckpt_layout.h"
#include <limits.h>
#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROOM = sizeof((struct udckpt_watched_names *)0)->text, RECENT = 256 };

EXPORT alignas(4096) struct udckpt_watched_names udckpt_watched_names; /* on pages of its own: read as one mapping */
/* Where the last name of each hash is, plus 1: a program that watches a file again and again notes it once. */
static uint32_t recent[RECENT];

static unsigned hash(const char *text)
{
    unsigned sum = 0;
    while (*text)
        sum = sum * 31 + (unsigned char)*text++;
    return sum % RECENT;
}

/* Whoever reads while a thread writes here sees the beginning of a name, and compares what that leads to. */
static void note(const char *path, size_t length)
{
    struct udckpt_watched_names *names = &udckpt_watched_names;
    uint32_t *known = &recent[hash(path)], at = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (at && !strcmp((const char *)names->text + at - 1, path))
        return;
    at = __atomic_load_n(&names->used, __ATOMIC_RELAXED);
    do {
        if (length + 1 > ROOM - at)
            return; /* it may still be found beside others; else the checkpoint is refused by the watch's number */
    } while (!__atomic_compare_exchange_n(&names->used, &at, at + (uint32_t)length + 1, 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    memcpy(names->text + at, path, length + 1);
    __atomic_store_n(known, at + 1, __ATOMIC_RELEASE);
}

/* A relative name is one of the directory in which the program is now. */
static void note_absolute(const char *path)
{
    char whole[PATH_MAX];
    size_t length = strnlen(path, PATH_MAX);
    long above = *path == '/' ? 0 : syscall(SYS_getcwd, whole, sizeof whole); /* with its NUL */
    if (above < 0 || length == 0 || (size_t)above + length >= sizeof whole)
        return;
    if (above)
        whole[above - 1] = '/';
    memcpy(whole + above, path, length);
    whole[(size_t)above + length] = 0;
    note(whole, (size_t)above + length);
}

/* The name is looked at when the kernel has taken it: before, it may be no memory at all. */
EXPORT int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
    int watch = (int)syscall(SYS_inotify_add_watch, fd, path, mask), error = errno;
    if (watch >= 0)
        note_absolute(path);
    errno = error;
    return watch;
}
