package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.FileNotice;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PacketSocket;
import org.udckpt.process.model.TcpSocket;
import org.udckpt.process.model.TerminalObject;

/** Kernel objects, sockets, terminals, and the descriptors that name them: ids, and what they refer to. */
final class ObjectCheck {
    /** Of a descriptor: what NR_OPEN can be raised to (proc_sys_fs(5)) is less. */
    static final int MOST_DESCRIPTOR = 1 << 30;
    private static final int SOCK_STREAM = 1, SOCK_DGRAM = 2, AF_INET = 2, AF_INET6 = 10, SUN_PATH = 108, SIGNALS = 64, NO_BOUND = Integer.MAX_VALUE;
    private static final int PIPE_BYTES = 1 << 16; // of one whose capacity nobody has chosen (pipe(7))

    private final JobImage image;
    private final Set<Integer> pids;
    private final Map<Long, Object> byId = new HashMap<>();

    ObjectCheck(JobImage image, Set<Integer> pids) {
        this.image = image;
        this.pids = pids;
    }

    /** The ids of the shared memories. */
    Set<Long> check() throws BrokenTable {
        collect();
        Row row = new Row("objects");
        for (KernelObject object : image.objects()) {
            object(row.next(), object);
        }
        row = new Row("tcp-sockets");
        for (TcpSocket socket : image.tcpSockets()) {
            socket(row.next(), socket);
        }
        row = new Row("terminals");
        for (TerminalObject terminal : image.terminals()) {
            terminal(row.next(), terminal);
        }
        row = new Row("packet-sockets");
        for (PacketSocket socket : image.packetSockets()) {
            socket(row.next(), socket);
        }
        row = new Row("inotify-watches");
        for (InotifyWatch watch : image.watches()) {
            watch(row.next(), watch);
        }
        row = new Row("file-notices");
        for (FileNotice notice : image.notices()) {
            notice(row.next(), notice);
        }
        descriptors();
        Set<Long> shared = new HashSet<>();
        byId.forEach((id, object) -> {
            if (object instanceof KernelObject.SharedMemory) {
                shared.add(id);
            }
        });
        return shared;
    }

    private void collect() throws BrokenTable {
        Row row = new Row("objects");
        for (KernelObject object : image.objects()) {
            add(row.next(), object.id(), object);
        }
        row = new Row("tcp-sockets");
        for (TcpSocket socket : image.tcpSockets()) {
            add(row.next(), socket.id(), socket);
        }
        row = new Row("terminals");
        for (TerminalObject terminal : image.terminals()) {
            add(row.next(), terminal.id(), terminal);
        }
        row = new Row("packet-sockets");
        for (PacketSocket socket : image.packetSockets()) {
            add(row.next(), socket.id(), socket);
        }
    }

    private void add(Row row, long id, Object object) throws BrokenTable {
        row.between(1, Long.MAX_VALUE, "id", id);
        if (object instanceof KernelObject.MappedFile) {
            return; // nothing refers to it, and in older images its id may be a socket's, too
        }
        Object other = byId.put(id, object);
        if (other != null) {
            throw row.broken("its id " + id + " is that of a " + other.getClass().getSimpleName() + ", too");
        }
    }

    private void descriptors() throws BrokenTable {
        Row row = new Row("descriptors");
        Map<Integer, Set<Integer>> seen = new HashMap<>();
        for (Descriptor descriptor : image.descriptors()) {
            row.next();
            row.is(pids.contains(descriptor.pid()), "there is no process", descriptor.pid());
            row.between(0, MOST_DESCRIPTOR, "fd", descriptor.fd());
            row.is(seen.computeIfAbsent(descriptor.pid(), _ -> new HashSet<>()).add(descriptor.fd()), "a second descriptor", descriptor.fd());
            row.is(canBeOpen(byId.get(descriptor.object())), "nothing that can be open is object", descriptor.object());
        }
    }

    private static boolean canBeOpen(Object object) {
        return switch (object) {
            case null -> false;
            case KernelObject.SharedMemory _, KernelObject.Pipe _, KernelObject.EpollEntry _, KernelObject.FileLock _, KernelObject.SignalOnReady _, KernelObject.SignalOwner _, KernelObject.GonePeer _, KernelObject.UnixOptions _, KernelObject.MappedFile _,
                    TerminalObject.Terminal _ -> false;
            default -> true;
        };
    }

    private void object(Row row, KernelObject object) throws BrokenTable {
        switch (object) {
            case KernelObject.OpenFile file -> {
                row.absolute("path", file.path());
                row.notNegative("size", file.size());
                row.notNegative("position", file.position());
                row.is(file.backing() == 0 || is(file.backing(), KernelObject.SharedMemory.class), "there is no shared memory", file.backing());
            }
            case KernelObject.SharedMemory memory -> {
                row.there("kind", memory.kind());
                row.text("path", memory.path());
                row.notNegative("size", memory.size());
            }
            case KernelObject.Pipe pipe -> pipe(row, pipe);
            case KernelObject.PipeEnd end -> row.is(is(end.pipe(), KernelObject.Pipe.class), "there is no pipe", end.pipe());
            case KernelObject.TimerFd timer -> {
                row.notNegative("expiresNs", timer.expiresNs());
                row.notNegative("intervalNs", timer.intervalNs());
            }
            case KernelObject.EpollEntry entry -> {
                row.is(is(entry.epoll(), KernelObject.Epoll.class), "there is no epoll", entry.epoll());
                row.between(0, MOST_DESCRIPTOR, "fd", entry.fd());
                row.is(entry.object() == 0 || canBeOpen(byId.get(entry.object())), "nothing that can be open is object", entry.object());
            }
            case KernelObject.UnixSocket socket -> socket(row, socket);
            case KernelObject.FileLock lock -> {
                row.is(canBeOpen(byId.get(lock.object())), "nothing that can be open is object", lock.object());
                row.there("owner", lock.owner());
                row.is(lock.owner() != KernelObject.LockOwner.PROCESS || pids.contains(lock.pid()), "there is no process", lock.pid());
                row.notNegative("start", lock.start());
                row.between(0, Long.MAX_VALUE - lock.start(), "length", lock.length());
            }
            case KernelObject.SignalOnReady signals -> receiver(row, signals.object(), signals.type(), signals.receiver(), signals.signal());
            case KernelObject.SignalOwner owner -> receiver(row, owner.object(), owner.type(), owner.receiver(), owner.signal());
            case KernelObject.GonePeer peer -> {
                row.is(byId.get(peer.object()) instanceof KernelObject.UnixSocket socket && socket.state() == KernelObject.SocketState.PEER_CLOSED,
                        "there is no unix socket whose peer has closed", peer.object());
                row.bytes("name", peer.name(), 1, SUN_PATH, 1);
            }
            case KernelObject.UnixOptions changed -> {
                row.is(is(changed.object(), KernelObject.UnixSocket.class), "there is no unix socket", changed.object());
                row.there("options", changed.options());
                row.length("options", changed.options().length, 0, NO_BOUND, 3);
            }
            case KernelObject.MappedFile file -> row.absolute("path", file.path());
            case KernelObject.DirectoryOrDevice directory -> row.path("path", directory.path());
            case KernelObject.PseudoFile file -> row.path("path", file.path());
            case KernelObject.PmiConnection connection -> row.there("queued", connection.queued());
            case KernelObject.StandardStream stream -> row.between(0, 2, "stream", stream.stream());
            case KernelObject.EventFd _, KernelObject.Epoll _, KernelObject.SignalFd _, KernelObject.InotifyFd _, KernelObject.AgentConnection _ -> { }
        }
    }

    private void receiver(Row row, long object, int type, int receiver, int signal) throws BrokenTable {
        row.is(image.descriptors().stream().anyMatch(descriptor -> descriptor.object() == object), "no descriptor is of object", object);
        row.between(0, 2, "type", type);
        row.notNegative("receiver", receiver);
        row.between(0, SIGNALS, "signal", signal);
    }

    private void pipe(Row row, KernelObject.Pipe pipe) throws BrokenTable {
        if (pipe.path() != null) {
            row.text("path", pipe.path());
        }
        row.between(0, 1 << 30, "capacity", pipe.capacity());
        // What does not fit would be waited for, and nobody reads.
        row.bytes("contents", pipe.contents(), 0, pipe.capacity() > 0 ? pipe.capacity() : PIPE_BYTES, 1);
    }

    private void socket(Row row, KernelObject.UnixSocket socket) throws BrokenTable {
        row.there("state", socket.state());
        row.is(socket.peer() == 0 || is(socket.peer(), KernelObject.UnixSocket.class), "there is no unix socket", socket.peer());
        row.is((socket.peer() != 0) == (socket.state() == KernelObject.SocketState.CONNECTED), "no peer of a socket that is " + socket.state() + ":", socket.peer());
        row.is(socket.peer() == 0 || socket.type() == SOCK_DGRAM || byId.get(socket.peer()) instanceof KernelObject.UnixSocket peer && peer.peer() == socket.id(),
                "no other end of a connection:", socket.peer());
        row.bytes("name", socket.name(), 0, SUN_PATH, 1);
        row.there("queued", socket.queued());
        row.there("messageLengths", socket.messageLengths());
        if (socket.type() != SOCK_STREAM) {
            messages(row, "messageLengths", socket.messageLengths(), socket.queued().length);
        }
        row.notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        row.notNegative("sendTimeoutUs", socket.sendTimeoutUs());
    }

    private void socket(Row row, TcpSocket socket) throws BrokenTable {
        row.is(socket.domain() == AF_INET || socket.domain() == AF_INET6, "domain", socket.domain());
        row.there("state", socket.state());
        address(row, "local", socket.local(), socket.domain());
        row.there("remote", socket.remote());
        if (socket.remote().length > 0) {
            address(row, "remote", socket.remote(), socket.domain());
        }
        row.there("queued", socket.queued());
        row.there("options", socket.options());
        row.length("options", socket.options().length, 0, NO_BOUND, 3);
        row.text("congestion", socket.congestion());
        row.text("device", socket.device());
        row.notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        row.notNegative("sendTimeoutUs", socket.sendTimeoutUs());
        TcpSocket peer = byId.get(socket.peer()) instanceof TcpSocket other ? other : null;
        row.is(switch (socket.state()) {
            case CONNECTED -> peer != null && peer.peer() == socket.id() && peer.state() == TcpSocket.TcpState.CONNECTED;
            case WAITING -> peer != null && peer.state() == TcpSocket.TcpState.LISTENING;
            case UNCONNECTED, LISTENING, PEER_CLOSED, CLOSED -> socket.peer() == 0;
        }, "no peer of a socket that is " + socket.state() + ":", socket.peer());
    }

    private static void socket(Row row, PacketSocket socket) throws BrokenTable {
        row.there("options", socket.options());
        row.length("options", socket.options().length, 0, NO_BOUND, 3);
        row.notNegative("receiveTimeoutUs", socket.receiveTimeoutUs());
        row.notNegative("sendTimeoutUs", socket.sendTimeoutUs());
        switch (socket) {
            case PacketSocket.UdpSocket udp -> {
                row.is(udp.domain() == AF_INET || udp.domain() == AF_INET6, "domain", udp.domain());
                address(row, "local", udp.local(), udp.domain());
                row.there("remote", udp.remote());
                if (udp.remote().length > 0) {
                    address(row, "remote", udp.remote(), udp.domain());
                }
                row.there("queued", udp.queued());
                messages(row, "lengths", udp.lengths(), udp.queued().length);
                int one = PacketSocket.UdpSocket.addressBytes(udp.domain());
                row.bytes("senders", udp.senders(), one * udp.lengths().length, one * udp.lengths().length, 1);
                row.text("device", udp.device());
            }
            case PacketSocket.NetlinkSocket netlink -> {
                row.there("groups", netlink.groups());
                for (int group : netlink.groups()) {
                    row.between(1, NO_BOUND, "groups", group);
                }
            }
        }
    }

    private static void messages(Row row, String column, int[] lengths, int bytes) throws BrokenTable {
        row.there(column, lengths);
        long sum = 0;
        for (int length : lengths) {
            row.notNegative(column, length);
            sum += length;
        }
        row.is(sum == bytes, "messages of another length than queued has: together", sum);
    }

    /** struct sockaddr_in or sockaddr_in6: a family of two bytes first. */
    private static void address(Row row, String column, byte[] address, int domain) throws BrokenTable {
        int length = domain == AF_INET ? 16 : 28;
        row.bytes(column, address, length, length, 1);
        row.is((address[0] & 0xff | (address[1] & 0xff) << 8) == domain, column + " is of another family than", domain);
    }

    private void terminal(Row row, TerminalObject object) throws BrokenTable {
        switch (object) {
            case TerminalObject.Terminal terminal -> {
                row.between(0, 1 << 20, "number", terminal.number());
                row.bytes("modes", terminal.modes(), 44, 44, 1);
                row.bytes("window", terminal.window(), 8, 8, 1);
                row.notNegative("session", terminal.session());
                row.notNegative("foreground", terminal.foreground());
                row.there("output", terminal.output());
                row.there("input", terminal.input());
                List<TerminalObject.TerminalEnd> masters = image.terminals().stream().filter(TerminalObject.TerminalEnd.class::isInstance)
                        .map(TerminalObject.TerminalEnd.class::cast).filter(end -> end.master() && end.terminal() == terminal.id()).toList();
                row.is(masters.size() == 1, "not one master:", masters.size());
            }
            case TerminalObject.TerminalEnd end ->
                row.is(end.terminal() == 0 && !end.master() || is(end.terminal(), TerminalObject.Terminal.class), "there is no terminal", end.terminal());
        }
    }

    private void watch(Row row, InotifyWatch watch) throws BrokenTable {
        row.is(is(watch.inotify(), KernelObject.InotifyFd.class), "there is no inotify descriptor", watch.inotify());
        row.between(1, InotifyWatch.NUMBER_MOST, "number", watch.number());
        row.path("path", watch.path());
    }

    private void notice(Row row, FileNotice notice) throws BrokenTable {
        switch (notice) {
            case FileNotice.Lease lease -> {
                row.is(is(lease.object(), KernelObject.OpenFile.class) && image.descriptors().stream().anyMatch(descriptor -> descriptor.object() == lease.object()),
                        "no descriptor is of open file", lease.object());
                row.between(0, 2, "type", lease.type());
                row.notNegative("receiver", lease.receiver());
                row.between(0, SIGNALS, "signal", lease.signal());
            }
            case FileNotice.LostEvents lost -> row.is(is(lost.object(), KernelObject.InotifyFd.class) && image.descriptors().stream()
                    .anyMatch(descriptor -> descriptor.object() == lost.object()), "there is no inotify descriptor", lost.object());
        }
    }

    private boolean is(long id, Class<?> type) {
        return type.isInstance(byId.get(id));
    }
}
