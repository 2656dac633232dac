package org.udckpt.process.kinds.socket;

import java.util.List;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.names.Holders;

/** Finds the holder of a port. */
public final class TakenPorts {
    private TakenPorts() {}

    /**
     * For messages: {@code by another program or because the job still runs: process 12 (name) has it}. @param protocol
     * "tcp" or "udp"
     */
    public static String holder(String protocol, int port) {
        List<Long> inodes = TcpTable.inodes(protocol, port);
        return "is in use, by another program or because the job still runs: " + Holders.ofSockets(inodes)
                + " has it; end it first";
    }
}
