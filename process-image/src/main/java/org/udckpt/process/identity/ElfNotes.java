package org.udckpt.process.identity;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.trace.BuildId;

/**
 * The notes of an ELF file of 64 bits (elf(5)), which may be anywhere in it. What is not to be read is not there:
 * nobody relies on them.
 */
final class ElfNotes {
    private static final int HEADER = 64, PROGRAM_HEADER = 56, PT_NOTE = 4, MOST_HEADERS = 512;

    private ElfNotes() {}

    /** In hexadecimal; "": it has none. */
    static String buildId(int file) {
        ByteBuffer header = read(file, 0, HEADER);
        int count = header.capacity() < HEADER ? 0 : Math.min(MOST_HEADERS, header.getShort(56) & 0xffff);
        ByteBuffer programs = count == 0 ? header : read(file, header.getLong(32), count * PROGRAM_HEADER);
        for (int at = 0; count > 0 && at + PROGRAM_HEADER <= programs.capacity(); at += PROGRAM_HEADER) {
            if (programs.getInt(at) == PT_NOTE) {
                String id = BuildId.of(read(file, programs.getLong(at + 8),
                        (int) Math.min(Scratch.DATA_BYTES, Math.max(0, programs.getLong(at + 32)))).array());
                if (!id.isEmpty()) {
                    return id;
                }
            }
        }
        return "";
    }

    private static ByteBuffer read(int file, long at, int length) {
        MemorySegment data = Scratch.data();
        long n = at < 0 ? 0 : Math.max(0, Syscall.call(Syscall.PREAD64, file, data.address(), length, at));
        return ByteBuffer.wrap(data.asSlice(0, n).toArray(JAVA_BYTE)).order(ByteOrder.LITTLE_ENDIAN);
    }
}
