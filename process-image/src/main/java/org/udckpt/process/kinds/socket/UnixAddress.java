package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.AF_UNIX;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.udckpt.process.kinds.base.Maker;

/** Addresses of unix sockets for injected calls (struct sockaddr_un, unix(7)). */
public final class UnixAddress {
    private static final int FAMILY_BYTES = 2;

    private UnixAddress() {}

    /** The name in an address of that length: as in sun_path, without the NUL byte at the end of a path. */
    public static byte[] name(MemorySegment address, int length) {
        byte[] name = address.asSlice(FAMILY_BYTES, Math.max(0, length - FAMILY_BYTES)).toArray(JAVA_BYTE);
        return name.length > 1 && name[0] != 0 && name[name.length - 1] == 0 ? Arrays.copyOf(name, name.length - 1)
                : name;
    }

    /** Its address in {@code maker}, until the next call; its length in the call tells where an abstract name ends. */
    public static long put(Maker maker, byte[] name) {
        return maker.structure().i16(AF_UNIX).raw(name).i16(0).put();
    }

    /** Length of the address with that name. */
    public static int length(byte[] name) {
        return 2 + name.length + (name[0] == 0 ? 0 : 1);
    }
}
