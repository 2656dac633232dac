/* The file from which the shepherd starts a rank: nothing is started. */
#include "fuzz.h"
#include "../../main/c/shepherd/shepherd_spawn.c"

#include <sys/mman.h>

void agent_say(const char *format, ...)
{
}
int children_roots(void)
{
    return 0;
}
void child_add(pid_t pid, pid_t host_pid, bool stub)
{
}
pid_t host_pid_of_self(void)
{
    return getpid();
}
void inherit_signals(void)
{
}
int inherit_limits(void)
{
    return 0;
}
int pmi_open(int rank, const char *path)
{
    return -1;
}
void pmi_taken(int fd)
{
}

static size_t length_of(char **texts)
{
    size_t length = 0;
    for (; *texts; texts++)
        length += strlen(*texts);
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[32];
    struct spec spec = {0};
    int fd = memfd_create("specification", 0);
    NEED(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (spec_read(&spec, path) == 0)
        NEED(length_of(spec.arguments) + length_of(spec.environment) + strlen(spec.directory) < 2 * size + 64);
    spec_free(&spec);
    close(fd);
    return 0;
}
