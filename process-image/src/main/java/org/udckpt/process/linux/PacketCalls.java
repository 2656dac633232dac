package org.udckpt.process.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Calls on sockets without connections of this process; none waits. */
public final class PacketCalls {
    private static final int MSG_DONTWAIT = 0x40;

    private PacketCalls() {}

    public static int open(int domain, int type, int protocol) {
        return (int) LinuxError.check(Syscall.call(Syscall.SOCKET, domain, type | Syscall.O_CLOEXEC, protocol), "a socket");
    }

    /** Bytes sent, or {@code -errno}. */
    public static long send(int socket, byte[] message, byte[] to) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(message.length + to.length + 1L, 8);
            MemorySegment.copy(to, 0, data, JAVA_BYTE, 0, to.length);
            MemorySegment.copy(message, 0, data, JAVA_BYTE, to.length, message.length);
            return Syscall.call(Syscall.SENDTO, socket, data.address() + to.length, message.length, MSG_DONTWAIT, data.address(), to.length);
        }
    }
}
