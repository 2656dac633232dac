/* UCX 1.13 reads the time stamp counter for its timeouts and gives up connections when time jumps over a restart
 * ("unhandled timeout"). Two steps keep its time even:
 *  - the data symbol ucs_arch_x86_enable_rdtsc, which libucs finds here first, is UCS_NO: it then asks gettimeofday
 *    (UCX 1.13, src/ucs/arch/x86_64/cpu.h);
 *  - gettimeofday leaves out the time that the job was down, for callers inside UCX's libraries only. From then on it
 *    also leaves out the time in which the process stood still: a debugger may have stopped it for hours. */
#define _GNU_SOURCE
#include "clock.h"
#include "system_calls.h"
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int ucs_arch_x86_enable_rdtsc = 0;

enum { MAX_RANGES = 32 };
static struct {
    uintptr_t start, end;
} ranges[MAX_RANGES];
static int range_count;
static uint64_t downtime_ns;
static uint64_t shown_ns; /* the last time that UCX saw */

/* UCX reads the clock many times a second, also in a thread of its own. If it has not for so long, the process was
 * stopped. */
#define STANDSTILL_NS 5000000000ull

static int is_ucx(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    return !strncmp(name, "libucs", 6) || !strncmp(name, "libuct", 6) || !strncmp(name, "libucp", 6) ||
           !strncmp(name, "libucm", 6);
}

static int add_library(struct dl_phdr_info *info, size_t size, void *count)
{
    int *next = count;
    if (!info->dlpi_name || !is_ucx(info->dlpi_name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum && *next < MAX_RANGES; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        ranges[*next].start = info->dlpi_addr + segment->p_vaddr;
        ranges[*next].end = ranges[*next].start + segment->p_memsz;
        ++*next;
    }
    return 0;
}

void clock_add_downtime(uint64_t nanoseconds)
{
    int count = 0;
    dl_iterate_phdr(add_library, &count);
    __atomic_store_n(&range_count, count, __ATOMIC_RELEASE);
    /* else the downtime is a standstill like others, and may have been noticed already */
    if (!__atomic_load_n(&shown_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&downtime_ns, downtime_ns + nanoseconds, __ATOMIC_RELEASE);
}

/* The time for UCX, without what it must not see. Whoever notices a standstill first takes it off for all. down:
 * downtime_ns of when the clock was read, for a thread that was stopped since must not take off of its old time what
 * others have found meanwhile. */
static uint64_t even_time(uint64_t now, uint64_t down)
{
    uint64_t last = __atomic_load_n(&shown_ns, __ATOMIC_RELAXED);
    while (last && now - down > last && now - down - last > STANDSTILL_NS)
        if (__atomic_compare_exchange_n(&downtime_ns, &down, now - last, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            down = now - last;
    uint64_t even = now - down;
    while (even > last && !__atomic_compare_exchange_n(&shown_ns, &last, even, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return even;
}

static int inside_ucx(uintptr_t caller)
{
    int count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
    for (int i = 0; i < count; i++)
        if (caller >= ranges[i].start && caller < ranges[i].end)
            return 1;
    return 0;
}

/* What the vDSO's gives: the kernel's, into memory that is written here as it is there. */
static __attribute__((noinline, cold)) void tell_zone(struct timezone *zone)
{
    struct timezone kernel = {0};
    int error = errno;
    system_call(SYS_gettimeofday, 0, (long)&kernel, 0, 0, 0, 0);
    errno = error;
    *zone = kernel;
}

__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
    struct timespec now;
    uint64_t down;
    do { /* both of one incarnation */
        down = __atomic_load_n(&downtime_ns, __ATOMIC_ACQUIRE);
        clock_gettime(CLOCK_REALTIME, &now);
    } while (__builtin_expect(__atomic_load_n(&downtime_ns, __ATOMIC_ACQUIRE) != down, 0));
    if (__builtin_expect(down != 0, 0) && inside_ucx((uintptr_t)__builtin_return_address(0))) {
        uint64_t nanoseconds = even_time(now.tv_sec * 1000000000ull + now.tv_nsec, down);
        now.tv_sec = nanoseconds / 1000000000;
        now.tv_nsec = nanoseconds % 1000000000;
    }
    __asm__("" : "+r"(tv)); /* <sys/time.h> says that it is never NULL, but the C library's takes it */
    if (__builtin_expect(tv != NULL, 1)) {
        tv->tv_sec = now.tv_sec;
        tv->tv_usec = now.tv_nsec / 1000;
    }
    if (__builtin_expect(zone != NULL, 0))
        tell_zone(zone);
    return 0;
}
