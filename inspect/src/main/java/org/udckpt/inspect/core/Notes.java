package org.udckpt.inspect.core;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * The bytes of a PT_NOTE segment (elf(5), Elf64_Nhdr): each note has an owner, a type and contents, padded to four
 * bytes.
 */
final class Notes {
    static final int PRSTATUS = 1, FPREGSET = 2, PRPSINFO = 3, AUXV = 6, X86_XSTATE = 0x202, SIGINFO = 0x53494749,
            FILE = 0x46494c45;
    private static final int ALIGNMENT = 4;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** A little-endian buffer to fill a note's contents with. */
    static ByteBuffer contents(int size) {
        return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    }

    void add(int type, ByteBuffer contents) {
        add(type, contents.array());
    }

    void add(int type, byte[] contents) {
        byte[] owner = ((type == X86_XSTATE ? "LINUX" : "CORE") + "\0").getBytes(StandardCharsets.US_ASCII);
        bytes.writeBytes(contents(12).putInt(owner.length).putInt(contents.length).putInt(type).array());
        padded(owner);
        padded(contents);
    }

    private void padded(byte[] part) {
        bytes.writeBytes(part);
        bytes.writeBytes(new byte[-part.length & ALIGNMENT - 1]);
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
