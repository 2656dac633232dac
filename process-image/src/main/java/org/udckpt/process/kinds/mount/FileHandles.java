package org.udckpt.process.kinds.mount;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AT_FDCWD;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/**
 * What file systems call a file (name_to_handle_at(2)): the same number is given again with another generation. An
 * overlay puts around it what the layer's file system says of the file's first layer (struct ovl_fh, Linux 6.6).
 */
final class FileHandles {
    private static final int MOST = 128, AT_HANDLE_FID = 0x200, BYTES_AT = 8, NUMBER_AT = MOST + 16;
    /** Type of an overlay's handle, and in it: the layer's type, and behind it a UUID and the layer's handle. */
    private static final int OVERLAYS = 0xf8, MAGIC_AT = 4, MAGIC = 0xfb, TYPE_AT = 7, UUID_AT = 8, UUID = 16;

    private FileHandles() {}

    /** Type and bytes; null: this file system has none. */
    static byte[] of(String path) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, MOST); // struct file_handle
        data.set(JAVA_INT, 4, 0);
        long result = Syscall.call(Syscall.NAME_TO_HANDLE_AT, AT_FDCWD, Scratch.string(path), data.address(),
                data.address() + NUMBER_AT, AT_HANDLE_FID);
        if (result < 0) {
            return null;
        }
        byte[] handle = new byte[data.get(JAVA_INT, 0) + 1];
        handle[0] = (byte) data.get(JAVA_INT, 4);
        MemorySegment.copy(data, JAVA_BYTE, BYTES_AT, handle, 1, handle.length - 1);
        return handle;
    }

    /** The same of the layer's file that an overlay shows; null: it is none of an overlay. */
    static byte[] inLayer(String path) {
        byte[] whole = of(path);
        int begin = 1 + UUID_AT + UUID;
        if (whole == null || (whole[0] & 0xff) != OVERLAYS || whole.length < begin
                || (whole[1 + MAGIC_AT] & 0xff) != MAGIC) {
            return null;
        }
        int length = Math.min(whole.length, 1 + 3 + (whole[1 + MAGIC_AT + 1] & 0xff));
        byte[] handle = Arrays.copyOfRange(whole, begin - 1, Math.max(begin, length));
        handle[0] = whole[1 + TYPE_AT];
        return handle;
    }
}
