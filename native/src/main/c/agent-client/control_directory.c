/* Where the agent of this incarnation is.
 *
 * A job's environment names the runtime directory of its first incarnation, and goes on doing so: shells and programs
 * keep copies of their environment that nobody can find and change. In a restored job, pid 1 of its pid namespace is
 * the shepherd, and its command line tells which directory stands for the one that the environment names:
 * "udckpt-shepherd SOCKET --restore OFFSET NAMED", where SOCKET lies in the new directory. Everybody may read a command
 * line (proc_pid_cmdline(5)), and no file has to be kept for it. A job that was started inside a restored one names a
 * directory of its own, and so is not led astray. */
#define _GNU_SOURCE
#include "control.h"
#include "common/system_calls.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { SHEPHERD, SOCKET, RESTORE, OFFSET, NAMED, ARGUMENTS };

static ssize_t read_command_line(char *text, size_t size)
{
    int fd = system_open("/proc/1/cmdline", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return -1; /* no /proc here: then this is no namespace of ours either, which has one */
    size_t used = 0;
    ssize_t got;
    while (used < size && ((got = read(fd, text + used, size - used)) > 0 || (got < 0 && errno == EINTR)))
        used += got > 0 ? got : 0;
    close(fd);
    return used;
}

/* Returns how many there are; at most ARGUMENTS are written. */
static int split(char *text, size_t used, const char **arguments)
{
    int count = 0;
    for (char *at = text; at < text + used; at += strlen(at) + 1, count++)
        if (count < ARGUMENTS)
            arguments[count] = at;
    return count;
}

static int is_restoring_shepherd(const char **arguments)
{
    const char *slash = strrchr(arguments[SHEPHERD], '/');
    return !strcmp(slash ? slash + 1 : arguments[SHEPHERD], "udckpt-shepherd") &&
           !strcmp(arguments[RESTORE], "--restore");
}

int control_find_directory(const char *named, char *directory, size_t size)
{
    char text[1024];
    const char *arguments[ARGUMENTS];
    ssize_t used = read_command_line(text, sizeof text - 1);
    strncpy(directory, named, size - 1);
    directory[size - 1] = 0;
    if (used <= 0)
        return 0;
    text[used] = 0;
    if (split(text, used, arguments) != ARGUMENTS || !is_restoring_shepherd(arguments) ||
        strcmp(arguments[NAMED], named))
        return 0;
    const char *end = strrchr(arguments[SOCKET], '/');
    size_t length = end ? (size_t)(end - arguments[SOCKET]) : 0;
    if (!length || length >= size)
        return 0;
    memcpy(directory, arguments[SOCKET], length);
    directory[length] = 0;
    return 1;
}
