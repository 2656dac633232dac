package org.udckpt.process.kinds.socket;

import static org.udckpt.linux.LinuxConstants.AF_INET;
import static org.udckpt.linux.LinuxConstants.AF_INET6;
import static org.udckpt.linux.LinuxConstants.AF_NETLINK;
import static org.udckpt.linux.LinuxConstants.AF_PACKET;
import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;
import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * A socket's domain, type and protocol (socket(2)).
 *
 * @param domain AF_UNIX 1, AF_INET 2, AF_INET6 10, AF_NETLINK 16, AF_PACKET 17
 * @param type SOCK_STREAM 1, SOCK_DGRAM 2
 * @param protocol IPPROTO_TCP 6, IPPROTO_UDP 17, ...
 */
public record SocketType(int domain, int type, int protocol) {
    /** Asks a socket of this process. */
    public static SocketType of(int socket) {
        return new SocketType(SocketQueue.option(socket, SocketQueue.SO_DOMAIN),
                SocketQueue.option(socket, SocketQueue.SO_TYPE), SocketQueue.option(socket, SocketQueue.SO_PROTOCOL));
    }

    /** unix(7). */
    public boolean unix() {
        return domain == AF_UNIX;
    }

    /** netlink(7). */
    public boolean netlink() {
        return domain == AF_NETLINK;
    }

    /** packet(7). */
    public boolean packet() {
        return domain == AF_PACKET;
    }

    /** ip(7) or ipv6(7), of that type and protocol. */
    public boolean internet(int wantedType, int wantedProtocol) {
        return (domain == AF_INET || domain == AF_INET6) && type == wantedType && protocol == wantedProtocol;
    }

    /** ip(7) or ipv6(7), of that type. */
    public boolean internet(int wantedType) {
        return internet(wantedType, protocol);
    }

    /** The refusal of a socket that no kind takes. */
    public RuntimeException refusal(OpenDescriptor open) {
        return open.refuse(this
                + " cannot be checkpointed; only verbs, unix sockets, TCP, UDP, raw and packet sockets can: turn "
                + "this connection off");
    }

    /** For messages. */
    @Override
    public String toString() {
        String kind = type == SOCK_STREAM ? "stream (TCP or other)"
                : type == SOCK_DGRAM ? "datagram (UDP or other)"
                        : "raw";
        return switch (domain) {
            case AF_INET -> "a " + kind + " socket (IPv4)";
            case AF_INET6 -> "a " + kind + " socket (IPv6)";
            default -> "a socket of address family " + domain;
        };
    }
}
