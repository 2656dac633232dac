/* Notes which descriptors a program has registered with its io_urings: the kernel shows a registered file by its path
 * only, which does not say which open file it is. */
#include "interposer_rings.h"
#include "common/system_calls.h"
#include <stdbool.h>
#include <sys/mman.h>

enum { SKIP = -2 /* IORING_REGISTER_FILES_SKIP */ };

static size_t bytes(const struct udckpt_ring_note *note)
{
    return (size_t)note->file_count * sizeof(uint32_t);
}

void ring_forget_files(struct udckpt_ring_note *note)
{
    if (note->files)
        system_call(SYS_munmap, (long)note->files, (long)bytes(note), 0, 0, 0, 0);
    note->files = note->file_count = 0;
}

/* files: NULL: places without a file. */
static void put(struct udckpt_ring_note *note, unsigned first, const int32_t *files, unsigned count)
{
    uint32_t *known = (uint32_t *)note->files;
    for (unsigned i = 0; known && i < count && first + i < note->file_count; i++)
        if (!files || files[i] != SKIP)
            known[first + i] = files ? (uint32_t)files[i] + 1 : 0;
}

/* Without memory nothing is known of its files, and a checkpoint says so. */
static void make(struct udckpt_ring_note *note, const int32_t *files, unsigned count)
{
    ring_forget_files(note);
    note->file_count = count;
    long memory =
        system_call(SYS_mmap, 0, (long)bytes(note), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    note->files = memory == -1 ? 0 : (uint64_t)memory;
    put(note, 0, files, count);
}

/* A tag is posted as a completion when its file goes, of which a restart does not know. */
static void refuse_tags(struct udckpt_ring_note *note, unsigned operation, const uint64_t *tags, unsigned count)
{
    for (unsigned i = 0; tags && i < count; i++)
        if (tags[i])
            __atomic_fetch_or(&note->registered, 1ULL << operation, __ATOMIC_RELEASE);
}

static void own(struct udckpt_ring_note *note, const struct io_uring_rsrc_update *registration)
{
    uint32_t thread = (uint32_t)system_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
    if (note->thread && note->thread != thread) /* of several threads: refused */
        __atomic_fetch_or(&note->registered, 1ULL << IORING_REGISTER_RING_FDS, __ATOMIC_RELEASE);
    note->slot = registration->offset;
    note->thread = thread;
}

int ring_files_registered(struct udckpt_ring_note *note, unsigned operation, const void *argument, unsigned count)
{
    const struct io_uring_rsrc_register *made = argument;
    const struct io_uring_rsrc_update2 *changed = argument;
    switch (operation) {
    case IORING_REGISTER_FILES:
        make(note, argument, count);
        return 1;
    case IORING_REGISTER_FILES2:
        make(note, (const int32_t *)made->data, made->nr);
        refuse_tags(note, operation, (const uint64_t *)made->tags, made->nr);
        return 1;
    case IORING_REGISTER_FILES_UPDATE: /* struct io_uring_files_update, which is the other one's first half */
    case IORING_REGISTER_FILES_UPDATE2:
        put(note, changed->offset, (const int32_t *)changed->data, count);
        if (operation == IORING_REGISTER_FILES_UPDATE2)
            refuse_tags(note, operation, (const uint64_t *)changed->tags, count);
        return 1;
    case IORING_UNREGISTER_FILES:
        ring_forget_files(note);
        return 1;
    case IORING_REGISTER_RING_FDS:
        if (count != 1) /* several rings by one call: refused */
            return 0;
        own(note, argument);
        return 1;
    case IORING_UNREGISTER_RING_FDS:
        note->thread = 0;
        return 1;
    default:
        return 0;
    }
}

EXPORT int io_uring_register_files(void *ring, const int *files, unsigned count)
{
    REAL("io_uring_register_files", void *, const int *, unsigned);
    return ring_noted(real(ring, files, count), ring, IORING_REGISTER_FILES, files, count);
}

EXPORT int io_uring_register_files_sparse(void *ring, unsigned count)
{
    REAL("io_uring_register_files_sparse", void *, unsigned);
    struct io_uring_rsrc_register with = {.nr = count};
    return ring_noted(real(ring, count), ring, IORING_REGISTER_FILES2, &with, 1);
}

EXPORT int io_uring_register_files_tags(void *ring, const int *files, const __u64 *tags, unsigned count)
{
    REAL("io_uring_register_files_tags", void *, const int *, const __u64 *, unsigned);
    struct io_uring_rsrc_register with = {.nr = count, .data = (__u64)files, .tags = (__u64)tags};
    return ring_noted(real(ring, files, tags, count), ring, IORING_REGISTER_FILES2, &with, 1);
}

EXPORT int io_uring_register_files_update(void *ring, unsigned first, const int *files, unsigned count)
{
    REAL("io_uring_register_files_update", void *, unsigned, const int *, unsigned);
    struct io_uring_rsrc_update2 with = {.offset = first, .data = (__u64)files};
    return ring_noted(real(ring, first, files, count), ring, IORING_REGISTER_FILES_UPDATE, &with, count);
}

EXPORT int io_uring_register_files_update_tag(void *ring, unsigned first, const int *files, const __u64 *tags,
                                              unsigned count)
{
    REAL("io_uring_register_files_update_tag", void *, unsigned, const int *, const __u64 *, unsigned);
    struct io_uring_rsrc_update2 with = {.offset = first, .data = (__u64)files, .tags = (__u64)tags};
    return ring_noted(real(ring, first, files, tags, count), ring, IORING_REGISTER_FILES_UPDATE2, &with, count);
}

EXPORT int io_uring_unregister_files(void *ring)
{
    REAL("io_uring_unregister_files", void *);
    return ring_noted(real(ring), ring, IORING_UNREGISTER_FILES, NULL, 0);
}

EXPORT int io_uring_register_ring_fd(void *ring)
{
    REAL("io_uring_register_ring_fd", void *);
    int result = real(ring);
    struct io_uring_rsrc_update with = {.offset = ring_word(ring, LIBURING_REGISTRATION)};
    return ring_noted(result, ring, IORING_REGISTER_RING_FDS, &with, 1);
}

EXPORT int io_uring_unregister_ring_fd(void *ring)
{
    REAL("io_uring_unregister_ring_fd", void *);
    return ring_noted(real(ring), ring, IORING_UNREGISTER_RING_FDS, NULL, 1);
}
