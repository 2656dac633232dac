/* Code that the capture runs inside a stopped rank, by ptrace. It can always finish alone: when the tracer dies at any
 * instruction, the thread leaves by .Lleave and goes on where it was stopped.
 *
 * The tracer has put a frame below the thread's red zone (System V ABI, 3.2.2) and points rsp at it:
 *     +0    signal mask to go back to
 *     +8    r15 r14 r13 r12 r11 r10 r9 r8 rbp rdi rsi rdx rcx rbx rax
 *     +128  rip cs rflags rsp ss
 * It goes back by iretq, not by rt_sigreturn: a system call leaves the vector registers alone, so they need no place in
 * the frame, and rt_sigreturn would forget the restart block of an interrupted nanosleep or futex wait.
 *
 * Fixed offsets (Parasite.java): -8 magic, 0 one system call, 64 the snapshot fork, 256 the rest of a transfer. */
    .text
    .balign 64
    .fill 56, 1, 0xcc
    .ascii "UDCKPAR1"
    .globl udckpt_parasite
    .type udckpt_parasite, @function
udckpt_parasite:
    syscall                     /* number and arguments are in the registers */
.Lleave:
    movl $14, %eax              /* rt_sigprocmask(SIG_SETMASK, frame, NULL, 8) */
    movl $2, %edi
    movq %rsp, %rsi
    xorl %edx, %edx
    movl $8, %r10d
    syscall
    addq $8, %rsp
    jmp .Lpop

    .balign 64
.Lfork:                         /* udckpt_parasite + 64 */
    movl $56, %eax              /* clone(VM|FS|FILES|VFORK), no exit signal: nobody's SIGCHLD */
    movl $0x4700, %edi
    xorl %esi, %esi             /* same stack: it runs while this thread waits, and pushes nothing */
    xorl %edx, %edx
    xorl %r10d, %r10d
    xorl %r8d, %r8d
    syscall
    testl %eax, %eax
    jz .Lbetween
    js .Lleave
    movl %eax, %edi             /* wait4(pid, NULL, __WALL, NULL): leave no zombie */
    movl $61, %eax
    xorl %esi, %esi
    movl $0x40000000, %edx
    xorl %r10d, %r10d
    syscall
    jmp .Lleave

.Lbetween:                      /* the short-lived parent of the snapshot */
    movl $56, %eax              /* clone(0): a copy-on-write copy, no exit signal */
    xorl %edi, %edi
    xorl %esi, %esi
    xorl %edx, %edx
    xorl %r10d, %r10d
    xorl %r8d, %r8d
    syscall
    testl %eax, %eax
    jz .Lsnapshot
    movl $0, %edi               /* exit code: 0, or the errno of the fork */
    jns .Lexit
    movl %eax, %edi
    negl %edi
.Lexit:
    movl $60, %eax
    syscall
    hlt

.Lsnapshot:                     /* stopped by the tracer from here on; without one it ends at once */
    movl $436, %eax             /* close_range(0, ~0, 0): keep no pipe open */
    xorl %edi, %edi
    movl $-1, %esi
    xorl %edx, %edx
    syscall
    movl $231, %eax             /* exit_group(0) */
    xorl %edi, %edi
    syscall
    hlt

    .org udckpt_parasite + 256, 0xcc
.Lrest:                         /* a blocking write or receive that the stop cut short: r12 call, r13 bytes done,
                                   rest in rdi.. */
    movl %r12d, %eax
    syscall
    testq %rax, %rax
    jle .Ldone                  /* an error after part of it is not told (write(2)); the next call will */
    addq %rax, %r13
    addq %rax, %rsi
    subq %rax, %rdx
    jnz .Lrest
.Ldone:
    movq %r13, 120(%rsp)        /* the frame's rax */
    jmp .Lleave

.Lpop:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rbp
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbx
    popq %rax
    iretq
    .size udckpt_parasite, . - udckpt_parasite
    .section .note.GNU-stack, "", @progbits
