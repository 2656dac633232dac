package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Random numbers that nobody can guess, of the kernel (getrandom(2)): SecureRandom takes the same, and looks for its
 * providers before.
 */
public final class SystemRandom {
    /** So many come at once, whatever signals do. */
    private static final int LARGEST = 256;

    private SystemRandom() {}

    /** @param count at most 256 */
    public static byte[] bytes(int count) {
        return some(count).toArray(JAVA_BYTE);
    }

    public static long number() {
        return some(Long.BYTES).get(ValueLayout.JAVA_LONG, 0);
    }

    private static MemorySegment some(int count) {
        if (count > LARGEST) {
            throw new IllegalArgumentException(count + " random bytes at once");
        }
        MemorySegment bytes = Arena.ofAuto().allocate(count, Long.BYTES);
        long got = LinuxError.check(Syscall.call(Syscall.GETRANDOM, bytes.address(), count, 0), "getrandom");
        if (got != count) {
            throw new IllegalStateException("getrandom(2) gave " + got + " bytes for " + count);
        }
        return bytes;
    }
}
