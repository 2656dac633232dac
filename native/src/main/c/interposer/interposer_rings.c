/* Notes how a program has made its io_urings, which the kernel shows to nobody: a checkpoint reads it here
 * (docs/internals/kinds.md). Programs make them by syscall(3) (interposer_syscall.c), or by liburing, which makes its
 * system calls itself. */
#include "interposer_rings.h"
#include "common/system_calls.h"
#include "udckpt_layout.h"
#include <linux/io_uring.h>
#include <sys/stat.h>

/* Operations that leave nothing behind: they ask (IORING_REGISTER_PROBE, _SYNC_CANCEL, _PBUF_STATUS, _SEND_MSG_RING),
 * or take back (IORING_UNREGISTER_IOWQ_AFF, _RING_FDS, _PBUF_RING, _NAPI). */
#define WITHOUT_TRACE \
    (1ULL << 8 | 1ULL << 24 | 1ULL << 26 | 1ULL << 31 | 1ULL << 18 | 1ULL << 21 | 1ULL << 23 | 1ULL << 28)

EXPORT struct udckpt_ring_notes udckpt_ring_notes;

static struct udckpt_ring_note *place(unsigned i)
{
    return (struct udckpt_ring_note *)udckpt_ring_notes.entries + i;
}

static uint64_t inode(int fd)
{
    struct stat status;
    return fstat(fd, &status) ? 0 : status.st_ino;
}

/* A place for a ring that is about to be made: a free one, or that of a ring which its descriptor does not name now. */
static struct udckpt_ring_note *begin(void)
{
    for (int reuse = 0; reuse < 2; reuse++)
        for (unsigned i = 0; i < UDCKPT_RING_NOTES; i++) {
            uint64_t there = __atomic_load_n(&place(i)->inode, __ATOMIC_ACQUIRE);
            if (reuse ? there <= UDCKPT_RING_BEING_MADE || inode((int)place(i)->descriptor) == there : there != 0)
                continue;
            if (__atomic_compare_exchange_n(&place(i)->inode, &there, UDCKPT_RING_BEING_MADE, 0, __ATOMIC_ACQ_REL,
                                            __ATOMIC_ACQUIRE))
                return place(i);
        }
    udckpt_ring_notes.lost = 1;
    return NULL;
}

static void end(struct udckpt_ring_note *note, int fd, const struct io_uring_params *params)
{
    if (!note)
        return;
    if (fd < 0) {
        __atomic_store_n(&note->inode, 0, __ATOMIC_RELEASE);
        return;
    }
    note->registered = note->event_async = 0;
    note->event = note->thread = 0;
    ring_forget_files(note); /* of the ring that the place was for before */
    note->descriptor = (uint32_t)fd;
    note->flags = params->flags;
    note->processor = params->sq_thread_cpu;
    note->idle = params->sq_thread_idle;
    note->maker = (uint32_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    __atomic_store_n(&note->inode, inode(fd), __ATOMIC_RELEASE);
}

/* The note of a ring that is named by its descriptor, or by its registration of this thread. */
static struct udckpt_ring_note *note_of(int fd, int by_registration)
{
    uint64_t ring = by_registration ? 0 : inode(fd);
    uint32_t thread = by_registration ? (uint32_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0) : 0;
    for (unsigned i = 0; i < UDCKPT_RING_NOTES; i++) {
        uint64_t there = __atomic_load_n(&place(i)->inode, __ATOMIC_ACQUIRE);
        if (there <= UDCKPT_RING_BEING_MADE)
            continue;
        if (by_registration ? place(i)->thread == thread && place(i)->slot == (uint64_t)fd : there == ring)
            return place(i);
    }
    return NULL;
}

void ring_registered(int fd, unsigned operation, const void *argument, unsigned count)
{
    struct udckpt_ring_note *note = note_of(fd, (operation & IORING_REGISTER_USE_REGISTERED_RING) != 0);
    operation &= ~IORING_REGISTER_USE_REGISTERED_RING;
    if (!note || operation >= 64)
        return;
    if (ring_files_registered(note, operation, argument, count))
        return;
    if (operation == IORING_REGISTER_EVENTFD || operation == IORING_REGISTER_EVENTFD_ASYNC) {
        note->event = *(const uint32_t *)argument + 1;
        note->event_async = operation == IORING_REGISTER_EVENTFD_ASYNC;
    } else if (operation == IORING_UNREGISTER_EVENTFD) {
        note->event = 0;
    } else if (operation == IORING_REGISTER_ENABLE_RINGS) {
        note->maker = (uint32_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    }
    __atomic_fetch_or(&note->registered, 1ULL << operation & ~WITHOUT_TRACE, __ATOMIC_RELEASE);
}

long interposer_ring_call(long number, long a, long b, long c, long d)
{
    struct udckpt_ring_note *note = number == SYS_io_uring_setup ? begin() : NULL;
    int before = errno;
    long result = system_call(number, a, b, c, d, 0, 0);
    int error = result < 0 ? errno : before;
    if (number == SYS_io_uring_setup)
        end(note, (int)result, (const struct io_uring_params *)b);
    else if (result >= 0)
        ring_registered((int)a, (unsigned)b, (const void *)c, RING_CHANGED(b, result, d));
    errno = error;
    return result;
}

/* liburing may have added flags, which are in its ring. */
static int queue_made(struct udckpt_ring_note *note, int result, const void *ring, const struct io_uring_params *params)
{
    struct io_uring_params with = *params;
    if (!result)
        with.flags |= ring_word(ring, LIBURING_FLAGS);
    end(note, result ? -1 : (int)ring_word(ring, LIBURING_DESCRIPTOR), &with);
    return result;
}

EXPORT int io_uring_queue_init_params(unsigned entries, void *ring, struct io_uring_params *params)
{
    REAL("io_uring_queue_init_params", unsigned, void *, struct io_uring_params *);
    struct udckpt_ring_note *note = begin();
    return queue_made(note, real(entries, ring, params), ring, params);
}

EXPORT int io_uring_queue_init(unsigned entries, void *ring, unsigned flags)
{
    REAL("io_uring_queue_init", unsigned, void *, unsigned);
    struct udckpt_ring_note *note = begin();
    struct io_uring_params params = {.flags = flags};
    return queue_made(note, real(entries, ring, flags), ring, &params);
}

EXPORT int io_uring_queue_init_mem(unsigned entries, void *ring, struct io_uring_params *params, void *memory,
                                   size_t bytes)
{
    REAL("io_uring_queue_init_mem", unsigned, void *, struct io_uring_params *, void *, size_t);
    struct udckpt_ring_note *note = begin();
    return queue_made(note, real(entries, ring, params, memory, bytes), ring, params);
}

EXPORT int io_uring_setup(unsigned entries, struct io_uring_params *params)
{
    REAL("io_uring_setup", unsigned, struct io_uring_params *);
    struct udckpt_ring_note *note = begin();
    int fd = real(entries, params);
    end(note, fd, params);
    return fd;
}

EXPORT int io_uring_register(unsigned fd, unsigned operation, void *argument, unsigned count)
{
    REAL("io_uring_register", unsigned, unsigned, void *, unsigned);
    int result = real(fd, operation, argument, count);
    if (result >= 0)
        ring_registered((int)fd, operation, argument, RING_CHANGED(operation, result, count));
    return result;
}

int ring_noted(int result, const void *ring, unsigned operation, const void *argument, unsigned count)
{
    if (result >= 0)
        ring_registered((int)ring_word(ring, LIBURING_DESCRIPTOR), operation, argument,
                        RING_CHANGED(operation, result, count));
    return result;
}

EXPORT int io_uring_register_eventfd(void *ring, int event)
{
    REAL("io_uring_register_eventfd", void *, int);
    return ring_noted(real(ring, event), ring, IORING_REGISTER_EVENTFD, &event, 1);
}

EXPORT int io_uring_register_eventfd_async(void *ring, int event)
{
    REAL("io_uring_register_eventfd_async", void *, int);
    return ring_noted(real(ring, event), ring, IORING_REGISTER_EVENTFD_ASYNC, &event, 1);
}

/* The functions of liburing that take nothing but a ring. */
#define NOTED(function, operation) \
    EXPORT int function(void *ring) \
    { \
        REAL(#function, void *); \
        return ring_noted(real(ring), ring, operation, NULL, 1); \
    }

NOTED(io_uring_unregister_eventfd, IORING_UNREGISTER_EVENTFD)
NOTED(io_uring_enable_rings, IORING_REGISTER_ENABLE_RINGS)

EXPORT int io_uring_register_restrictions(void *ring, void *restrictions, unsigned count)
{
    REAL("io_uring_register_restrictions", void *, void *, unsigned);
    return ring_noted(real(ring, restrictions, count), ring, IORING_REGISTER_RESTRICTIONS, NULL, 1);
}

EXPORT int io_uring_register_iowq_aff(void *ring, size_t bytes, const void *mask)
{
    REAL("io_uring_register_iowq_aff", void *, size_t, const void *);
    return ring_noted(real(ring, bytes, mask), ring, IORING_REGISTER_IOWQ_AFF, NULL, 1);
}

EXPORT int io_uring_register_iowq_max_workers(void *ring, unsigned *most)
{
    REAL("io_uring_register_iowq_max_workers", void *, unsigned *);
    return ring_noted(real(ring, most), ring, IORING_REGISTER_IOWQ_MAX_WORKERS, NULL, 1);
}

EXPORT int io_uring_register_buf_ring(void *ring, void *registration, unsigned flags)
{
    REAL("io_uring_register_buf_ring", void *, void *, unsigned);
    return ring_noted(real(ring, registration, flags), ring, IORING_REGISTER_PBUF_RING, NULL, 1);
}

EXPORT void *io_uring_setup_buf_ring(void *ring, unsigned entries, int group, unsigned flags, int *error)
{
    void *(*real)(void *, unsigned, int, unsigned, int *) =
        (void *(*)(void *, unsigned, int, unsigned, int *))interposer_next("io_uring_setup_buf_ring",
                                                                           __builtin_return_address(0));
    void *made = real ? real(ring, entries, group, flags, error) : NULL;
    if (!real)
        *error = -ENOSYS;
    ring_noted(made ? 0 : -1, ring, IORING_REGISTER_PBUF_RING, NULL, 1);
    return made;
}
