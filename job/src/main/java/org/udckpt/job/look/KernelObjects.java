package org.udckpt.job.look;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.linux.TcpAddress;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;

/** The kernel objects of a checkpoint, by id: what its descriptors name. */
public final class KernelObjects {
    private final Map<Long, Named> objects = new HashMap<>();

    /**
     * One object.
     *
     * @param kind as in the image's table, {@code OpenFile}
     * @param name what tells it from others of its kind: a path, addresses; "" where nothing does
     * @param position of a file, else -1
     */
    public record Named(String kind, String name, long position) {
        @Override
        public String toString() {
            return name.isEmpty() ? kind : kind + " " + name;
        }

        /** The same thing in another checkpoint, wherever its position is. */
        public boolean same(Named other) {
            return kind.equals(other.kind) && name.equals(other.name);
        }
    }

    public KernelObjects(JobImage image) {
        image.objects().forEach(object -> objects.put(object.id(), new Named(object.getClass().getSimpleName(), name(object), position(object))));
        image.terminals().forEach(object -> objects.put(object.id(), new Named(object.getClass().getSimpleName(), name(object), -1)));
        image.packetSockets().forEach(socket -> objects.put(socket.id(), new Named(socket.getClass().getSimpleName(), name(socket), -1)));
        image.tcpSockets().forEach(socket -> objects.put(socket.id(), new Named("TcpSocket", name(socket), -1)));
    }

    /** The object of a descriptor. */
    public Named get(long id) {
        return objects.getOrDefault(id, new Named("unknown", "object " + id, -1));
    }

    /** How many there are of each kind, whether a descriptor names them or not. */
    public Map<String, Integer> kinds() {
        Map<String, Integer> kinds = new TreeMap<>();
        objects.values().forEach(object -> kinds.merge(object.kind(), 1, Integer::sum));
        return kinds;
    }

    private static long position(KernelObject object) {
        return object instanceof KernelObject.OpenFile file ? file.position() : -1;
    }

    private static String name(KernelObject object) {
        return switch (object) {
            case KernelObject.OpenFile file -> file.path();
            case KernelObject.SharedMemory memory -> memory.path();
            case KernelObject.Pipe pipe -> pipe.path() == null ? "" : pipe.path();
            case KernelObject.PipeEnd end -> end.writeEnd() ? "writing" : "reading";
            case KernelObject.EventFd _, KernelObject.Epoll _, KernelObject.EpollEntry _, KernelObject.FileLock _, KernelObject.SignalOnReady _, KernelObject.SignalOwner _, KernelObject.InotifyFd _,
                    KernelObject.AgentConnection _, KernelObject.PmiConnection _ -> "";
            case KernelObject.TimerFd timer -> "clock " + timer.clock();
            case KernelObject.UnixSocket socket -> (socket.state() + " " + new String(socket.name(), StandardCharsets.UTF_8).replace('\0', '@')).strip();
            case KernelObject.GonePeer peer -> new String(peer.name(), StandardCharsets.UTF_8).replace('\0', '@');
            case KernelObject.UnixOptions changed -> changed.options().length / 3 + " options";
            case KernelObject.MappedFile file -> file.path();
            case KernelObject.SignalFd signal -> "mask 0x%x".formatted(signal.mask());
            case KernelObject.DirectoryOrDevice file -> file.path();
            case KernelObject.PseudoFile file -> file.path();
            case KernelObject.StandardStream stream -> new String[] {"input", "output", "error"}[stream.stream()];
        };
    }

    private static String name(TerminalObject object) {
        return switch (object) {
            case TerminalObject.Terminal terminal -> "/dev/pts/" + terminal.number();
            case TerminalObject.TerminalEnd end -> end.master() ? "master" : "slave";
        };
    }

    private static String name(PacketSocket socket) {
        return switch (socket) {
            case PacketSocket.UdpSocket udp -> TcpAddress.of(udp.local()) + (udp.remote().length == 0 ? "" : " to " + TcpAddress.of(udp.remote()));
            case PacketSocket.NetlinkSocket netlink -> "family " + netlink.protocol();
        };
    }

    private static String name(TcpSocket socket) {
        String remote = socket.remote().length == 0 ? "" : " to " + TcpAddress.of(socket.remote());
        return socket.state() + " " + TcpAddress.of(socket.local()) + remote;
    }
}
