/* libc_calls: its output, and the arguments good and bad. */
#define _GNU_SOURCE
#include "libc_calls.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Lines, without stdio --- */

static char lines[4 << 20];
static size_t used;

void put(const char *text)
{
    size_t length = strlen(text);
    if (used + length < sizeof lines) {
        memcpy(lines + used, text, length);
        used += length;
    }
}

void put_number(long value)
{
    char digits[24], *at = digits + sizeof digits - 1;
    unsigned long rest = value < 0 ? -(unsigned long)value : (unsigned long)value;
    *at = 0;
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    put(at);
}

void show_lines(void)
{
    for (size_t at = 0; at < used;) {
        ssize_t n = write(1, lines + at, used - at);
        if (n <= 0)
            _exit(9);
        at += (size_t)n;
    }
    used = 0;
}

void end_line(void)
{
    put("\n");
}

/* --- Arguments --- */

struct path paths[MOST_PATHS];
int path_count;
struct path buffers[8];
int buffer_count;
static char long_path[2 * PATH_MAX], long_name[NAME_MAX + 20];
char folder[] = "/tmp/libc-calls-XXXXXX";
char file[sizeof folder + 2];
const char *context = "";
static size_t page;

void add_path(const char *name, const void *at)
{
    if (path_count == MOST_PATHS)
        _exit(8);
    paths[path_count++] = (struct path){name, at};
}

/* The text lies at the end of a page behind which there is nothing. */
const char *at_end(const char *text, int terminated)
{
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t length = strlen(text) + (terminated ? 1 : 0);
    if (pages == MAP_FAILED || munmap(pages + page, page))
        _exit(7);
    return memcpy(pages + page - length, text, length);
}

#define KERNEL ((void *)0xffff888000000000ul)
#define NOT_CANONICAL ((void *)0x8000000000000000ul)

void make_arguments(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    char *gone = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *shut = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *readable = mmap(NULL, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static char good[4096] __attribute__((aligned(64)));
    static char empty[1];
    if (gone == MAP_FAILED || munmap(gone, page) || !mkdtemp(folder))
        _exit(6);
    strcpy(file, folder);
    strcat(file, "/f");
    memset(long_path, '/', sizeof long_path - 1);
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[0] = '/';
    add_path("NULL", NULL);
    add_path("1", (void *)1);
    add_path("unmapped", gone);
    add_path("unreadable", shut);
    add_path("kernel", KERNEL);
    add_path("not canonical", NOT_CANONICAL);
    add_path("last byte", (void *)-1);
    add_path("/tmp at page end, not terminated", at_end("/tmp", 0));
    add_path("/dev/infini at page end, not terminated", at_end("/dev/infini", 0));
    add_path("/dev/infiniband/ at page end, not terminated", at_end("/dev/infiniband/", 0));
    add_path("/dev/infiniband/uverbs at page end, not terminated", at_end("/dev/infiniband/uverbs", 0));
    add_path("/dev/infiniband/uverbs0 at page end, not terminated", at_end("/dev/infiniband/uverbs0", 0));
    add_path("/sys/class/infiniband at page end, not terminated", at_end("/sys/class/infiniband", 0));
    add_path("/dev/infiniband/uverbs at page end", at_end("/dev/infiniband/uverbs", 1));
    add_path("/dev/infiniband/no-such-device", "/dev/infiniband/no-such-device");
    add_path("/ at page end", at_end("/", 1));
    add_path("empty", empty);
    add_path("empty at page end", at_end("", 1));
    add_path("/", "/");
    add_path("/dev/null", "/dev/null");
    add_path("/dev/null/x", "/dev/null/x");
    add_path("dev", "dev");
    add_path("/no/such", "/no/such");
    add_path("long path", long_path);
    add_path("long name", long_name);
    buffers[buffer_count++] = (struct path){"good", good};
    buffers[buffer_count++] = (struct path){"NULL", NULL};
    buffers[buffer_count++] = (struct path){"unmapped", gone};
    buffers[buffer_count++] = (struct path){"read-only", readable};
    buffers[buffer_count++] = (struct path){"kernel", KERNEL};
    buffers[buffer_count++] = (struct path){"page end", at_end("12345678", 1)};
}
