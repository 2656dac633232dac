package org.udckpt.process.kinds.udp;

import static org.udckpt.linux.LinuxConstants.MSG_DONTWAIT;

import java.io.IOException;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.UnsentDatagram;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SendQueue;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PacketSocket.UdpSocket;

/**
 * What UDP socket {@code object} has collected of a datagram that is not sent yet (UDP_CORK, MSG_MORE).
 *
 * @param queued its bytes so far
 * @param remote where it goes; empty: to where the socket is connected
 */
public record UdpUnsent(long id, long object, byte[] queued, byte[] remote) implements KernelObject {
    private static final int MSG_MORE = 0x8000;

    /** What one collects; null: nothing, though what it sent may be on its way. */
    static UnsentDatagram collected(OpenDescriptor open, UdpSocket read, int socket) {
        if (SendQueue.bytes(socket) == 0) {
            return null;
        }
        try {
            return UnsentDatagram.of(socket);
        } catch (LinuxError | IOException e) {
            if (SendQueue.becomesEmpty(socket)) {
                return null;
            }
            throw open.refuse("UDP socket " + TcpAddress.of(read.local())
                    + " collects a datagram that is not sent yet (UDP_CORK, MSG_MORE), which only root can read ("
                    + e.getMessage() + "); let the program send it, or take the checkpoint as root");
        }
    }

    static UdpUnsent of(UnsentDatagram datagram, UdpSocket read, long id) {
        byte[] to = UdpAddress.as(read.domain(), datagram.to());
        boolean connected = read.remote().length > 0 && TcpAddress.of(to).equals(TcpAddress.of(read.remote()));
        return new UdpUnsent(id, read.id(), datagram.bytes(), connected ? new byte[0] : to);
    }

    /** Collects it again; {@code -errno} where this machine does not reach its receiver. */
    long apply(int socket) {
        return PacketCalls.send(socket, queued, remote, MSG_DONTWAIT | MSG_MORE);
    }
}
