/* A plugin with functions of its own whose names libudckpt.so takes over from libaio and liburing. */
#include <stdlib.h>
#include <string.h>

int io_setup(int first, const char *second)
{
    return first + (int)strlen(second);
}

long io_submit(long a, long b, long c, long d, long e, long f)
{
    return a + 10 * b + 100 * c + 1000 * d + 10000 * e + 100000 * f;
}

int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    return ring ? -(int)(entries + flags) : -1;
}

/* By the linker's table, as functions of a library are called. */
long plugin_sum(void)
{
    return io_setup(1, "two") + io_submit(1, 2, 3, 4, 5, 6) + io_uring_queue_init(7, malloc(256), 8);
}
