package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;

/** The names of a socket of this process. */
public final class InternetName {
    private InternetName() {}

    /**
     * struct sockaddr_in or sockaddr_in6; empty: it is not connected.
     *
     * @param call {@link Syscall#GETSOCKNAME}, {@link Syscall#GETPEERNAME}
     */
    public static byte[] of(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, SocketQueue.NAME);
        long result = Syscall.call(call, socket, data.address() + 8, data.address());
        if (result == -LinuxError.ENOTCONN) {
            return new byte[0];
        }
        LinuxError.check(result, "name of a socket");
        return data.asSlice(8, data.get(JAVA_INT, 0)).toArray(JAVA_BYTE);
    }
}
