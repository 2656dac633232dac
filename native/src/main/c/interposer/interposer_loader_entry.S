/* The exported functions of dlfcn.h. glibc takes the caller's return address for the place from which it searches
 * (RTLD_NEXT, RUNPATH, $ORIGIN), so that what we have nothing to say to is gone on with by a jump, as if this were not
 * here. A compiler makes such a jump when it likes to; this has to be one. */
    .text

/* The caller's address is the last argument of what decides; it answers in %rax, or in %rdx where to jump. */
.macro ENTRY name, decide, last
    .globl \name
    .type \name, @function
    .p2align 4
\name:
    .cfi_startproc
    endbr64
    push %rdi
    .cfi_adjust_cfa_offset 8
    push %rsi
    .cfi_adjust_cfa_offset 8
    push %rdx
    .cfi_adjust_cfa_offset 8
    mov 24(%rsp), \last
    call \decide
    mov %rdx, %r11
    pop %rdx
    .cfi_adjust_cfa_offset -8
    pop %rsi
    .cfi_adjust_cfa_offset -8
    pop %rdi
    .cfi_adjust_cfa_offset -8
    test %r11, %r11
    jz 1f
    jmp *%r11
1:  ret
    .cfi_endproc
    .size \name, . - \name
.endm

    ENTRY dlsym, interposer_dlsym, %rdx
    ENTRY dlvsym, interposer_dlvsym, %rcx
    ENTRY dlopen, interposer_dlopen, %rdx
    ENTRY dlmopen, interposer_dlmopen, %rcx

    .section .note.GNU-stack, "", @progbits
