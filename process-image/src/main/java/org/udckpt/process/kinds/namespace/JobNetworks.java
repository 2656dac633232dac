package org.udckpt.process.kinds.namespace;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOCK_DGRAM;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.NetworkCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.NetworkNamespace;
import org.udckpt.process.model.NetworkNamespaceMember;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.SocketNetwork;

/**
 * The network namespaces that a job which stands still has made, with only the devices that each has by itself, and
 * which sockets belong to them. Any thread.
 */
public final class JobNetworks implements AutoCloseable {
    private static final String NET = "net";
    /** Of a struct sockaddr_storage. */
    private static final int NAME_BYTES = 128;

    /** @param setup its record, but for the ids */
    private record Network(long owner, NetworkCalls calls, long cookie, NetworkNamespace setup,
            List<StoppedProcess> members) {}

    /**
     * @param network null: the one in which the job was started
     * @param unix whether it is one of unix(7)
     * @param pair of unix(7), and a restart makes it by socketpair(2), not by connect(2) and accept(2)
     */
    private record Socket(OpenDescriptor open, Network network, boolean unix, boolean pair) {}

    /** By the kernel's number. */
    private final Map<Long, Network> networks = new LinkedHashMap<>();
    /** By the ids of their objects. */
    private final Map<Long, Socket> sockets = new LinkedHashMap<>();
    /** Of the namespace in which the job was started, as this process. */
    private long started = -1;

    /**
     * A process that has left the network namespace in which the job was started.
     *
     * @param owner the number of the user namespace that owns the one that it is in
     * @throws RuntimeException the refusal: a restart could not make it again
     */
    public synchronized void entered(StoppedProcess process, long owner) {
        try (Namespace own = Namespace.of(process.task(), NET)) {
            Network known = networks.get(own.number());
            if (known == null) {
                known = read(process, owner);
                networks.put(own.number(), known);
            }
            known.members.add(process);
        } catch (LinuxError e) {
            throw process.refuse("it is in a network namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    private static Network read(StoppedProcess process, long owner) {
        NetworkCalls calls = NetworkCalls.of(process.task());
        boolean done = false;
        try {
            long[] cookie = new long[1];
            NetworkCalls.in(calls, () -> cookie[0] = NetworkCalls.cookie());
            if (cookie[0] == 0) {
                throw process.refuse("it is in a network namespace of its own (unshare(2), a container), and this "
                        + "kernel does not tell to which a socket belongs (Linux 5.14 does)");
            }
            Network network = new Network(owner, calls, cookie[0], setup(process, calls), new ArrayList<>());
            done = true;
            return network;
        } finally {
            if (!done) {
                calls.close();
            }
        }
    }

    /**
     * Sets up a new one in the same way, and compares; twice where one setting has changed others, which then have to
     * be set, too.
     */
    private static NetworkNamespace setup(StoppedProcess process, NetworkCalls calls) {
        NetworkState state = NetworkState.read(calls);
        NetworkState usual = null;
        NetworkNamespace setup = null;
        String difference = null;
        for (int i = 0; i < 2 && (i == 0 || difference != null); i++) {
            try (NetworkCalls again = NetworkCalls.inNewOne(process.task())) {
                usual = usual == null ? NetworkState.read(again) : usual;
                difference = state.device(usual);
                if (difference == null) {
                    setup = setup == null ? NetworkSetup.record(state, usual) : setup;
                    NetworkSetup.apply(again, setup);
                    NetworkState made = NetworkState.read(again);
                    difference = NetworkSetup.difference(state, made);
                    setup = NetworkSetup.with(setup, state, made);
                }
            } catch (LinuxError e) {
                difference = e.getMessage();
            }
        }
        if (difference != null) {
            throw process.refuse("it is in a network namespace of its own (unshare(2), a container) with more than a "
                    + "loopback device, its addresses and settings, which a restart could not make again: "
                    + difference + "; remove that first (ip(8), sysctl(8), nft(8)), or run it in the namespace in "
                    + "which the job was started");
        }
        return setup;
    }

    /** Whether the process is in one of these namespaces. */
    public synchronized boolean has(StoppedProcess process) {
        return networks.values().stream().anyMatch(one -> one.members.contains(process));
    }

    /**
     * Where a socket was made.
     *
     * @param socket a duplicate of {@code open}
     * @return null: in the namespace in which the job was started
     * @throws RuntimeException the refusal: no process of the job is in that namespace
     */
    public synchronized NetworkCalls of(OpenDescriptor open, int socket) {
        Network network = network(open, socket);
        return network == null ? null : network.calls;
    }

    private Network network(OpenDescriptor open, int socket) {
        if (started < 0) {
            started = NetworkCalls.cookie();
        }
        long cookie = NetworkCalls.cookie(socket);
        if (cookie == started) {
            return null;
        }
        return networks.values().stream().filter(one -> one.cookie == cookie).findAny()
                .orElseThrow(() -> open.refuse("this socket belongs to a network namespace that no process of the job "
                        + "is in, which cannot be checkpointed; close it first"));
    }

    /**
     * The object of a socket that was read.
     *
     * @param socket a duplicate of {@code open}
     * @param unix whether it is one of unix(7), {@code type} SOCK_STREAM, SOCK_DGRAM
     */
    public synchronized void made(OpenDescriptor open, int socket, boolean unix, int type, long object) {
        if (!networks.isEmpty()) {
            boolean pair = unix && (type == SOCK_DGRAM
                    || nameless(Syscall.GETSOCKNAME, socket) && nameless(Syscall.GETPEERNAME, socket));
            sockets.put(object, new Socket(open, network(open, socket), unix, pair));
        }
    }

    private static boolean nameless(int call, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, 0, NAME_BYTES);
        return Syscall.call(call, socket, data.address() + Integer.BYTES, data.address()) < 0
                || data.get(JAVA_INT, 0) <= Short.BYTES;
    }

    /** Its verbs device has sockets, which would be made in another namespace. */
    public void refuseLibrary(StoppedProcess process, OpenDescriptor owned) {
        if (owned.link().startsWith("socket:") && has(process)) {
            throw process.refuse("it uses verbs (libibverbs) and is in a network namespace of its own (unshare(2), a "
                    + "container), which cannot be checkpointed; run it in the namespace in which the job was started");
        }
    }

    /**
     * The records.
     *
     * @param users by number, the id of a user namespace's
     * @param processes all of the job's here
     */
    public synchronized void add(ObjectTable table, Map<Long, Long> users,
            List<? extends StoppedProcess> processes) {
        Map<Network, Long> ids = new HashMap<>();
        for (Network one : networks.values()) {
            long id = table.newId();
            ids.put(one, id);
            table.add(new NetworkNamespace(id, users.get(one.owner), one.setup.deviceFlags(), one.setup.mtu(),
                    one.setup.sysctls(), one.setup.addresses()));
            one.members.forEach(process -> table
                    .add(new NetworkNamespaceMember(table.newId(), process.namespacePid(), id)));
        }
        sockets.forEach((object, socket) -> {
            if (socket.network != null) {
                table.add(new SocketNetwork(table.newId(), object, ids.get(socket.network)));
            }
        });
        refuseMakers(table, processes);
    }

    /** Processes make unix sockets, each in its own namespace. */
    private void refuseMakers(ObjectTable table, List<? extends StoppedProcess> processes) {
        boolean left = processes.stream().allMatch(this::has);
        sockets.values().stream().filter(socket -> left && socket.network == null && socket.unix).findFirst()
                .ifPresent(socket -> {
                    throw socket.open.refuse("this unix socket was made in the network namespace in which the job was "
                            + "started, and no process of the job is left there, so that it cannot be checkpointed; "
                            + "close it first");
                });
        Map<Integer, Network> in = new HashMap<>();
        processes.forEach(process -> in.put(process.namespacePid(), networks.values().stream()
                .filter(one -> one.members.contains(process)).findAny().orElse(null)));
        table.owners().stream().filter(one -> one.kind() == AttributeKind.PEER_CREDENTIALS).map(PeerCredentials::of)
                .forEach(peer -> {
                    Socket socket = sockets.get(peer.object());
                    if (socket != null && in.containsKey(peer.pid()) && socket.pair
                            && !Objects.equals(in.get(peer.pid()), socket.network)) {
                        throw socket.open.refuse("process " + peer.pid() + " of the job made the pair of sockets to "
                                + "which this one belongs (socketpair(2)), and is now in another network namespace, "
                                + "which cannot be checkpointed; close it first");
                    }
                });
    }

    @Override
    public synchronized void close() {
        networks.values().forEach(one -> one.calls.close());
        networks.clear();
    }
}
