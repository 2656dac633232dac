package org.udckpt.ud;

import org.udckpt.address.Gid;

/**
 * A port of rdma_cm.
 *
 * @param space enum rdma_port_space; @param ip as IPv6, IPv4 addresses mapped, zero for any; @param number 0 to 65535
 */
public record CmPort(int space, Gid ip, int number) {
    boolean anyAddress() {
        return ip.isZero();
    }

    CmPort withNumber(int other) {
        return new CmPort(space, ip, other);
    }

    CmPort withAnyAddress() {
        return new CmPort(space, Gid.ZERO, number);
    }

    /** The same port number and address, of whatever port space. */
    CmPort withAnySpace() {
        return new CmPort(0, ip, number);
    }

    /** Whether two ids cannot both have them. */
    boolean collides(CmPort other) {
        return space == other.space && number == other.number
                && (anyAddress() || other.anyAddress() || ip.equals(other.ip));
    }
}
