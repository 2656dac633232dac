package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UnixDiag;
import org.udckpt.process.model.JobName.SocketFile;
import org.udckpt.process.model.KernelObject.DirectoryOrDevice;
import org.udckpt.process.model.KernelObject.GonePeer;
import org.udckpt.process.model.KernelObject.PmiConnection;
import org.udckpt.process.model.KernelObject.SocketState;
import org.udckpt.process.model.KernelObject.UnixOptions;
import org.udckpt.process.model.KernelObject.UnixSocket;
import org.udckpt.process.model.PacketSocket.UdpSocket;

/** Unix sockets between the job's own processes, with what is queued in them, TCP, UDP and netlink sockets; everything else is refused. */
final class SocketReader {
    private static final int AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16;
    private static final int SOCK_STREAM = 1, SOCK_DGRAM = 2;
    private static final int ESTABLISHED = 1, LISTEN = 10, IPPROTO_TCP = 6, ENOTCONN = 107, FAMILY_BYTES = 2;

    /** @param file null: this user may not ask the kernel for it, or there is none. @param peerName as getpeername(2) tells it; empty: none */
    private record Found(OpenDescriptor open, long id, UnixDiag.Info info, SocketQueue queue, SocketFile file, byte[] peerName) {
        boolean datagrams() {
            return info.type() == SOCK_DGRAM;
        }

        boolean named() {
            return info.name().length > 0;
        }

        long inode() {
            return Integer.toUnsignedLong(info.inode());
        }

        long peerInode() {
            return Integer.toUnsignedLong(info.peer());
        }
    }

    private final ObjectTable table;
    private final TcpReader tcp;
    private final PeerCredentialReader peers;
    private final List<UdpSocket> udp = new ArrayList<>();
    private final List<Found> found = new ArrayList<>();
    private final Map<Long, Long> byInode = new HashMap<>();
    /** All unix sockets of this machine; null: nobody has asked yet. */
    private List<UnixDiag.Info> all;
    private final List<Integer> processes = new ArrayList<>();
    /** To which names may be relative; null: nobody has asked yet. */
    private Set<String> directories;

    SocketReader(ObjectTable table) {
        this.table = table;
        this.tcp = new TcpReader(table);
        this.peers = new PeerCredentialReader(table);
    }

    long processManager(OpenDescriptor open) {
        long id = table.newId();
        withDuplicate(open, (socket, domain, type) -> {
            if (domain != AF_UNIX) {
                throw open.refuse("a process manager that is connected by " + kind(domain, type) + " cannot be checkpointed; start the ranks by udckpt run");
            }
            table.add(new PmiConnection(id, open.openFlags(), SocketQueue.peek(open, socket, type).bytes()));
            return id;
        });
        return id;
    }

    long read(OpenDescriptor open) {
        return withDuplicate(open, (socket, domain, type) -> {
            int protocol = SocketQueue.option(socket, SocketQueue.SO_PROTOCOL);
            if (domain == AF_UNIX) {
                return unix(open, socket, type);
            }
            boolean internet = domain == AF_INET || domain == AF_INET6;
            if (internet && protocol == IPPROTO_TCP && type == SOCK_STREAM) {
                return tcp.read(open); // looked at when all are known
            }
            long id = table.newId();
            if (internet && protocol == UdpReader.IPPROTO_UDP && type == SOCK_DGRAM) {
                udp.add(UdpReader.read(open, socket, domain, id));
            } else if (domain == AF_NETLINK) {
                table.add(NetlinkReader.read(open, socket, type, id));
            } else {
                throw open.refuse(kind(domain, type) + " cannot be checkpointed; the job may talk over verbs, unix sockets, TCP and UDP only: turn this connection off");
            }
            return id;
        });
    }

    private long unix(OpenDescriptor open, int socket, int type) {
        SocketQueue queue = SocketQueue.peek(open, socket, type);
        UnixDiag.Info info;
        try (UnixDiag diag = new UnixDiag()) {
            info = diag.query(open.stat().inode());
        }
        if (info.state() == LISTEN && info.receiveQueue() > 0) {
            throw open.refuse("a listening socket has %d connections that were not accepted yet; try again later".formatted(info.receiveQueue()));
        }
        if (SocketOptions.filtered(socket)) {
            throw open.refuse("a unix socket has a filter (SO_ATTACH_FILTER, SO_ATTACH_BPF), which cannot be checkpointed");
        }
        long id = table.newId();
        int[] options = UnixOptionReader.changed(socket, type);
        if (options.length > 0) {
            table.add(new UnixOptions(table.newId(), id, options));
        }
        peers.read(open, id, socket);
        found.add(new Found(open, id, info, queue, info.hasFile() ? BoundFile.ask(open.process(), socket, id) : null, peerName(socket)));
        byInode.put(open.stat().inode(), id);
        return id;
    }

    /** Before its descriptors are read. */
    void seen(TracedProcess process) {
        processes.add(process.pid);
        peers.seen(process);
    }

    private interface Look {
        long at(int socket, int domain, int type);
    }

    private static long withDuplicate(OpenDescriptor open, Look look) {
        try (PidFd process = new PidFd(open.process().pid)) {
            int socket = process.duplicate(open.fd());
            try {
                return look.at(socket, SocketQueue.option(socket, SocketQueue.SO_DOMAIN), SocketQueue.option(socket, SocketQueue.SO_TYPE));
            } finally {
                Files.close(socket);
            }
        }
    }

    private static String kind(int domain, int type) {
        String protocol = type == SOCK_STREAM ? "stream (TCP or other)" : type == SOCK_DGRAM ? "datagram (UDP or other)" : "raw";
        return switch (domain) {
            case AF_INET -> "a " + protocol + " socket (IPv4)";
            case AF_INET6 -> "a " + protocol + " socket (IPv6)";
            default -> "a socket of address family " + domain;
        };
    }

    /** As in sockaddr_un.sun_path, without the NUL byte at the end of a path. */
    private static byte[] peerName(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, SocketQueue.NAME);
        long result = Syscall.call(Syscall.GETPEERNAME, socket, data.address() + 8, data.address());
        if (result == -ENOTCONN) {
            return new byte[0];
        }
        LinuxError.check(result, "name of a socket's peer");
        byte[] name = data.asSlice(8 + FAMILY_BYTES, Math.max(0, data.get(JAVA_INT, 0) - FAMILY_BYTES)).toArray(JAVA_BYTE);
        return name.length > 1 && name[0] != 0 && name[name.length - 1] == 0 ? Arrays.copyOf(name, name.length - 1) : name;
    }

    private Found of(long id) {
        return found.stream().filter(one -> one.id == id).findFirst().orElseThrow();
    }

    /** A datagram socket without a name can have been called by its other half only (socketpair(2)), whatever it has been connected to since. */
    private void checkNameless(Found one, Found peer) {
        if (peer.peerInode() != one.inode() && !peer.named() && (peer.info.peerGone() || peer.peerInode() != 0 && !byInode.containsKey(peer.peerInode()))) {
            throw one.open.refuse("a datagram socket is the half of a pair of which the other half was connected elsewhere, to a socket that has ended; close it first");
        }
    }

    /** Whether it is called by a socket of the job, which can send to it although it has no name. */
    private boolean called(Found one) {
        return found.stream().anyMatch(other -> other.peerInode() == one.inode());
    }

    /** Who is connected to a datagram socket is not told by that, but the kernel calls it connected then. */
    private void checkCallers(Found server) {
        if (!server.datagrams() || !server.named() || server.info.state() != ESTABLISHED) {
            return;
        }
        if (all == null) {
            try (UnixDiag diag = new UnixDiag()) {
                all = diag.all();
            }
        }
        for (UnixDiag.Info one : all) {
            if (Integer.toUnsignedLong(one.peer()) == server.inode() && !byInode.containsKey(Integer.toUnsignedLong(one.inode()))) {
                table.outside().cut(server.open, "a datagram socket outside of the job is connected to this unix socket", "close that one before a checkpoint");
            }
        }
    }

    PeerCredentialReader peers() {
        return peers;
    }

    /** When all descriptors are known: who is whose peer. */
    void finish() {
        tcp.finish();
        peers.finish();
        BoundPorts.udp(udp).forEach(table::add);
        for (Found one : found) {
            long peer = 0;
            boolean gone = connected(one.info);
            if (one.info.peer() != 0) {
                Long id = byInode.get(one.peerInode());
                if (id == null) {
                    table.outside().cut(one.open, "the other end of this unix socket is outside of the job", "close it before a checkpoint");
                    gone = true;
                } else {
                    peer = id;
                }
            }
            SocketState state = one.info.state() == LISTEN ? SocketState.LISTENING : peer != 0 ? SocketState.CONNECTED
                    : gone ? SocketState.PEER_CLOSED : SocketState.UNCONNECTED;
            SocketQueue queue = one.queue;
            if (state == SocketState.UNCONNECTED && queue.lengths().length > 0 && !one.named() && !called(one)) {
                throw one.open.refuse("unread messages in a unix socket without a name, of which no peer is left, cannot be checkpointed; try again when they were read");
            }
            checkCallers(one);
            if (state == SocketState.CONNECTED && one.datagrams()) {
                checkNameless(one, of(peer));
            }
            if (state == SocketState.PEER_CLOSED && one.peerName.length > 0) {
                table.add(new GonePeer(table.newId(), one.id, one.peerName));
            }
            table.add(new UnixSocket(one.id, one.open.openFlags(), one.info.type(), state, peer, queue.bytes(), queue.lengths(), one.info.name(),
                    state == SocketState.LISTENING ? one.info.backlog() : 0, queue.sendBuffer(), queue.receiveBuffer(), one.info.shutdown(),
                    queue.receiveTimeoutUs(), queue.sendTimeoutUs(), queue.passCredentials()));
            if (one.info.hasFile()) {
                table.add(one.file == null ? file(one) : one.file);
            }
        }
    }

    /** Whether it has had a peer. The kernel calls a datagram socket so as well when somebody has connected to it. */
    private static boolean connected(UnixDiag.Info socket) {
        return socket.type() == SOCK_DGRAM ? socket.peerGone() : socket.state() == ESTABLISHED;
    }

    /** An ordinary user looks for it. An absolute name that leads elsewhere was removed; of a relative one nobody knows. */
    private SocketFile file(Found one) {
        String name = new String(one.info.name(), StandardCharsets.UTF_8);
        SocketFile file = BoundFile.find(one.info, one.id, "/proc/" + one.open.process().pid + "/root", directories());
        if (file == null && !name.startsWith("/")) {
            throw one.open.refuse(("a unix socket is bound to the relative name %s, in a directory which is the working directory of no process of the job; only root can ask where that is:"
                    + " bind it to an absolute name, or take the checkpoint as root").formatted(name));
        }
        return file == null ? new SocketFile(one.id, "", 0, 0, 0) : file;
    }

    /** Where the job's processes are, and where they came from. */
    private Set<String> directories() {
        if (directories == null) {
            directories = new LinkedHashSet<>();
            processes.forEach(pid -> directories.add(Files.readLink("/proc/" + pid + "/cwd")));
            for (String variable : List.of("PWD", "OLDPWD", "TMPDIR", "XDG_RUNTIME_DIR", "HOME")) {
                processes.forEach(pid -> directories.add(Environment.of(pid, variable)));
            }
            table.objects().forEach(object -> directories.add(object instanceof DirectoryOrDevice opened ? opened.path() : null));
            directories.addAll(List.of("/tmp", "/run", "/"));
            directories.removeIf(directory -> directory == null || !directory.startsWith("/"));
        }
        return directories;
    }
}
