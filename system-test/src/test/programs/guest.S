# A guest for an emulated PC: a boot sector that counts. It says "started" on the serial line, adds up 3000 rounds of a
# generator of numbers, waits for a byte on that line, prints the sum and turns the machine off.
.code16
.globl _start
_start:
    cli
    xor %ax, %ax
    mov %ax, %ds
    mov %ax, %ss
    mov $0x7c00, %sp
    mov $started, %si
    call print
    mov $3000, %cx
    mov $1, %ebx
    xor %ebp, %ebp
round:
    push %cx
    mov $200000, %ecx
step:
    imul $1664525, %ebx, %ebx
    add $1013904223, %ebx
    add %ebx, %ebp
    loopl step
    pop %cx
    loop round
wait:
    mov $0x3fd, %dx
    in %dx, %al
    test $1, %al
    jz wait
    mov $result, %si
    call print
    mov $8, %cx
digit:
    rol $4, %ebp
    mov %bp, %ax
    and $15, %al
    add $'0', %al
    cmp $'9', %al
    jbe decimal
    add $39, %al
decimal:
    call put
    loop digit
    mov $'\n', %al
    call put
    mov $0x604, %dx # power management of the emulated chip set
    mov $0x2000, %ax
    out %ax, %dx
halt:
    hlt
    jmp halt
print:
    lodsb
    test %al, %al
    jz done
    call put
    jmp print
done:
    ret
put:
    push %ax
    mov $0x3fd, %dx
full:
    in %dx, %al
    test $0x20, %al
    jz full
    pop %ax
    mov $0x3f8, %dx
    out %al, %dx
    ret
started: .asciz "started\n"
result: .asciz "result "
.org 510
.word 0xaa55
