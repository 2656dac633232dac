/* The command line of pid 1, which may be any program's: where a process looks for the agent of its incarnation. */
#include "fuzz.h"
#include "common/system_calls.h"
#include <sys/mman.h>
#include <unistd.h>

static int fuzz_open(const char *path, int flags, mode_t mode);
#define system_open fuzz_open
#include "../../main/c/agent-client/control_directory.c"
#undef system_open

static const uint8_t *text;
static size_t text_size;

static int fuzz_open(const char *path, int flags, mode_t mode)
{
    int fd = memfd_create("cmdline", 0);
    NEED(fd >= 0 && write(fd, text, text_size) == (ssize_t)text_size && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char directory[108];
    text = bytes;
    text_size = size;
    control_find_directory("/dev/shm/udckpt-0/job", directory, sizeof directory);
    NEED(memchr(directory, 0, sizeof directory));
    return 0;
}
