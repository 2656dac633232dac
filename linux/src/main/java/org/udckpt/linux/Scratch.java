package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Native memory of the calling thread for arguments of system calls: made once, so that the stop path allocates
 * nothing. Valid until the next use by the same thread; {@link #text()} and {@link #data()} do not overlap.
 */
public final class Scratch {
    /** Bytes of {@link #data()}. */
    public static final int DATA_BYTES = 1 << 16;
    /** Where in {@link #data()} a second text goes. */
    private static final long SECOND = 8192;
    /** Longest path plus NUL. */
    private static final int TEXT_BYTES = 4096;
    private static final ThreadLocal<Scratch> SCRATCH = ThreadLocal.withInitial(Scratch::new);

    private final MemorySegment text;
    private final MemorySegment data;
    private final byte[] path = new byte[TEXT_BYTES];

    private Scratch() {
        MemorySegment all = Arena.ofAuto().allocate(TEXT_BYTES + DATA_BYTES, 4096);
        text = all.asSlice(0, TEXT_BYTES);
        data = all.asSlice(TEXT_BYTES, DATA_BYTES);
    }

    public static MemorySegment text() {
        return SCRATCH.get().text;
    }

    public static MemorySegment data() {
        return SCRATCH.get().data;
    }

    /** Address of {@code string}, NUL-terminated, in the calling thread's text area. */
    public static long string(String string) {
        Scratch scratch = SCRATCH.get();
        int length = string.length();
        boolean plain = length < TEXT_BYTES;
        for (int i = 0; plain && i < length; i++) {
            char c = string.charAt(i);
            plain = c < 128;
            scratch.path[i] = (byte) c;
        }
        byte[] bytes = plain ? scratch.path : RawText.encode(string);
        int count = plain ? length : bytes.length;
        if (count >= TEXT_BYTES) {
            throw new IllegalArgumentException("path of " + count + " bytes is too long: " + string);
        }
        MemorySegment.copy(bytes, 0, scratch.text, JAVA_BYTE, 0, count);
        scratch.text.set(JAVA_BYTE, count, (byte) 0);
        return scratch.text.address();
    }

    /** Address of a second text for a call that takes two, NUL-terminated, in the calling thread's data area. */
    public static long second(String string) {
        byte[] bytes = RawText.encode(string);
        MemorySegment to = data().asSlice(SECOND);
        MemorySegment.copy(bytes, 0, to, JAVA_BYTE, 0, bytes.length);
        to.set(JAVA_BYTE, bytes.length, (byte) 0);
        return to.address();
    }
}
