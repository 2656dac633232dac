package org.udckpt.process.kinds.udp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;
import static org.udckpt.linux.LinuxConstants.MSG_NOSIGNAL;
import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLHUP;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.UnsentDatagram;
import org.udckpt.process.kinds.socket.SocketEvents;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PacketSocket.UdpSocket;

/**
 * Directions in which UDP socket {@code object} was shut (shutdown(2)), with or without an address to which it is
 * connected: it says ENOTCONN then, and is shut.
 *
 * @param directions {@link #RECEIVE}, {@link #SEND} or both
 */
public record UdpShutdown(long id, long object, int directions) implements KernelObject {
    static final int RECEIVE = 1, SEND = 2;
    private static final int SENDER_ADDRESS = 512, LOOPBACK_PORT = 9;

    /**
     * What was shut of a socket; empty: nothing.
     *
     * @param collected what it has not sent yet, which the question would throw away; null: nothing
     */
    static Optional<UdpShutdown> of(UdpSocket read, int socket, UnsentDatagram collected, long id) {
        int events = SocketEvents.of(socket);
        int directions = (events & POLLRDHUP) == 0 ? 0 : RECEIVE;
        boolean send = (events & POLLHUP) != 0;
        if (!send && (events & POLLERR) == 0) {
            send = collected == null ? sendIsShut(read, socket) : collected.shut();
        }
        directions |= send ? SEND : 0;
        return directions == 0 ? Optional.empty() : Optional.of(new UdpShutdown(id, read.id(), directions));
    }

    /**
     * The kernel tells it of both directions together only. Who sends a byte from where there is no memory gets EPIPE
     * before EFAULT, and nothing is sent in any case. A socket without a port would get one by that: it is not asked.
     */
    private static boolean sendIsShut(UdpSocket read, int socket) {
        if (TcpAddress.of(read.local()).port() == 0) {
            return false;
        }
        byte[] to = read.remote().length > 0 ? new byte[0] : itself(read);
        MemorySegment address = Scratch.data().asSlice(SENDER_ADDRESS, to.length);
        MemorySegment.copy(to, 0, address, JAVA_BYTE, 0, to.length);
        return Syscall.call(Syscall.SENDTO, socket, 0, 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                to.length == 0 ? 0 : address.address(), to.length) == -LinuxError.EPIPE;
    }

    /** An address that it reaches: its own, or this machine's by the loopback interface. */
    private static byte[] itself(UdpSocket read) {
        if (!TcpAddress.of(read.local()).any()) {
            return read.local();
        }
        return UdpAddress.loopback(read.domain(), LOOPBACK_PORT);
    }

    /** shutdown(2). */
    void apply(int socket) {
        long result = Syscall.call(Syscall.SHUTDOWN, socket, directions - 1);
        if (result != -LinuxError.ENOTCONN) {
            LinuxError.check(result, "shut a UDP socket");
        }
    }
}
