package org.udckpt.ud;

import org.udckpt.address.Gid;

/**
 * A port of rdma_cm.
 *
 * @param space enum rdma_port_space; @param ip as IPv6, IPv4 addresses mapped, zero for any; @param number 0 to 65535;
 * @param familyOnly its holder takes no connection of the other family, so that this may have the port, too
 */
public record CmPort(int space, Gid ip, int number, boolean familyOnly) {
    private static final long MAPPED = 0x0000ffff00000000L;
    /** Any IPv4 address; {@link Gid#ZERO} is any IPv6 address, and any IPv4 address unless familyOnly. */
    static final Gid ANY_IPV4 = new Gid(0, MAPPED);

    public CmPort(int space, Gid ip, int number) {
        this(space, ip, number, false);
    }

    private boolean anyAddress() {
        return ip.isZero() || ip.equals(ANY_IPV4);
    }

    private boolean isIpv4() {
        return ip.prefix() == 0 && ip.interfaceId() >>> 32 == MAPPED >>> 32;
    }

    CmPort withNumber(int other) {
        return new CmPort(space, ip, other, familyOnly);
    }

    /** The same port number and address, of whatever port space. */
    CmPort withAnySpace() {
        return new CmPort(0, ip, number, familyOnly);
    }

    /** Whether it is exactly where the other is. */
    boolean isAt(CmPort other) {
        return space == other.space && number == other.number && ip.equals(other.ip);
    }

    /** Whether it has any address, and the other's is one. */
    boolean includes(CmPort other) {
        return space == other.space && number == other.number && anyAddress()
                && (isIpv4() == other.isIpv4() || !isIpv4() && !familyOnly);
    }

    /** Whether two ids cannot both have them. */
    boolean collides(CmPort other) {
        boolean apart = familyOnly && other.familyOnly && isIpv4() != other.isIpv4();
        return space == other.space && number == other.number && !apart
                && (anyAddress() || other.anyAddress() || ip.equals(other.ip));
    }
}
