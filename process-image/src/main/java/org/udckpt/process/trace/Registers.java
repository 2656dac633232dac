package org.udckpt.process.trace;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** struct user_regs_struct of x86-64 (sys/user.h): 27 words, 216 bytes. */
public final class Registers {
    public static final int R15 = 0, R14 = 1, R13 = 2, R12 = 3, RBP = 4, RBX = 5, R11 = 6, R10 = 7, R9 = 8, R8 = 9,
            RAX = 10, RCX = 11,
            RDX = 12, RSI = 13, RDI = 14, ORIG_RAX = 15, RIP = 16, CS = 17, EFLAGS = 18, RSP = 19, SS = 20,
            FS_BASE = 21, GS_BASE = 22;
    public static final int WORDS = 27, BYTES = 8 * WORDS;

    /** The kernel's own "restart me" results (include/linux/errno.h); seen by tracers only. */
    public static final int ERESTARTSYS = 512, ERESTARTNOINTR = 513, ERESTARTNOHAND = 514, ERESTART_RESTARTBLOCK = 516;

    private static final int[] ARGUMENTS = {RDI, RSI, RDX, R10, R8, R9};

    private final long[] words;

    public Registers() {
        this.words = new long[WORDS];
    }

    private Registers(long[] words) {
        this.words = words;
    }

    public static Registers of(byte[] bytes) {
        Registers registers = new Registers();
        MemorySegment.copy(MemorySegment.ofArray(bytes), JAVA_LONG_UNALIGNED, 0, registers.words, 0, WORDS);
        return registers;
    }

    public byte[] toBytes() {
        byte[] bytes = new byte[BYTES];
        MemorySegment.copy(words, 0, MemorySegment.ofArray(bytes), JAVA_LONG_UNALIGNED, 0, WORDS);
        return bytes;
    }

    public Registers copy() {
        return new Registers(words.clone());
    }

    public void copyFrom(Registers other) {
        System.arraycopy(other.words, 0, words, 0, WORDS);
    }

    public long get(int index) {
        return words[index];
    }

    public Registers set(int index, long value) {
        words[index] = value;
        return this;
    }

    /** Argument {@code index} (0..5) of the system call that the thread is in. */
    public long argument(int index) {
        return words[ARGUMENTS[index]];
    }

    public void setArgument(int index, long value) {
        words[ARGUMENTS[index]] = value;
    }

    /** Number of the system call that was interrupted, or -1. */
    public int systemCall() {
        return (int) words[ORIG_RAX];
    }

    /** The interrupted call's error as a positive number, 0 when it is none. */
    public int error() {
        long result = words[RAX];
        return result < 0 && result > -4096 ? (int) -result : 0;
    }

    long[] words() {
        return words;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Registers registers && Arrays.equals(words, registers.words);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(words);
    }

    @Override
    public String toString() {
        return "rip %x rsp %x rax %x orig_rax %d".formatted(words[RIP], words[RSP], words[RAX], words[ORIG_RAX]);
    }
}
