package org.udckpt.process.kinds.socket;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;

import org.udckpt.process.kinds.base.Maker;

/** Addresses of unix sockets for injected calls (struct sockaddr_un, unix(7)). */
public final class UnixAddress {
    private UnixAddress() {}

    /** Its address in {@code maker}, until the next call; its length in the call tells where an abstract name ends. */
    public static long put(Maker maker, byte[] name) {
        return maker.structure().i16(AF_UNIX).raw(name).i16(0).put();
    }

    /** Length of the address with that name. */
    public static int length(byte[] name) {
        return 2 + name.length + (name[0] == 0 ? 0 : 1);
    }
}
