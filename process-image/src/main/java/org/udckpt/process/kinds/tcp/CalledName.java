package org.udckpt.process.kinds.tcp;

import org.udckpt.linux.TcpAddress;
import org.udckpt.process.model.TcpSocket;

/** Addresses of this machine to call (struct sockaddr_in, sockaddr_in6), of which the port is yet to be chosen. */
final class CalledName {
    /** sin_addr and sin6_addr. */
    private static final int IPV4_ADDRESS = 4, IPV6_ADDRESS = 8, IPV6_BYTES = 16;

    private CalledName() {}

    /** The same address. */
    static byte[] anyPort(byte[] name) {
        byte[] other = name.clone();
        other[2] = other[3] = 0;
        return other;
    }

    /** The socket's own address, or, where that is any, the loopback device's. */
    static byte[] of(TcpSocket socket) {
        byte[] name = anyPort(socket.local());
        return TcpAddress.of(name).any() ? loopback(socket) : name;
    }

    static byte[] loopback(TcpSocket socket) {
        byte[] name = anyPort(socket.local());
        if (socket.domain() == TcpAddress.IPV4) {
            System.arraycopy(new byte[]{127, 0, 0, 1}, 0, name, IPV4_ADDRESS, 4);
        } else {
            System.arraycopy(new byte[IPV6_BYTES], 0, name, IPV6_ADDRESS, IPV6_BYTES);
            name[IPV6_ADDRESS + IPV6_BYTES - 1] = 1;
        }
        return name;
    }
}
