package org.udckpt.linux;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

/**
 * An address and port, the same for a socket of either family: an IPv4 address that an IPv6 socket uses
 * (::ffff:127.0.0.1, ipv6(7)) is that IPv4 address.
 *
 * @param address 4 or 16 bytes in network order, in hexadecimal
 * @param scope the interface of a link-local address, 0: none
 */
public record TcpAddress(String address, int port, int scope) {
    public static final int IPV4 = 2, IPV6 = 10;
    private static final int IPV4_BYTES = 16, IPV6_BYTES = 28;
    private static final java.util.HexFormat HEX = java.util.HexFormat.of();

    /** @param name a struct sockaddr_in or sockaddr_in6, as the kernel wrote it */
    public static TcpAddress of(byte[] name) {
        boolean long6 = family(name) == IPV6;
        if (name.length < (long6 ? IPV6_BYTES : IPV4_BYTES)) {
            throw new IllegalArgumentException("a socket address of " + name.length + " bytes, family " + family(name));
        }
        int port = (name[2] & 0xff) << 8 | name[3] & 0xff;
        byte[] address = long6 ? Arrays.copyOfRange(name, 8, 24) : Arrays.copyOfRange(name, 4, 8);
        int scope = long6 ? name[24] & 0xff | (name[25] & 0xff) << 8 | (name[26] & 0xff) << 16 | (name[27] & 0xff) << 24
                : 0;
        return of(address, port, scope);
    }

    /** @param address 4 or 16 bytes in network order */
    public static TcpAddress of(byte[] address, int port, int scope) {
        return new TcpAddress(HEX.formatHex(mapped(address) ? Arrays.copyOfRange(address, 12, 16) : address), port,
                scope);
    }

    private static boolean mapped(byte[] address) {
        boolean mapped = address.length == 16 && address[10] == -1 && address[11] == -1;
        for (int i = 0; mapped && i < 10; i++) {
            mapped = address[i] == 0;
        }
        return mapped;
    }

    private static int family(byte[] name) {
        if (name.length < 2) {
            throw new IllegalArgumentException("a socket address of " + name.length + " bytes");
        }
        return name[0] & 0xff | (name[1] & 0xff) << 8;
    }

    /** struct sockaddr_in or sockaddr_in6 for a socket of {@code domain}. */
    public byte[] name(int domain) {
        byte[] name = new byte[domain == IPV4 ? IPV4_BYTES : IPV6_BYTES];
        byte[] bytes = HEX.parseHex(address);
        name[0] = (byte) domain;
        name[2] = (byte) (port >> 8);
        name[3] = (byte) port;
        if (domain == IPV6 && bytes.length == 4) {
            name[18] = name[19] = -1;
        }
        System.arraycopy(bytes, 0, name, domain == IPV4 ? 4 : 24 - bytes.length, bytes.length);
        for (int i = 0; domain == IPV6 && i < 4; i++) {
            name[24 + i] = (byte) (scope >>> 8 * i);
        }
        return name;
    }

    TcpAddress unscoped() {
        return scope == 0 ? this : new TcpAddress(address, port, 0);
    }

    /** 0.0.0.0 or :: */
    public boolean any() {
        return address.chars().allMatch(c -> c == '0');
    }

    /** Whether a socket that listens at this address hears what comes to {@code other}. */
    public boolean hears(TcpAddress other) {
        return port == other.port
                && (any() && (address.length() == 32 || other.address.length() == 8) || equals(other));
    }

    @Override
    public String toString() {
        try {
            String host = InetAddress.getByAddress(HEX.parseHex(address)).getHostAddress();
            return (address.length() == 32 ? "[" + host + (scope == 0 ? "" : "%" + scope) + "]" : host) + ":" + port;
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(address, impossible);
        }
    }
}
