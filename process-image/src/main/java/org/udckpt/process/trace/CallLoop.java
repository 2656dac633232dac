package org.udckpt.process.trace;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * A dozen instructions that make a list of system calls, one after the other, and end in a trap: one stop of the
 * process, where injected calls cost two each. RBX: the first entry, R12: how many there are
 * ({@link Injector#execute}). All calls are made, also behind one that fails. Only where the tracer's death may end the
 * process: in a stub of a restore, in a snapshot.
 */
public final class CallLoop {
    /** Number, six arguments, result: bytes of an entry, and where its result is. */
    public static final int ENTRY = 64, RESULT = 56;

    private static final byte[] CODE = {
            0x48, (byte) 0x8b, 0x03, // next: mov rax, [rbx]
            0x48, (byte) 0x8b, 0x7b, 0x08, // mov rdi, [rbx + 8]
            0x48, (byte) 0x8b, 0x73, 0x10, // mov rsi, [rbx + 16]
            0x48, (byte) 0x8b, 0x53, 0x18, // mov rdx, [rbx + 24]
            0x4c, (byte) 0x8b, 0x53, 0x20, // mov r10, [rbx + 32]
            0x4c, (byte) 0x8b, 0x43, 0x28, // mov r8, [rbx + 40]
            0x4c, (byte) 0x8b, 0x4b, 0x30, // mov r9, [rbx + 48]
            0x0f, 0x05, // syscall
            0x48, (byte) 0x89, 0x43, RESULT, // mov [rbx + 56], rax
            0x48, (byte) 0x83, (byte) 0xc3, ENTRY, // add rbx, 64
            0x49, (byte) 0xff, (byte) 0xcc, // dec r12
            0x75, (byte) 0xd6, // jnz next
            (byte) 0xcc, // int3
            0x0f, 0x05, // one: syscall
            (byte) 0xcc}; // int3
    /** Where, in the code, a single call is made that ends in a trap ({@link Injector#callToTrap}). */
    public static final int ONE = CODE.length - 3;

    private CallLoop() {}

    /** The list of these calls, number and arguments of each, so many times. */
    public static byte[] list(List<long[]> calls, int times) {
        ByteBuffer list = ByteBuffer.allocate(times * calls.size() * ENTRY).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < times * calls.size(); i++) {
            list.position(i * ENTRY);
            for (long word : calls.get(i % calls.size())) {
                list.putLong(word);
            }
        }
        return list.array();
    }

    public static byte[] code() {
        return CODE.clone();
    }
}
