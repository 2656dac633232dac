package org.udckpt.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_ATTACH_REUSEPORT_CBPF;
import static org.udckpt.linux.LinuxConstants.SO_DETACH_REUSEPORT_BPF;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Calls on sockets without connections of this process; none waits. */
public final class PacketCalls {
    private static final short BPF_RET = 6;
    private static final int SIOCGIFINDEX = 0x8933, IFNAMSIZ = 16, IFREQ_BYTES = 40;

    private PacketCalls() {}

    public static int open(int domain, int type, int protocol) {
        return (int) LinuxError.check(NetworkCalls.socket(domain, type | Syscall.O_CLOEXEC, protocol),
                "a socket");
    }

    /** The number of a network device in the namespace of {@code socket}. @param name empty: 0, for all */
    public static int device(int socket, String name) {
        if (name.isEmpty()) {
            return 0;
        }
        byte[] bytes = RawText.encode(name);
        MemorySegment request = Scratch.data(); // struct ifreq: the name, what is asked for
        request.asSlice(0, IFREQ_BYTES).fill((byte) 0);
        MemorySegment.copy(bytes, 0, request, JAVA_BYTE, 0, Math.min(bytes.length, IFNAMSIZ - 1));
        LinuxError.check(Syscall.call(Syscall.IOCTL, socket, SIOCGIFINDEX, request.address()),
                "network device " + name + ", which this machine may not have");
        return request.get(JAVA_INT, IFNAMSIZ);
    }

    /**
     * Of a group of sockets that share a port (SO_REUSEPORT), the one with this number, counted from 0 as they were
     * bound, gets what comes from now on.
     */
    public static void chooseOfGroup(int member, int number) {
        // struct sock_fprog {length, instructions}, and its only instruction: return the number
        MemorySegment program = Scratch.data();
        program.set(JAVA_SHORT, 0, (short) 1);
        program.set(JAVA_LONG, 8, program.address() + 16);
        program.set(JAVA_SHORT, 16, BPF_RET);
        program.set(JAVA_SHORT, 18, (short) 0);
        program.set(JAVA_INT, 20, number);
        LinuxError.check(
                Syscall.call(Syscall.SETSOCKOPT, member, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, program.address(), 16),
                "choose among sockets that share a port");
    }

    /** As it was before {@link #chooseOfGroup}. */
    public static void chooseBySender(int member) {
        TcpCalls.option(member, SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, 0);
    }

    /** Bytes sent, or {@code -errno}. */
    public static long send(int socket, byte[] message, byte[] to) {
        return send(socket, message, to, MSG_DONTWAIT);
    }

    /** As that, with flags of send(2). @param to empty: to where it is connected */
    public static long send(int socket, byte[] message, byte[] to, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(message.length + to.length + 1L, 8);
            MemorySegment.copy(to, 0, data, JAVA_BYTE, 0, to.length);
            MemorySegment.copy(message, 0, data, JAVA_BYTE, to.length, message.length);
            return Syscall.call(Syscall.SENDTO, socket, data.address() + to.length, message.length, flags,
                    to.length == 0 ? 0 : data.address(), to.length);
        }
    }
}
