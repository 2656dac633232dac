package org.udckpt.process.kinds.unix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.UnixDiag;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.Environment;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.MessageSender;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.named.DirectoryOrDevice;
import org.udckpt.process.kinds.socket.SentAlong;
import org.udckpt.process.kinds.socket.SocketCapture;
import org.udckpt.process.kinds.socket.SocketOptions;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.kinds.socket.UnixAddress;
import org.udckpt.process.model.JobName.SocketFile;

/** Unix sockets between the job's own processes, with what is queued in them. */
final class UnixCapture implements SocketCapture, KindCapture.Looks {
    private static final int ESTABLISHED = 1, LISTEN = 10;

    /**
     * @param file null: this user may not ask the kernel for it, or there is none. @param peerName as getpeername(2)
     * tells it; empty: none
     */
    private record Found(OpenDescriptor open, NetworkCalls network, long id, UnixDiag.Info info, SocketQueue queue,
            SocketFile file, byte[] peerName) {
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

    private final CaptureScope scope;
    private final ObjectTable table;
    private final List<Found> found = new ArrayList<>();
    private final Map<Long, Long> byInode = new HashMap<>();
    /** By the sockets' inodes: those with descriptors. */
    private final Map<Long, SocketQueue> queues = new HashMap<>();
    /** All unix sockets of the job's network namespaces; null: nobody has asked yet. */
    private List<UnixDiag.Info> all;
    /** To which names may be relative; null: nobody has asked yet. */
    private Set<String> directories;

    UnixCapture(CaptureScope scope) {
        this.scope = scope;
        this.table = scope.table();
    }

    /** Descriptors in a queue have to be known before files are opened; their number is shown since Linux 5.6. */
    @Override
    public void look(OpenDescriptor open) {
        String inFlight = Proc.field(open.info(), "scm_fds:");
        if (inFlight == null || inFlight.equals("0") || queues.containsKey(open.stat().inode())) {
            return;
        }
        SocketQueue queue = open.duplicated(socket -> SocketQueue.peek(open, socket, SocketType.of(socket).type()));
        queues.put(open.stat().inode(), queue);
        queue.eachDescriptor(descriptor -> scope.opened(open, descriptor));
    }

    private SocketQueue queue(OpenDescriptor open, int socket, int type) {
        SocketQueue queue = queues.get(open.stat().inode());
        if (queue != null) {
            return queue;
        }
        queue = SocketQueue.peek(open, socket, type);
        if (queue.hasDescriptors()) {
            queue.eachDescriptor(Files::close);
            throw open.failed("descriptors were sent to this unix socket during the checkpoint");
        }
        return queue;
    }

    @Override
    public boolean takes(SocketType type) {
        return type.unix();
    }

    @Override
    public long read(OpenDescriptor open, int socket, SocketType kind) {
        int type = kind.type();
        SocketQueue queue = queue(open, socket, type);
        UnixDiag.Info info;
        try (UnixDiag diag = new UnixDiag()) {
            info = diag.query(open.stat().inode());
        }
        long id = table.newId();
        int[] options = UnixOptionReader.changed(socket, type);
        if (options.length > 0) {
            table.add(new UnixOptions(table.newId(), id, options));
        }
        scope.askPeer(open, id, socket);
        for (SentAlong one : queue.along()) {
            if (one.sender() != null) {
                scope.askSender(open, new MessageSender(id, one.message(), one.offset(), one.sender().pid(),
                        one.sender().uid(), one.sender().gid()));
            }
        }
        found.add(new Found(open, NetworkCalls.current(), id, info, queue,
                info.hasFile() ? BoundFile.ask(open.process(), socket, id) : null, peerName(socket)));
        byInode.put(open.stat().inode(), id);
        return id;
    }

    /** As in sockaddr_un.sun_path, without the NUL byte at the end of a path. */
    private static byte[] peerName(int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, SocketQueue.NAME);
        long result = Syscall.call(Syscall.GETPEERNAME, socket, data.address() + 8, data.address());
        if (result == -LinuxError.ENOTCONN) {
            return new byte[0];
        }
        LinuxError.check(result, "name of a socket's peer");
        return UnixAddress.name(data.asSlice(8, SocketQueue.NAME), data.get(JAVA_INT, 0));
    }

    private Found of(long id) {
        return found.stream().filter(one -> one.id == id).findFirst().orElseThrow();
    }

    /**
     * A datagram socket without a name can have been called by its other half only (socketpair(2)), whatever it has
     * been connected to since.
     */
    private void checkNameless(Found one, Found peer) {
        if (peer.peerInode() != one.inode() && !peer.named()
                && (peer.info.peerGone() || peer.peerInode() != 0 && !byInode.containsKey(peer.peerInode()))) {
            throw one.open.refuse(
                    "a datagram socket is one end of a pair whose other end was connected elsewhere, to a "
                            + "socket that has ended; close it first");
        }
    }

    /** Whether it is called by a socket of the job, which can send to it although it has no name. */
    private boolean called(Found one) {
        return found.stream().anyMatch(other -> other.peerInode() == one.inode());
    }

    /**
     * Finds sockets outside of the job that are connected to a datagram socket. The socket itself does not name them,
     * but the kernel calls it connected then.
     */
    private void checkCallers(Found server) {
        if (!server.datagrams() || !server.named() || server.info.state() != ESTABLISHED) {
            return;
        }
        if (all == null) {
            all = new ArrayList<>();
            Stream.concat(Stream.of((NetworkCalls) null), found.stream().map(one -> one.network)).distinct()
                    .forEach(network -> NetworkCalls.in(network, this::listAll));
        }
        for (UnixDiag.Info one : all) {
            if (Integer.toUnsignedLong(one.peer()) == server.inode()
                    && !byInode.containsKey(Integer.toUnsignedLong(one.inode()))) {
                table.outside().add(server.open,
                        "a datagram socket outside of the job is connected to this unix socket",
                        "close that one before a checkpoint");
            }
        }
    }

    private void listAll() {
        try (UnixDiag diag = new UnixDiag()) {
            all.addAll(diag.all());
        }
    }

    /**
     * The connections that listeners have not accepted (unix_diag.h, UDIAG_SHOW_ICONS). Nobody has a descriptor of
     * their other ends: these are looked at only where a client does not tell that they have received nothing.
     *
     * @return the clients
     */
    private Set<Found> waiting() {
        Set<Found> clients = new HashSet<>();
        for (Found listener : found) {
            if (listener.info.state() == LISTEN && listener.info.receiveQueue() > 0) {
                NetworkCalls.in(listener.network, () -> addWaiting(listener, ask(listener), clients));
            }
        }
        return clients;
    }

    private static int[] ask(Found listener) {
        int[] inodes;
        try (UnixDiag diag = new UnixDiag()) {
            inodes = diag.waiting(listener.inode());
        }
        if (inodes.length != listener.info.receiveQueue()) {
            throw listener.open.refuse("a listening socket has %d connections that were not accepted yet, of which the "
                    .formatted(listener.info.receiveQueue())
                    + "kernel shows %d; try again when they were accepted".formatted(inodes.length));
        }
        return inodes;
    }

    private void addWaiting(Found listener, int[] inodes, Set<Found> clients) {
        if (!listener.named()) {
            throw listener.open.refuse("a connection that was not accepted yet leads to a listener without a name, "
                    + "which cannot be checkpointed; try again when it was accepted");
        }
        Found[] who = Arrays.stream(inodes).mapToObj(inode -> inode == 0 ? null : client(listener, inode))
                .toArray(Found[]::new);
        String why = Arrays.stream(who).anyMatch(client -> client != null && client.info.backlog() > 0) ? "has bytes"
                : Arrays.stream(inodes).anyMatch(inode -> inode == 0)
                        ? "has been closed by its client, and may have bytes"
                        : null;
        WaitingReader reader = why == null ? null : new WaitingReader(table, listener.open, inodes.length, why);
        for (int i = 0; i < inodes.length; i++) {
            if (inodes[i] == 0 || who[i] != null && clients.add(who[i])) {
                WaitingConnection one = new WaitingConnection(table.newId(), listener.id,
                        inodes[i] == 0 ? WaitingConnection.CLOSED : who[i].id);
                table.add(one);
                if (reader != null) {
                    reader.add(one, i);
                }
            }
        }
    }

    /** Null: it is outside of the job, and the image does not have it. */
    private Found client(Found listener, int inode) {
        Long id = byInode.get(Integer.toUnsignedLong(inode));
        if (id == null) {
            table.outside().add(listener.open, "a connection from outside of the job waits to be accepted",
                    "accept and close it before a checkpoint");
        }
        return id == null ? null : of(id);
    }

    /**
     * Whether a restart can send the datagrams from sockets of their senders' names: to one that has a peer only that
     * one can send, and to one without a name nobody else.
     */
    private boolean reaches(Found one, byte[] sender, SocketState state, Found peer) {
        return switch (state) {
            case CONNECTED -> peer != one && peer.peerInode() == one.inode()
                    ? Arrays.equals(sender, peer.info.name())
                    : one.named();
            case PEER_CLOSED -> Arrays.equals(sender, one.peerName)
                    && one.queue.along().stream().filter(came -> came.name().length > 0).count()
                            == one.queue.lengths().length;
            default -> one.named();
        };
    }

    private void addAlong(Found one, SocketState state, Found peer) {
        for (SentAlong came : one.queue.along()) {
            if (came.name().length > 0 && !reaches(one, came.name(), state, peer)) {
                throw one.open.refuse("a datagram from a socket with another name than its peer's is queued in this "
                        + "unix socket, and a restart would lose its sender; try again when it was read");
            }
            if (came.name().length > 0) {
                table.add(new SenderName(table.newId(), one.id, came.message(), came.name()));
            }
            for (int descriptor : came.descriptors()) {
                table.add(new DescriptorInFlight(table.newId(), one.id, came.message(), scope.inFlight(descriptor),
                        one.open.process().namespacePid()));
            }
        }
    }

    /** When all descriptors are known: who is whose peer. */
    @Override
    public void finish() {
        Set<Found> waiting = waiting();
        for (Found one : found) {
            long peer = 0;
            boolean gone = connected(one.info);
            if (one.info.peer() != 0) {
                Long id = byInode.get(one.peerInode());
                if (id == null) {
                    table.outside().add(one.open, "the other end of this unix socket is outside of the job",
                            "close it before a checkpoint");
                    gone = true;
                } else {
                    peer = id;
                }
            }
            SocketState state = one.info.state() == LISTEN ? SocketState.LISTENING
                    : waiting.contains(one) ? SocketState.WAITING : peer != 0 ? SocketState.CONNECTED
                            : gone ? SocketState.PEER_CLOSED : SocketState.UNCONNECTED;
            SocketQueue queue = one.queue;
            addAlong(one, state, peer == 0 ? null : of(peer));
            if (state == SocketState.UNCONNECTED && queue.lengths().length > 0 && !one.named() && !called(one)) {
                throw one.open.refuse(
                        "unread messages in a unix socket without a name and without a peer cannot be "
                                + "checkpointed; try again when they were read");
            }
            checkCallers(one);
            if (state == SocketState.CONNECTED && one.datagrams()) {
                checkNameless(one, of(peer));
            }
            if (state == SocketState.PEER_CLOSED && one.peerName.length > 0) {
                if (one.datagrams() && one.peerName[0] == 0 && queue.hasDescriptors()) {
                    throw one.open.refuse("descriptors are in flight in this unix socket, whose peer has closed and had"
                            + " an abstract name, which cannot be checkpointed; try again when they have arrived");
                }
                table.add(new GonePeer(table.newId(), one.id, one.peerName));
            }
            table.add(new UnixSocket(one.id, one.open.openFlags(), one.info.type(), state, peer, queue.bytes(),
                    queue.lengths(), one.info.name(), state == SocketState.LISTENING ? one.info.backlog() : 0,
                    queue.sendBuffer(), queue.receiveBuffer(), one.info.shutdown(), queue.receiveTimeoutUs(),
                    queue.sendTimeoutUs(), queue.passCredentials()));
            if (one.info.hasFile()) {
                add(one, one.file == null ? file(one) : one.file);
            }
        }
    }

    /** Whether it has had a peer. The kernel calls a datagram socket so as well when somebody has connected to it. */
    private static boolean connected(UnixDiag.Info socket) {
        return socket.type() == SOCK_DGRAM ? socket.peerGone() : socket.state() == ESTABLISHED;
    }

    private void add(Found one, SocketFile file) {
        StoppedProcess process = one.open.process();
        boolean own = !file.path().isEmpty() && process.outside(file.path()) == null;
        table.add(own ? new SocketFile(one.id, "", 0, 0, 0) : file);
        if (own) {
            table.add(new OwnSocketFile(table.newId(), one.id, process.mountNamespace(), file.path(), file.mode(),
                    file.uid(), file.gid()));
        }
    }

    /**
     * An ordinary user looks for it. An absolute name that leads elsewhere was removed; of a relative one nobody knows.
     * Nobody reaches an established connection by its name, which is its listener's where it was accepted.
     */
    private SocketFile file(Found one) {
        String name = RawText.decode(one.info.name());
        SocketFile file =
                BoundFile.find(one.info, one.id, one.open.process().mounts(), directories());
        boolean reached = one.info.type() == SOCK_DGRAM || one.info.state() != ESTABLISHED;
        if (file == null && reached && !name.startsWith("/")) {
            throw one.open.refuse(
                    ("a unix socket is bound to the relative name %s, in a directory which is the working directory "
                            + "of no process of the job; only root can find its path:"
                            + " bind it to an absolute name, or take the checkpoint as root")
                            .formatted(name));
        }
        if (file != null && !file.path().isEmpty()) {
            BoundFile.refuseElsewhere(one.open.process(), file.path());
        }
        return file == null ? new SocketFile(one.id, "", 0, 0, 0) : file;
    }

    /** Where the job's processes are, and where they came from. */
    private Set<String> directories() {
        if (directories == null) {
            directories = new LinkedHashSet<>();
            scope.processes().forEach(process -> directories.add(Files.readLink("/proc/" + process.task() + "/cwd")));
            for (String variable : List.of("PWD", "OLDPWD", "TMPDIR", "XDG_RUNTIME_DIR", "HOME")) {
                scope.processes().forEach(process -> directories.add(Environment.of(process.task(), variable)));
            }
            table.objects().forEach(
                    object -> directories.add(object instanceof DirectoryOrDevice opened ? opened.path() : null));
            directories.addAll(List.of("/tmp", "/run", "/"));
            directories.removeIf(directory -> directory == null || !directory.startsWith("/"));
        }
        return directories;
    }
}
