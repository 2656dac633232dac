package org.udckpt.process.kinds.packet;

import static org.udckpt.linux.LinuxConstants.AF_PACKET;
import static org.udckpt.linux.LinuxConstants.SOCK_PACKET;

import org.udckpt.linux.RawText;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.socket.PacketSetup;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.PacketOptions;
import org.udckpt.process.model.PacketSocket.LinkSocket;

/** Lets packet sockets hear again, when their filters are attached: no packet passes that would not have. */
final class LinkRestore implements KindRestore<LinkSocket> {
    /** Bytes of a struct sockaddr_ll. */
    private static final int NAME = 20;
    /** struct ifreq: a name, and here the number. */
    private static final int SIOCGIFINDEX = 0x8933, IFNAMSIZ = 16, IFREQ_BYTES = 40;

    private final RestoreScope scope;

    LinkRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        PacketSetup.of(scope.image(), LinkSocket.class).forEach(this::bind);
    }

    private void bind(LinkSocket socket) {
        Descriptor any = scope.descriptor(socket.id());
        Maker maker = scope.process(any.pid());
        boolean named = socket.protocol() != 0 || !socket.device().isEmpty();
        if (named && socket.type() != SOCK_PACKET) {
            int device = device(maker, any.fd(), socket.device());
            long name = maker.structure().i16(AF_PACKET).i16(LinkMadeHere.network(socket.protocol()))
                    .i32(device).i64(0).i32(0).put();
            maker.call("bind the packet socket at descriptor " + any.fd(), Syscall.BIND, any.fd(), name, NAME);
        }
        if (socket.fanout() != 0) {
            maker.call("put the packet socket at descriptor " + any.fd() + " into its group", Syscall.SETSOCKOPT,
                    any.fd(), PacketOptions.SOL_PACKET, LinkCapture.PACKET_FANOUT,
                    maker.structure().i32(socket.fanout()).put(), Integer.BYTES);
        }
    }

    /** The number of a network device in the socket's own namespace, which need not be this process's. */
    private static int device(Maker maker, int fd, String name) {
        if (name.isEmpty()) {
            return 0;
        }
        byte[] bytes = RawText.encode(name);
        byte[] request = new byte[IFREQ_BYTES];
        System.arraycopy(bytes, 0, request, 0, Math.min(bytes.length, IFNAMSIZ - 1));
        long address = maker.bytes(request);
        maker.call("number of network device " + name, Syscall.IOCTL, fd, SIOCGIFINDEX, address);
        return maker.readInt(address + IFNAMSIZ);
    }
}
