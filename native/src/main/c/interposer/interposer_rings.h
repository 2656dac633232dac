/* Notes of rings of system calls, between the files that take them. */
#ifndef INTERPOSER_RINGS_H
#define INTERPOSER_RINGS_H
#include "interposer.h"
#include "udckpt_layout.h"
#include <linux/io_uring.h>
#include <string.h>

#ifndef IORING_REGISTER_USE_REGISTERED_RING
#define IORING_REGISTER_USE_REGISTERED_RING (1U << 31)
#endif

/* Where struct io_uring of liburing.so.2 has its flags, its descriptor and its registration (a part of its ABI). */
enum { LIBURING_FLAGS = 192, LIBURING_DESCRIPTOR = 196, LIBURING_REGISTRATION = 204 };

/* A program that only asks whether there is such a function finds one, which fails as without io_uring. */
#define REAL(name, ...) \
    int (*real)(__VA_ARGS__) = (int (*)(__VA_ARGS__))interposer_next(name, __builtin_return_address(0)); \
    if (!real) \
    return -ENOSYS

/* How many of `count` places an operation has changed: those of updates say it. */
#define RING_CHANGED(operation, result, count) \
    (((operation)&63) == IORING_REGISTER_FILES_UPDATE || ((operation)&63) == IORING_REGISTER_FILES_UPDATE2 \
         ? (unsigned)(result) \
         : (unsigned)(count))

static inline uint32_t ring_word(const void *ring, unsigned at)
{
    uint32_t value;
    memcpy(&value, (const char *)ring + at, sizeof value);
    return value;
}

/* Notes what an operation of io_uring_register(2) has left behind. */
void ring_registered(int fd, unsigned operation, const void *argument, unsigned count);
/* The same for liburing's functions, which return `result`; they are given the ring. Returns it. */
int ring_noted(int result, const void *ring, unsigned operation, const void *argument, unsigned count);

/* Whether it was about files, or the ring's own descriptor (interposer_ring_files.c), and is noted. */
int ring_files_registered(struct udckpt_ring_note *note, unsigned operation, const void *argument, unsigned count);
/* Its files are none of this ring's. */
void ring_forget_files(struct udckpt_ring_note *note);
#endif
