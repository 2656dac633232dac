package org.udckpt.process.restore;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.TcpAddress;
import org.udckpt.linux.TcpTable;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.names.Holders;

/** Whether the ports of a job's TCP and UDP sockets could be had: they are bound as for a restart, and let go. */
final class Ports {
    private Ports() {}

    /** @throws RestoreException naming the socket, and who has its port */
    static void check(JobImage image, Owners owners) {
        var named = owners.ofObjects();
        for (TcpSocket socket : image.tcpSockets()) {
            TcpAddress local = TcpAddress.of(socket.local());
            if (named.containsKey(socket.id()) && (local.port() != 0 || !local.any()) && socket.state() != TcpSocket.TcpState.CLOSED) {
                check(socket, new TcpLink(named.get(socket.id())));
            }
        }
        try (PacketObjects packets = new PacketObjects(image, owners)) {
            packets.bind();
        }
    }

    private static void check(TcpSocket socket, TcpLink link) {
        int fd = TcpSetup.open(socket);
        try {
            TcpSetup.options(socket, fd);
            link.bind(fd, socket); // false: a restart would wait for what is on its way out
            link.refuseLiving(socket);
        } finally {
            Files.close(fd);
        }
    }

    /** For messages: {@code by another program or because the job still runs: process 12 (name) has it}. @param protocol "tcp" or "udp" */
    static String taken(String protocol, int port) {
        List<Long> inodes = TcpTable.inodes(protocol, port);
        return "is taken, by another program or because the job still runs: " + Holders.ofSockets(inodes) + " has it; end it first";
    }
}
