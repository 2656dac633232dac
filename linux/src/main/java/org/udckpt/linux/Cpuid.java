package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The processor's own description of itself (Intel SDM vol. 2, CPUID), which neither /proc nor a system call gives in
 * full.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
public final class Cpuid {
    private static final int PROT_READ_WRITE = 3, PROT_READ_EXEC = 5, MAP_PRIVATE_ANONYMOUS = 0x22, PAGE = 4096;
    /**
     * void cpuid(int leaf, int subleaf, int out[4]), by the calling convention of the System V psABI; RBX is the
     * caller's.
     */
    private static final int[] CODE = {
            0x53, // push rbx
            0x49, 0x89, 0xd0, // mov r8, rdx
            0x89, 0xf8, // mov eax, edi
            0x89, 0xf1, // mov ecx, esi
            0x0f, 0xa2, // cpuid
            0x41, 0x89, 0x00, // mov [r8], eax
            0x41, 0x89, 0x58, 0x04, // mov [r8+4], ebx
            0x41, 0x89, 0x48, 0x08, // mov [r8+8], ecx
            0x41, 0x89, 0x50, 0x0c, // mov [r8+12], edx
            0x5b, // pop rbx
            0xc3}; // ret
    private static final MemorySegment FUNCTION = code();

    private Cpuid() {}

    private static MemorySegment code() {
        long page = LinuxError.check(Syscall.call(Syscall.MMAP, 0, PAGE, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0),
                "map a page for code");
        MemorySegment code = MemorySegment.ofAddress(page).reinterpret(PAGE);
        for (int i = 0; i < CODE.length; i++) {
            code.set(JAVA_BYTE, i, (byte) CODE[i]);
        }
        LinuxError.check(Syscall.call(Syscall.MPROTECT, page, PAGE, PROT_READ_EXEC), "make a page executable");
        return code;
    }

    /** EAX, EBX, ECX, EDX. */
    public static int[] read(int leaf, int subleaf) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(16, 4);
            NativeCall.call(FUNCTION, leaf, subleaf, out.address());
            return out.toArray(JAVA_INT);
        }
    }

    /** Carry-less products of 64 bits, and the shuffles of bytes that go with them: PCLMULQDQ, SSSE3. */
    public static boolean multipliesCarryLess() {
        int wanted = 1 << 1 | 1 << 9;
        return (read(1, 0)[2] & wanted) == wanted;
    }
}
