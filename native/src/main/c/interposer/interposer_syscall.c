/* syscall(3): calls of which the library keeps notes go to these, and all others to the kernel as they are. */
#include "interposer.h"
#include "agent-client/control.h"
#include "common/system_calls.h"
#include <sys/syscall.h>

_Static_assert(SYS_io_setup == 206 && SYS_io_destroy == 207 && SYS_io_submit == 209, "numbers below");
_Static_assert(SYS_userfaultfd == 323, "number below");
_Static_assert(SYS_io_uring_setup == 425 && SYS_io_uring_register == 427, "numbers below");

__attribute__((used, visibility("hidden"))) long interposer_noted_call(long number, long a, long b, long c, long d)
{
    if (number == SYS_userfaultfd) {
        control_leave_memory();
        return system_call(number, a, b, c, d, 0, 0);
    }
    return number >= SYS_io_uring_setup ? interposer_ring_call(number, a, b, c, d)
                                        : interposer_aio_call(number, a, b, c);
}

/* As in libc, and without a frame of its own for all other calls: one of them may return twice (vfork), or on another
 * stack (clone). */
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".p2align 4\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    cmpq $425, %rdi\n"
        "    je 1f\n"
        "    cmpq $427, %rdi\n"
        "    je 1f\n"
        "    cmpq $323, %rdi\n"
        "    je 1f\n"
        "    cmpq $206, %rdi\n"
        "    jb 0f\n"
        "    cmpq $209, %rdi\n"
        "    jbe 3f\n"
        "0:  movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 2f\n"
        "    ret\n"
        "3:  cmpq $208, %rdi\n" /* io_getevents */
        "    je 0b\n"
        "1:  pushq %rbp\n"
        "    .cfi_def_cfa_offset 16\n"
        "    call interposer_noted_call\n"
        "    popq %rbp\n"
        "    .cfi_def_cfa_offset 8\n"
        "    ret\n"
        "2:  pushq %rax\n"
        "    .cfi_def_cfa_offset 16\n"
        "    call __errno_location@PLT\n"
        "    popq %rcx\n"
        "    .cfi_def_cfa_offset 8\n"
        "    negl %ecx\n"
        "    movl %ecx, (%rax)\n"
        "    movq $-1, %rax\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size syscall, .-syscall\n"
        ".popsection\n");
