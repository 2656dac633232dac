package org.udckpt.process.kinds.netlink;

import static org.udckpt.linux.LinuxConstants.AF_NETLINK;

import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.NetlinkSocket;

/** Makes netlink sockets in this process, which is in the same network namespace. */
final class NetlinkRestore implements MadeHere {
    private static final int NETLINK_ADD_MEMBERSHIP = 1;

    private final List<NetlinkSocket> sockets;
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;

    NetlinkRestore(JobImage image, ObjectOwners owners) {
        this.sockets = PacketSetup.of(image, NetlinkSocket.class);
        this.owners = owners;
    }

    @Override
    public void check() {
        make(_ -> {});
    }

    @Override
    public void make(Consumer<String> warn) {
        for (NetlinkSocket socket : sockets) {
            String name = "netlink socket with port " + Integer.toUnsignedString(socket.port());
            NamedProcess owner = owners.of(socket.id(), name);
            PacketSetup.named(owner, name, () -> make(socket, owner, name));
        }
    }

    private void make(NetlinkSocket socket, NamedProcess owner, String name) {
        int fd = PacketSetup.open(socket, AF_NETLINK, socket.type(), socket.protocol(), made);
        if (socket.port() != 0) {
            byte[] address = new byte[12]; // struct sockaddr_nl
            address[0] = AF_NETLINK;
            for (int i = 0; i < 4; i++) {
                address[4 + i] = (byte) (socket.port() >>> 8 * i);
            }
            PacketSetup.bind(fd, address, owner, name,
                    () -> "is in use, by another program or because the job still runs; end it first");
        }
        for (int group : socket.groups()) {
            TcpCalls.option(fd, PacketOptions.SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group);
        }
        TcpCalls.flags(fd, socket.flags());
    }

    @Override
    public Map<Long, Integer> made() {
        return made.all();
    }

    @Override
    public void close() {
        made.close();
    }
}
