package org.udckpt.process.kinds.netlink;

import static org.udckpt.linux.LinuxConstants.AF_NETLINK;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.NetlinkSocket;

/** Makes netlink sockets in this process, in the network namespace of {@link NetworkCalls#in}. */
final class NetlinkRestore implements MadeHere {
    private static final int NETLINK_ADD_MEMBERSHIP = 1;

    private final List<NetlinkSocket> sockets;
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;
    private final Map<Long, NetlinkPeer> peers = new HashMap<>();

    NetlinkRestore(JobImage image, ObjectOwners owners) {
        this.sockets = PacketSetup.of(image, NetlinkSocket.class);
        this.owners = owners;
        image.objects().stream().filter(NetlinkPeer.class::isInstance).map(NetlinkPeer.class::cast)
                .forEach(peer -> peers.put(peer.object(), peer));
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
            PacketSetup.bind(fd, address(socket.port(), 0), owner, name,
                    () -> "is in use, by another program or because the job still runs; end it first");
        }
        for (int group : socket.groups()) {
            TcpCalls.option(fd, PacketOptions.SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group);
        }
        NetlinkPeer peer = peers.get(socket.id());
        if (peer != null) {
            LinuxError.check(TcpCalls.connect(fd, address(peer.port(), peer.groups())), "connect to port "
                    + Integer.toUnsignedString(peer.port()));
        }
        TcpCalls.flags(fd, socket.flags());
    }

    /** struct sockaddr_nl. */
    private static byte[] address(int port, int groups) {
        return ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN).putInt(AF_NETLINK).putInt(port).putInt(groups)
                .array();
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
