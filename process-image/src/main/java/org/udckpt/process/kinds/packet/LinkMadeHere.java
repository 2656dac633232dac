package org.udckpt.process.kinds.packet;

import static org.udckpt.linux.LinuxConstants.AF_PACKET;
import static org.udckpt.linux.LinuxConstants.SOCK_PACKET;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.PacketCalls;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.kinds.base.MadeHere;
import org.udckpt.process.kinds.base.NamedProcess;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.socket.MadeSockets;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.LinkSocket;

/**
 * Makes packet sockets in this process, in the network namespace of {@link NetworkCalls#in}. They hear nothing yet:
 * {@link LinkRestore} binds them. (A SOCK_PACKET hears from the first moment on: its protocol cannot be chosen later.)
 */
final class LinkMadeHere implements MadeHere {
    private static final int PACKET_ADD_MEMBERSHIP = 1, PACKET_RX_RING = 5, PACKET_TX_RING = 13;
    /** Of a struct sockaddr, and of a struct packet_mreq_max: device, type, length, address. */
    private static final int NAME = 16, MEMBERSHIP = 40, KIND_AND_ADDRESS = 36;

    private final List<LinkSocket> sockets;
    private final MadeSockets made = new MadeSockets();
    private final ObjectOwners owners;

    LinkMadeHere(JobImage image, ObjectOwners owners) {
        this.sockets = PacketSetup.of(image, LinkSocket.class);
        this.owners = owners;
    }

    @Override
    public void check() {
        make(_ -> {});
    }

    @Override
    public void make(Consumer<String> warn) {
        for (LinkSocket socket : sockets) {
            String name = LinkSocketKind.name(socket);
            NamedProcess owner = owners.of(socket.id(), name);
            PacketSetup.named(owner, name, () -> make(socket));
            if (socket.unread()) {
                warn.accept(owner.name() + ": packets that the " + name + " had not read are lost");
            }
        }
    }

    private void make(LinkSocket socket) {
        boolean old = socket.type() == SOCK_PACKET;
        int fd = PacketSetup.open(socket, AF_PACKET, socket.type(), old ? network(socket.protocol()) : 0, made);
        PacketCalls.device(fd, socket.device()); // whether it is there
        if (old && !socket.device().isEmpty()) {
            byte[] name = new byte[NAME];
            name[0] = AF_PACKET;
            byte[] device = socket.device().getBytes(StandardCharsets.UTF_8);
            System.arraycopy(device, 0, name, 2, Math.min(device.length, NAME - 2));
            LinuxError.check(TcpCalls.bind(fd, name), "bind to " + socket.device());
        }
        ring(fd, PACKET_RX_RING, socket.receiveRing());
        ring(fd, PACKET_TX_RING, socket.sendRing());
        for (int at = 0; at < socket.memberships().length; at += LinkSocket.MEMBERSHIP) {
            join(fd, Arrays.copyOfRange(socket.memberships(), at, at + LinkSocket.MEMBERSHIP));
        }
        TcpCalls.flags(fd, socket.flags());
    }

    /** A number of two bytes in the order of the network. */
    static int network(int number) {
        return Short.toUnsignedInt(Short.reverseBytes((short) number));
    }

    private static void ring(int fd, int option, int[] ring) {
        if (ring.length > 0) {
            ByteBuffer bytes = ByteBuffer.allocate(Integer.BYTES * ring.length).order(ByteOrder.LITTLE_ENDIAN);
            bytes.asIntBuffer().put(ring);
            TcpCalls.option(fd, PacketOptions.SOL_PACKET, option, bytes.array());
        }
    }

    private static void join(int fd, byte[] membership) {
        ByteBuffer from = ByteBuffer.wrap(membership).order(ByteOrder.LITTLE_ENDIAN);
        String device = new String(membership, 0, LinkSocket.DEVICE, StandardCharsets.UTF_8).replaceAll("\0.*", "");
        int count = from.getInt(LinkSocket.DEVICE);
        byte[] joined = ByteBuffer.allocate(MEMBERSHIP).order(ByteOrder.LITTLE_ENDIAN)
                .putInt(PacketCalls.device(fd, device))
                .put(membership, LinkSocket.DEVICE + Integer.BYTES, KIND_AND_ADDRESS).array();
        for (int i = 0; i < count; i++) {
            TcpCalls.option(fd, PacketOptions.SOL_PACKET, PACKET_ADD_MEMBERSHIP, joined);
        }
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
