/* Counts what a program has submitted to its contexts of asynchronous I/O (io_submit(2)): together with a context's
 * ring that tells a checkpoint what is in flight, which the kernel shows to nobody (docs/internals/kinds.md). Programs
 * make these calls by syscall(3) (interposer_syscall.c), or by libaio, which makes its system calls itself. */
#include "interposer_loader.h"
#include "common/system_calls.h"
#include "udckpt_layout.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

EXPORT struct udckpt_aio_notes udckpt_aio_notes;

static struct udckpt_aio_note *place(unsigned i)
{
    return (struct udckpt_aio_note *)udckpt_aio_notes.entries + i;
}

static void forget(uint64_t context)
{
    for (unsigned i = 0; i < UDCKPT_AIO_NOTES; i++) {
        uint64_t there = context;
        __atomic_compare_exchange_n(&place(i)->context, &there, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

/* A new context may have the address of one that went with a parent (fork(2)), or that an unseen call has destroyed. */
static void note(uint64_t context)
{
    forget(context);
    for (unsigned i = 0; i < UDCKPT_AIO_NOTES; i++) {
        uint64_t there = 0;
        if (__atomic_compare_exchange_n(&place(i)->context, &there, UDCKPT_AIO_BEING_MADE, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED)) {
            place(i)->submitted = 0;
            place(i)->pid = (uint64_t)getpid();
            __atomic_store_n(&place(i)->context, context, __ATOMIC_RELEASE);
            return;
        }
    }
}

static void count(uint64_t context, uint64_t submitted)
{
    for (unsigned i = 0; i < UDCKPT_AIO_NOTES; i++)
        if (__atomic_load_n(&place(i)->context, __ATOMIC_ACQUIRE) == context)
            __atomic_add_fetch(&place(i)->submitted, submitted, __ATOMIC_SEQ_CST);
}

static long set_up(long most, long context)
{
    __atomic_add_fetch(&udckpt_aio_notes.making, 1, __ATOMIC_SEQ_CST);
    long result = system_call(SYS_io_setup, most, context, 0, 0, 0, 0);
    if (result == 0) {
        uint64_t made;
        memcpy(&made, (const void *)context, sizeof made);
        note(made);
    }
    __atomic_sub_fetch(&udckpt_aio_notes.making, 1, __ATOMIC_SEQ_CST);
    return result;
}

/* Counted before: who looks in between sees too much in flight, and never too little. */
static long submit(long context, long count_given, long requests)
{
    uint64_t most = count_given > 0 ? (uint64_t)count_given : 0;
    count((uint64_t)context, most);
    long result = system_call(SYS_io_submit, context, count_given, requests, 0, 0, 0);
    uint64_t taken = result > 0 ? (uint64_t)result : 0;
    if (taken != most)
        count((uint64_t)context, taken - most);
    return result;
}

long interposer_aio_call(long number, long a, long b, long c)
{
    if (number == SYS_io_setup)
        return set_up(a, b);
    if (number == SYS_io_submit)
        return submit(a, b, c);
    long result = system_call(number, a, b, c, 0, 0, 0);
    if (result == 0)
        forget((uint64_t)a);
    return result;
}

/* libaio's functions return -errno, and leave errno alone. */
static int as_libaio(long number, long a, long b, long c)
{
    int before = errno;
    long result = interposer_aio_call(number, a, b, c);
    result = result < 0 ? -errno : result;
    errno = before;
    return (int)result;
}

/* The function of this name that the caller would get, when it is none of libaio's; such names are anybody's. What
 * libaio has for all is remembered: a program submits often. */
static void *another(const char *name, const void *caller)
{
    static char is_libaio;
    if (__atomic_load_n(&is_libaio, __ATOMIC_RELAXED))
        return NULL;
    void *real = interposer_next(name, caller);
    const struct link_map *map = real ? elf_object_of(real) : NULL;
    struct elf_object object = map ? elf_object(map) : (struct elf_object){0};
    if (!map || strncmp(elf_soname(&object), "libaio.so", strlen("libaio.so")))
        return real;
    if (loader_next()->dlsym(RTLD_NEXT, name) == real)
        __atomic_store_n(&is_libaio, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* With as many arguments as registers hold: nobody knows what another function of the name takes. */
#define TAKEN_OVER(name, number) \
    EXPORT long name(long a, long b, long c, long d, long e, long f) \
    { \
        long (*real)(long, long, long, long, long, long) = \
            (long (*)(long, long, long, long, long, long))another(#name, __builtin_return_address(0)); \
        return real ? real(a, b, c, d, e, f) : as_libaio(number, a, b, c); \
    }

TAKEN_OVER(io_setup, SYS_io_setup)
TAKEN_OVER(io_destroy, SYS_io_destroy)
TAKEN_OVER(io_submit, SYS_io_submit)

static void in_child(void)
{
    udckpt_aio_notes.making = 0;
}

__attribute__((constructor(101))) static void start(void)
{
    pthread_atfork(NULL, NULL, in_child);
}
