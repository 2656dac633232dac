package org.udckpt.process.kinds.packet;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.AF_PACKET;
import static org.udckpt.linux.LinuxConstants.POLLIN;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.OptionalInt;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PacketDiag;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketEvents;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.LinkSocket;

/** Packet sockets. Packets that were not read are lost, as any may be: the restart says so. */
final class LinkCapture implements SocketCapture {
    static final int PACKET_FANOUT = 18;
    private static final int SIOCGIFNAME = 0x8910, GONE = -1, DIAG_MEMBERSHIP = 44;
    /** The type of a PACKET_FANOUT, in its third byte; its members choose by a program, which nobody gives out. */
    private static final int FANOUT_TYPE = 16, FANOUT_CBPF = 6, FANOUT_EBPF = 7;

    private final ObjectTable table;

    LinkCapture(CaptureScope scope) {
        this.table = scope.table();
    }

    @Override
    public boolean takes(SocketType type) {
        return type.packet();
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType type) {
        if (open.process().inFlight()) {
            throw open.refuse("a packet socket that is open in no process cannot be checkpointed; keep it open in one, "
                    + "too");
        }
        long id = table.newId();
        table.add(read(open, socket, type.type(), id));
        return id;
    }

    /** @param socket a duplicate of {@code open} */
    private static LinkSocket read(OpenDescriptor open, int socket, int type, long id) {
        PacketDiag.Info info;
        try {
            info = PacketDiag.query(open.stat().inode());
        } catch (LinuxError e) {
            throw open.refuse("a packet socket can be checkpointed only where the kernel tells of it (sock_diag(7), "
                    + "CONFIG_PACKET_DIAG: " + e.getMessage() + "); close it first");
        }
        OptionalInt fanout = SocketOptions.number(socket, PacketOptions.SOL_PACKET, PACKET_FANOUT);
        int fanoutType = fanout.orElse(0) >>> FANOUT_TYPE & 0xff;
        if (fanoutType == FANOUT_CBPF || fanoutType == FANOUT_EBPF) {
            throw open.refuse("a packet socket in a group whose members are chosen by a program (PACKET_FANOUT_DATA) "
                    + "cannot be checkpointed; close it first");
        }
        // asked of a new one: the protocol is not among what a new one has
        try (SocketOptions options = new SocketOptions(type, 0, PacketOptions.PACKET)) {
            return new LinkSocket(id, open.openFlags(), type, info.protocol(), device(open, socket, info.device()),
                    SocketOptions.withLinger(options.changed(AF_PACKET, socket), socket),
                    SocketOptions.receiveTimeoutUs(socket), SocketOptions.sendTimeoutUs(socket),
                    SocketOptions.chosenSendBuffer(socket), SocketOptions.chosenReceiveBuffer(socket),
                    info.receiveRing(), info.sendRing(), memberships(open, socket, info.memberships()),
                    fanout.orElse(0), (SocketEvents.of(socket) & POLLIN) != 0);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.EPERM || e.errno() == LinuxError.EACCES) {
                throw open.refuse("a packet socket can be checkpointed and restarted only by a user who may make one; "
                        + "close it first");
            }
            throw e;
        }
    }

    /** The name of the device with that number, which another machine may number otherwise. Empty: 0. */
    private static String device(OpenDescriptor open, int socket, int number) {
        if (number == 0) {
            return "";
        }
        MemorySegment data = Scratch.data(); // struct ifreq
        data.asSlice(0, 40).fill((byte) 0);
        data.set(JAVA_INT, LinkSocket.DEVICE, number);
        long result = number == GONE ? -LinuxError.ENODEV
                : Syscall.call(Syscall.IOCTL, socket, SIOCGIFNAME, data.address());
        if (result == -LinuxError.ENODEV) {
            throw open.refuse("the network device to which this packet socket is bound is gone; close it first");
        }
        LinuxError.check(result, "name of network device " + number);
        return RawText.decode(data.asSlice(0, LinkSocket.DEVICE).toArray(JAVA_BYTE)).replaceAll("\0.*", "");
    }

    /** As {@link LinkSocket#memberships}, of what sock_diag(7) tells. */
    private static byte[] memberships(OpenDescriptor open, int socket, byte[] told) {
        int count = told.length / DIAG_MEMBERSHIP;
        ByteBuffer from = ByteBuffer.wrap(told).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer all = ByteBuffer.allocate(count * LinkSocket.MEMBERSHIP).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < count; i++) {
            // the last added comes first
            from.position((count - 1 - i) * DIAG_MEMBERSHIP);
            all.position(i * LinkSocket.MEMBERSHIP);
            all.put(device(open, socket, from.getInt()).getBytes(StandardCharsets.UTF_8));
            all.position(i * LinkSocket.MEMBERSHIP + LinkSocket.DEVICE);
            all.put(told, from.position(), DIAG_MEMBERSHIP - Integer.BYTES);
        }
        return all.array();
    }
}
