package org.udckpt.process.capture;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Files;
import org.udckpt.linux.PidFd;
import org.udckpt.linux.UnixDiag;
import org.udckpt.process.model.JobName.SocketFile;
import org.udckpt.process.model.KernelObject.DirectoryOrDevice;
import org.udckpt.process.model.KernelObject.PmiConnection;
import org.udckpt.process.model.KernelObject.SocketState;
import org.udckpt.process.model.KernelObject.UnixSocket;

/** Unix sockets between the job's own processes, with what is queued in them, TCP, UDP and netlink sockets; everything else is refused. */
final class SocketReader {
    private static final int AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, AF_NETLINK = 16;
    private static final int SOCK_STREAM = 1, SOCK_DGRAM = 2;
    private static final int ESTABLISHED = 1, LISTEN = 10, IPPROTO_TCP = 6;

    /** @param file null: this user may not ask the kernel for it, or there is none */
    private record Found(OpenDescriptor open, long id, UnixDiag.Info info, SocketQueue queue, SocketFile file) {}

    private final ObjectTable table;
    private final TcpReader tcp;
    private final List<Found> found = new ArrayList<>();
    private final Map<Long, Long> byInode = new HashMap<>();
    private final List<Integer> processes = new ArrayList<>();
    /** To which names may be relative; null: nobody has asked yet. */
    private Set<String> directories;

    SocketReader(ObjectTable table) {
        this.table = table;
        this.tcp = new TcpReader(table);
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
            if (internet && protocol == IPPROTO_TCP) {
                return tcp.read(open); // looked at when all are known
            }
            long id = table.newId();
            if (internet && protocol == UdpReader.IPPROTO_UDP) {
                table.add(UdpReader.read(open, socket, domain, id));
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
        long id = table.newId();
        found.add(new Found(open, id, info, queue, info.hasFile() ? BoundFile.ask(socket, id) : null));
        byInode.put(open.stat().inode(), id);
        return id;
    }

    /** Before its descriptors are read. */
    void seen(TracedProcess process) {
        processes.add(process.pid);
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

    /** Whether the peer is connected to this one in turn; if not, it is found by its name. */
    private boolean mutual(Found one, long peer) {
        Found other = found.stream().filter(f -> f.id == peer).findFirst().orElseThrow();
        return Integer.toUnsignedLong(other.info.peer()) == one.open.stat().inode() || other.info.name().length > 0;
    }

    /** When all descriptors are known: who is whose peer. */
    void finish() {
        tcp.finish();
        for (Found one : found) {
            long peer = 0;
            if (one.info.peer() != 0) {
                Long id = byInode.get(Integer.toUnsignedLong(one.info.peer()));
                if (id == null) {
                    table.outside().cut(one.open, "the other end of this unix socket is outside of the job", "close it before a checkpoint");
                } else {
                    peer = id;
                }
            }
            SocketState state = one.info.state() == LISTEN ? SocketState.LISTENING : peer != 0 ? SocketState.CONNECTED
                    : connected(one.info) ? SocketState.PEER_CLOSED : SocketState.UNCONNECTED;
            SocketQueue queue = one.queue;
            if (state == SocketState.UNCONNECTED && queue.bytes().length > 0 && one.info.name().length == 0) {
                throw one.open.refuse("unread bytes in a unix socket without a peer cannot be checkpointed; try again when they were read");
            }
            if (state == SocketState.CONNECTED && !mutual(one, peer)) {
                throw one.open.refuse("a datagram socket that is connected to one without a name (connected elsewhere) cannot be checkpointed; close it first");
            }
            table.add(new UnixSocket(one.id, one.open.openFlags(), one.info.type(), state, peer, queue.bytes(), queue.lengths(), one.info.name(),
                    state == SocketState.LISTENING ? 128 : 0, queue.sendBuffer(), queue.receiveBuffer(), one.info.shutdown(),
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
