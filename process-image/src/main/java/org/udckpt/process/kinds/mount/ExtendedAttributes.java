package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** Extended attributes of a file (xattr(7)): names and values, each with its length in four bytes before it. */
final class ExtendedAttributes {
    private static final int NAMES = 8192, VALUES_AT = 1 << 14, VALUES = Scratch.DATA_BYTES - VALUES_AT;

    private ExtendedAttributes() {}

    /** @param through a path to the file for {@code by}, or for this thread where that is null */
    static byte[] read(MountThread by, String through, String path) {
        MemorySegment data = Scratch.data();
        long length = MountCalls.by(by, Syscall.LISTXATTR, Scratch.string(through), data.address(), NAMES);
        if (length == -LinuxError.EOPNOTSUPP || length == 0) {
            return new byte[0];
        }
        LinuxError.check(length, "attributes of ", path);
        String[] all = RawText.decode(data.asSlice(0, length).toArray(JAVA_BYTE)).split("\0");
        ByteArrayOutputStream rows = new ByteArrayOutputStream();
        for (String name : all) {
            long size =
                    LinuxError.check(MountCalls.by(by, Syscall.GETXATTR, Scratch.string(through), Scratch.second(name),
                            data.address() + VALUES_AT, VALUES), "attribute " + name + " of " + path);
            add(rows, RawText.encode(name));
            add(rows, data.asSlice(VALUES_AT, size).toArray(JAVA_BYTE));
        }
        return rows.toByteArray();
    }

    private static void add(ByteArrayOutputStream rows, byte[] value) {
        rows.writeBytes(ByteBuffer.allocate(4).putInt(value.length).array());
        rows.writeBytes(value);
    }

    static boolean areWhole(byte[] rows) {
        ByteBuffer left = ByteBuffer.wrap(rows);
        int parts = 0;
        for (; left.remaining() >= 4; parts++) {
            int length = left.getInt();
            if (length < 0 || length > left.remaining() || parts % 2 == 0 && (length == 0 || length > 255)
                    || length > VALUES) {
                return false;
            }
            left.position(left.position() + length);
        }
        return left.remaining() == 0 && parts % 2 == 0;
    }

    /** @param through a path to the file */
    static void set(String through, String path, byte[] rows) {
        ByteBuffer left = ByteBuffer.wrap(rows);
        while (left.hasRemaining()) {
            String name = RawText.decode(next(left));
            byte[] value = next(left);
            MemorySegment.copy(value, 0, Scratch.data(), JAVA_BYTE, VALUES_AT, value.length);
            LinuxError.check(Syscall.call(Syscall.SETXATTR, Scratch.string(through), Scratch.second(name),
                    Scratch.data().address() + VALUES_AT, value.length, 0), "attribute " + name + " of " + path);
        }
    }

    private static byte[] next(ByteBuffer rows) {
        byte[] value = new byte[rows.getInt()];
        rows.get(value);
        return value;
    }
}
