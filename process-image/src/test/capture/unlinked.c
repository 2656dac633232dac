// A library at which the dynamic linker stays: it calls the resolver below before it relocates the libraries that were
// loaded earlier.
#include <fcntl.h>
#include <sys/syscall.h>

// Nothing is relocated here: no function of libc can be called.
static long call(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

static void (*resolve(void))(void) {
    call(SYS_open, (long)"ready", O_CREAT | O_WRONLY, 0600);
    for (;;) {
        call(SYS_pause, 0, 0, 0);
    }
}

void stay(void) __attribute__((ifunc("resolve")));

void (*udckpt_test_stay)(void) = stay;
