package org.udckpt.process.kinds.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.process.model.BindOptions;
import org.udckpt.process.model.PacketSocket.UdpSocket;
import org.udckpt.process.model.TcpOptions;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TcpSocket.TcpState;

/**
 * What sockets must have had switched on when they were bound, although they have it no more: nobody else gets a port
 * that another one has (SO_REUSEPORT), or an address that the machine does not have (IP_FREEBIND). A restart has to
 * bind them with that.
 */
public final class BoundPorts {
    /** @param type SOCK_STREAM, SOCK_DGRAM */
    private record Bound(int type, int domain, TcpAddress local, byte[] name, String device, int[] options) {
        boolean now(int name) {
            return BindOptions.now(options, TcpOptions.SOL_SOCKET, name) != 0;
        }

        /** Whether one of the two would keep the other from its port. */
        boolean overlaps(Bound other) {
            boolean devices = device.isEmpty() || other.device.isEmpty() || device.equals(other.device);
            return devices && local.port() != 0 && (local.hears(other.local) || other.local.hears(local))
                    && !apart(other) && !other.apart(this);
        }

        private boolean apart(Bound other) {
            return domain == TcpAddress.IPV6 && other.domain == TcpAddress.IPV4
                    && BindOptions.now(options, TcpOptions.SOL_IPV6, TcpOptions.IPV6_V6ONLY) != 0;
        }
    }

    private BoundPorts() {}

    /** UDP sockets with the options that they were bound with. */
    public static List<UdpSocket> udp(List<UdpSocket> sockets) {
        List<Bound> all = sockets.stream()
                .map(one -> new Bound(SOCK_DGRAM, one.domain(), TcpAddress.of(one.local()),
                        one.local(), one.device(), one.options()))
                .toList();
        return sockets.stream().map(one -> {
            Bound own = all.get(sockets.indexOf(one));
            boolean shares = all.stream().anyMatch(other -> other != own && own.overlaps(other)
                    && !(own.now(TcpOptions.SO_REUSEADDR) && other.now(TcpOptions.SO_REUSEADDR))
                    && !(own.now(TcpOptions.SO_REUSEPORT) && other.now(TcpOptions.SO_REUSEPORT)));
            return new UdpSocket(one.id(), one.flags(), one.domain(), one.local(), one.remote(), one.queued(),
                    one.lengths(), one.senders(), then(own, shares), one.receiveTimeoutUs(), one.sendTimeoutUs(),
                    one.sendBuffer(), one.receiveBuffer(), one.device());
        }).toList();
    }

    /**
     * TCP sockets, of which only listeners need it: others share a port by SO_REUSEADDR, which a restart sets on all.
     */
    public static List<TcpSocket> tcp(List<TcpSocket> sockets) {
        List<TcpSocket> listening = sockets.stream().filter(one -> one.state() == TcpState.LISTENING).toList();
        return sockets.stream().map(one -> {
            if (one.state() != TcpState.LISTENING && one.state() != TcpState.UNCONNECTED) {
                return one;
            }
            Bound own = bound(one);
            boolean shares = one.state() == TcpState.LISTENING
                    && !listening.stream()
                            .filter(other -> other != one)
                            .map(BoundPorts::bound)
                            .allMatch(other -> !own.overlaps(other)
                                    || own.now(TcpOptions.SO_REUSEPORT)
                                            && other.now(TcpOptions.SO_REUSEPORT));
            return new TcpSocket(one.id(), one.flags(), one.domain(), one.state(), one.peer(), one.local(),
                    one.remote(), one.queued(), one.shutdown(), one.backlog(), then(own, shares),
                    one.receiveTimeoutUs(), one.sendTimeoutUs(), one.lingerSeconds(), one.sendBuffer(),
                    one.receiveBuffer(), one.congestion(), one.device());
        }).toList();
    }

    private static Bound bound(TcpSocket socket) {
        return new Bound(SOCK_STREAM, socket.domain(), TcpAddress.of(socket.local()), socket.local(), socket.device(),
                socket.options());
    }

    private static int[] then(Bound socket, boolean shares) {
        int[] options = shares ? BindOptions.with(socket.options, TcpOptions.SOL_SOCKET, TcpOptions.SO_REUSEPORT)
                : socket.options;
        boolean free = BindOptions.now(options, TcpOptions.SOL_IP, BindOptions.IP_FREEBIND) != 0
                || BindOptions.now(options, TcpOptions.SOL_IP, BindOptions.IP_TRANSPARENT) != 0;
        return free || socket.local.any() || here(socket)
                ? options
                : BindOptions.with(options, TcpOptions.SOL_IP, BindOptions.IP_FREEBIND);
    }

    /** Whether this machine has its address. */
    private static boolean here(Bound socket) {
        int probe = (int) LinuxError.check(
                NetworkCalls.socket(socket.domain, socket.type | Syscall.O_CLOEXEC, 0), "a socket");
        try {
            MemorySegment data = Scratch.data();
            MemorySegment.copy(socket.name, 0, data, JAVA_BYTE, 0, socket.name.length);
            data.set(JAVA_BYTE, 2, (byte) 0); // any port
            data.set(JAVA_BYTE, 3, (byte) 0);
            return Syscall.call(Syscall.BIND, probe, data.address(), socket.name.length) != -LinuxError.EADDRNOTAVAIL;
        } finally {
            Files.close(probe);
        }
    }
}
