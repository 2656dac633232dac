package org.udckpt.process.kinds.udp;

import java.util.Arrays;
import org.udckpt.linux.TcpAddress;
import org.udckpt.process.model.PacketSocket.UdpSocket;

/** struct sockaddr_in and sockaddr_in6 in other shapes (ip(7), ipv6(7)). */
final class UdpAddress {
    private static final int IPV6_ADDRESS = 8, IPV4_ADDRESS = 4, MAPPED = 12;

    private UdpAddress() {}

    /** 0.0.0.0 or :: */
    static byte[] anyWithPort(int domain, int port) {
        byte[] name = new byte[UdpSocket.addressBytes(domain)];
        name[0] = (byte) domain;
        return withPort(name, port);
    }

    /** 127.0.0.1 or ::1 */
    static byte[] loopback(int domain, int port) {
        byte[] name = anyWithPort(domain, port);
        if (domain == TcpAddress.IPV4) {
            name[IPV4_ADDRESS] = 127;
            name[IPV4_ADDRESS + 3] = 1;
        } else {
            name[IPV6_ADDRESS + 15] = 1;
        }
        return name;
    }

    static byte[] withPort(byte[] name, int port) {
        byte[] other = name.clone();
        other[2] = (byte) (port >> 8);
        other[3] = (byte) port;
        return other;
    }

    /** For a socket of this family: ::ffff:127.0.0.1 is 127.0.0.1 there. */
    static byte[] as(int domain, byte[] name) {
        if (name[0] == domain) {
            return name;
        }
        byte[] other = anyWithPort(domain, TcpAddress.of(name).port());
        if (domain == TcpAddress.IPV4) {
            System.arraycopy(name, IPV6_ADDRESS + MAPPED, other, IPV4_ADDRESS, 4);
        } else {
            Arrays.fill(other, IPV6_ADDRESS + MAPPED - 2, IPV6_ADDRESS + MAPPED, (byte) 0xff);
            System.arraycopy(name, IPV4_ADDRESS, other, IPV6_ADDRESS + MAPPED, 4);
        }
        return other;
    }
}
