/* What a snapshot does: it writes its own memory to the image. The bytes are looked at where they are, and pass the
 * processor once, instead of first being copied to the agent through /proc/PID/mem.
 *
 * The capture starts udckpt_snapshot_writer_2 in a snapshot that stands still (SnapshotWriter.java): one thread, all
 * signals blocked, no descriptors but those that it is given, a stack of its own. Nothing here takes a lock or memory
 * of the C library, whose state is that of a process stopped anywhere. It ends by being killed. */
#include <stddef.h>

/* A program may have a memcpy of its own, which does more than copy (a sanitizer's): what is compiled here calls ours.
 */
void *memcpy(void *to, const void *from, size_t length) __asm__("udckpt_snapshot_copy");

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/raw_call.h"
#include "snapshot_tag.h"
#include "udckpt_layout.h"

#include <openssl/sha.h>

#include <cpuid.h>
#include <errno.h>
#include <linux/futex.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* So much is hashed, and then written, that it is still in the processor's second-level cache. */
enum { PAGE = 4096, PIECE = 32 * PAGE };

/* Of most pages one word is read, which is in no cache, and neither is its translation: so many bytes ahead they
 * are asked for. */
enum { AHEAD = 8 * PAGE };

__attribute__((visibility("hidden"))) void *memcpy(void *to, const void *from, size_t length)
{
    void *result = to;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
    return result;
}

static const struct udckpt_snapshot_run *runs_of(const struct udckpt_snapshot_order *order)
{
    return (const struct udckpt_snapshot_run *)((const char *)order + UDCKPT_ORDER_RUNS);
}

static int is_zero(const uint64_t *page)
{
    for (int i = 0; i < PAGE / 8; i += 8) {
        if (page[i] | page[i + 1] | page[i + 2] | page[i + 3] | page[i + 4] | page[i + 5] | page[i + 6] | page[i + 7]) {
            return 0;
        }
    }
    return 1;
}

/* Returns how many of the pages hold only zeros. */
static int look(struct udckpt_snapshot_order *order, int wants_hashes)
{
    struct udckpt_page_hash *hashes = (struct udckpt_page_hash *)((char *)order + UDCKPT_ORDER_HASHES);
    unsigned page = 0;
    int found = 0;
    memset(order->zeros, 0, sizeof order->zeros);
    for (unsigned i = 0; i < order->runs; i++) {
        const struct udckpt_snapshot_run *run = runs_of(order) + i;
        for (uint64_t at = 0; at < run->length && page < UDCKPT_ORDER_PAGES; at += PAGE, page++) {
            __builtin_prefetch(
                (const void *)(run->address + at + AHEAD)); /* which may be behind the mapping: that does no harm */
            if (is_zero((const uint64_t *)(run->address + at))) {
                order->zeros[page / 8] |= (uint8_t)(1 << page % 8);
                found++;
            }
            if (wants_hashes) {
                XXH128_hash_t hash = XXH3_128bits((const void *)(run->address + at), PAGE);
                hashes[page] = (struct udckpt_page_hash){hash.high64, hash.low64};
            }
        }
    }
    return found;
}

/* All of it, or an errno in the order. */
static int put(struct udckpt_snapshot_order *order, const void *from, size_t length)
{
    while (length > 0) {
        long n =
            raw_call(SYS_pwrite64, order->file, (long)from, (long)length, (long)(order->offset + order->written), 0, 0);
        if (n == -EINTR) { /* of a file system in user space, after a SIGSTOP, which nobody can block */
            continue;
        }
        if (n <= 0) {
            order->error = n == 0 ? EIO : (uint32_t)-n;
            return 0;
        }
        order->written += (uint64_t)n;
        from = (const char *)from + n;
        length -= (size_t)n;
    }
    return 1;
}

/* In a file of small pages (tmpfs without huge=) a page costs more to allocate than to fill. So room is allocated for
 * many at once: one byte in each 2 MiB, which the kernel then joins to a huge page (MADV_COLLAPSE, Linux 6.1). Where
 * that fails pages are small as before: what is there of the file is zeros, which are written over or cut off. */
enum { HUGE = 2 << 20, COLLAPSE = 25 /* MADV_COLLAPSE; not in all headers */ };

static int make_room(int file, uint64_t from, uint64_t to)
{
    size_t length = to - from;
    long space =
        raw_call(SYS_mmap, 0, (long)(length + HUGE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space < 0 && space > -4096) {
        return 0;
    }
    long at = (space + HUGE - 1) & -(long)HUGE;
    int made = 1;
    for (uint64_t block = from; made && block < to; block += HUGE) {
        made = raw_call(SYS_pwrite64, file, (long)"", 1, (long)block, 0, 0) == 1;
    }
    made = made && raw_call(SYS_mmap, at, (long)length, PROT_READ, MAP_SHARED | MAP_FIXED, file, (long)from) == at &&
           raw_call(SYS_madvise, at, (long)length, COLLAPSE, 0, 0, 0) == 0;
    raw_call(SYS_munmap, space, (long)(length + HUGE), 0, 0, 0, 0);
    return made;
}

/* One thread's, on its stack: nothing of the program's memory is touched, which is being written, and in which a key
 * would be for everybody to read. */
struct writer {
    struct snapshot_tag tag;
    int width;    /* ghash_width() */
    int roomless; /* huge pages are not to be had */
};

/* A direct write pins the pages that it reads from, and to pin a page that the job shares is to copy it for the
 * snapshot; so they go through a buffer that nobody shares. */
static void append(struct udckpt_snapshot_order *order, char *buffer, struct writer *writer)
{
    XXH3_state_t hash;
    SHA256_CTX digest;
    size_t gathered = 0;
    XXH3_64bits_reset(&hash);
    SHA256_Init(&digest);
    if (order->wants_tag) {
        if (writer->width == 0) {
            order->error = ENOTSUP; /* the capture does not have such a snapshot write by itself */
            return;
        }
        snapshot_tag_begin(&writer->tag, writer->width, order->key, order->nonce);
    }
    if (order->room_to > order->room_from && !writer->roomless) {
        writer->roomless = !make_room((int)order->file, order->room_from, order->room_to);
    }
    for (unsigned i = 0; i < order->runs; i++) {
        const struct udckpt_snapshot_run *run = runs_of(order) + i;
        for (uint64_t at = 0; at < run->length; at += PIECE) {
            const char *from = (const char *)(run->address + at);
            size_t length = run->length - at < PIECE ? run->length - at : PIECE;
            if (order->operation == UDCKPT_ORDER_APPEND_DIRECT) {
                from = memcpy(buffer + gathered, from, length);
                gathered += length;
            }
            if (!order->wants_tag) {
                XXH3_64bits_update(&hash, from, length);
            }
            if (order->wants_digest) {
                SHA256_Update(&digest, from, length);
            }
            if (order->wants_tag) {
                snapshot_tag_add(&writer->tag, from, length);
            }
            if (order->operation == UDCKPT_ORDER_APPEND && !put(order, from, length)) {
                return;
            }
        }
    }
    if (gathered == 0 || put(order, buffer, gathered)) {
        order->hash = order->wants_tag ? 0 : XXH3_64bits_digest(&hash); /* a tag says more */
        if (order->wants_digest) {
            SHA256_Final(order->digest, &digest);
        }
        if (order->wants_tag) {
            snapshot_tag_end(&writer->tag, order->tag);
        }
    }
}

/* A program may have taken rights from some of its pages by memory protection keys (pkeys(7)). */
static void take_all_keys(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_OSPKE)) {
        __asm__ volatile("wrpkru" : : "a"(0), "c"(0), "d"(0));
    }
}

/* libcrypto looked at the processor when the library was loaded, which was perhaps another one, before a restart. All
 * writers find the same. The first four words are all that SHA-256 and AES ask; since version 3.5 there are ten. */
extern uint32_t OPENSSL_ia32cap_P[];
uint64_t OPENSSL_ia32_cpuid(uint32_t *into);

static void look_at_processor(void)
{
    enum { DONE = 1 << 10, ASKED = 4, ROOM = 64 }; /* DONE: as OPENSSL_cpuid_setup marks it */
    uint32_t found[ROOM] = {0};
    uint64_t first = OPENSSL_ia32_cpuid(found);
    found[0] = (uint32_t)first | DONE;
    found[1] = (uint32_t)(first >> 32);
    for (int i = 0; i < ASKED; i++) {
        __atomic_store_n(&OPENSSL_ia32cap_P[i], found[i], __ATOMIC_RELAXED);
    }
}

/* Carries out one order after the other. buffer: UDCKPT_ORDER_PAGES pages, aligned to one. Found by its name,
 * which changes with the orders: a job may have another version's library. */
__attribute__((visibility("default"), noreturn)) void udckpt_snapshot_writer_2(struct udckpt_snapshot_order *order,
                                                                               char *buffer);

void udckpt_snapshot_writer_2(struct udckpt_snapshot_order *order, char *buffer)
{
    take_all_keys();
    look_at_processor();
    struct writer writer;
    writer.width = ghash_width();
    writer.roomless = 0;
    for (uint32_t last = 0;; last++) {
        while (__atomic_load_n(&order->asked, __ATOMIC_ACQUIRE) == last) {
            raw_call(SYS_futex, (long)&order->asked, FUTEX_WAIT, last, 0, 0, 0);
        }
        order->error = 0;
        order->written = 0;
        if (order->operation == UDCKPT_ORDER_LOOK) {
            look(order, (int)order->wants_hashes);
        } else if (!order->unless_zeros || look(order, 0) == 0) {
            append(order, buffer, &writer);
        }
        __atomic_store_n(&order->done, last + 1, __ATOMIC_RELEASE);
        raw_call(SYS_futex, (long)&order->done, FUTEX_WAKE, 1, 0, 0, 0);
    }
}
