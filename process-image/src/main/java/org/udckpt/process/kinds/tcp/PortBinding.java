package org.udckpt.process.kinds.tcp;

import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpCalls;
import org.udckpt.linux.TcpTable;

/**
 * How a socket was bound to its address and port. What is left of a connection that has ended (TIME_WAIT) holds its
 * port for a minute, unless it had set SO_REUSEADDR; root need not wait.
 *
 * @param how     {@link How}
 * @param result of bind(2): 0 or {@code -errno}
 */
record PortBinding(How how, long result) {
    private static final int IPPROTO_IP = 0, IP_LOCAL_PORT_RANGE = 51;

    enum How {
        BOUND,
        /** {@link #end} is to come. */
        FORCED,
        /** Not now; in a minute at most. */
        LEAVING,
        FAILED
    }

    /** @param force not for a listener that stays: what it accepts would have to be ended, too */
    static PortBinding bind(int socket, byte[] name, boolean force) {
        long result = TcpCalls.bind(socket, name);
        if (result == 0) {
            return new PortBinding(How.BOUND, 0);
        }
        if (result != -LinuxError.EADDRINUSE) {
            return new PortBinding(How.FAILED, result);
        }
        if (!TcpTable.now().leaving(TcpAddress.of(name).port())) {
            // or it has left since
            return TcpCalls.bind(socket, name) == 0 ? new PortBinding(How.BOUND, 0)
                    : new PortBinding(How.FAILED, result);
        }
        return force && TcpCalls.bindForced(socket, name) == 0 ? new PortBinding(How.FORCED, 0)
                : new PortBinding(How.LEAVING, result);
    }

    /**
     * As connect(2) binds: the port is free again when the connection is over, though getsockname(2) still tells it.
     *
     * @return false: to another port of that address, if at all (before Linux 6.3; it is in use, or not in
     *     net.ipv4.ip_local_port_range)
     */
    static boolean bindLoosely(int socket, byte[] name) {
        int port = TcpAddress.of(name).port();
        byte[] any = CalledName.anyPort(name);
        boolean bound = false;
        try {
            TcpCalls.option(socket, IPPROTO_IP, IP_LOCAL_PORT_RANGE, port << 16 | port);
            bound = TcpCalls.bind(socket, any) == 0;
            TcpCalls.option(socket, IPPROTO_IP, IP_LOCAL_PORT_RANGE, 0);
        } catch (LinuxError e) {
            // then the kernel chooses
        }
        bound = bound || TcpCalls.bind(socket, any) == 0;
        return bound && (port == 0 || TcpAddress.of(TcpCalls.name(Syscall.GETSOCKNAME, socket)).port() == port);
    }

    boolean bound() {
        return how == How.BOUND || how == How.FORCED;
    }

    boolean leaving() {
        return how == How.LEAVING;
    }

    /** @param socket the bound one, which does not listen; or one that it has accepted */
    void end(int socket) {
        if (how == How.FORCED) {
            TcpCalls.endForced(socket);
        }
    }
}
