package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;
import static org.udckpt.linux.LinuxConstants.SO_PEERCRED;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.MessageSender;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.Attribute;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.PeerCredentials;

/**
 * The maker of a unix socket's peer, as the socket itself reports it (SO_PEERCRED and SO_PEERGROUPS of unix(7)). The
 * kernel records it once: at socketpair(2), or for a connection at listen(2) and connect(2). The maker may have ended
 * since, and its pid is then known in the job's own namespace only.
 */
final class PeerCredentialReader {
    private static final int SO_PEERGROUPS = 59, UCRED_BYTES = 12, LENGTH = Scratch.DATA_BYTES - 64, NOBODY = 0;

    /** @param pid as this process numbers it */
    private record Peer(StoppedProcess process, int fd, long object, int pid, int uid, int gid, int[] groups) {}

    private final Map<Integer, Integer> numbers = new HashMap<>();
    private final List<Peer> peers = new ArrayList<>();
    private final ObjectTable table;
    private final SenderReader senders;

    PeerCredentialReader(ObjectTable table) {
        this.table = table;
        this.senders = new SenderReader(table, numbers);
    }

    /** @param sender of a message in the queue of {@code open} */
    void read(OpenDescriptor open, MessageSender sender) {
        senders.read(open, sender);
    }

    /** A process of the job. */
    void seen(TracedProcess process) {
        numbers.put(process.pid, process.namespacePid);
    }

    /** @param socket a duplicate of the descriptor {@code open} */
    void read(OpenDescriptor open, long object, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, UCRED_BYTES);
        LinuxError.check(ask(socket, SO_PEERCRED, data), "SO_PEERCRED");
        int pid = data.get(JAVA_INT, 0);
        if (pid != NOBODY) {
            peers.add(new Peer(open.process(), open.fd(), object, pid, data.get(JAVA_INT, 4),
                    data.get(JAVA_INT, 8), groups(open, socket)));
        }
    }

    private static int[] groups(OpenDescriptor open, int socket) {
        MemorySegment data = Scratch.data();
        data.set(JAVA_INT, LENGTH, PeerCredentials.MOST_GROUPS * Integer.BYTES);
        long result = ask(socket, SO_PEERGROUPS, data);
        if (result == -LinuxError.ERANGE) {
            throw open.refuse(("the creator of a unix socket was in %d groups (SO_PEERGROUPS); at most %d can be "
                    + "restored; close it first")
                    .formatted(data.get(JAVA_INT, LENGTH) / Integer.BYTES, PeerCredentials.MOST_GROUPS));
        }
        LinuxError.check(result, "SO_PEERGROUPS");
        int[] groups = new int[data.get(JAVA_INT, LENGTH) / Integer.BYTES];
        Arrays.setAll(groups, i -> data.get(JAVA_INT, 4L * i));
        return groups;
    }

    private static long ask(int socket, int option, MemorySegment data) {
        return Syscall.call(Syscall.GETSOCKOPT, socket, SOL_SOCKET, option, data.address(), data.address() + LENGTH);
    }

    /** When all processes have been read: those that one of them made. */
    void finish() {
        peers.removeIf(peer -> {
            Integer pid = numbers.get(peer.pid);
            if (pid == null && peer.process.inFlight()) {
                pid = hereToo(peer.process, peer.pid);
            }
            if (pid != null) {
                add(peer, pid);
            }
            return pid != null;
        });
        senders.finish();
    }

    /**
     * The number of a process that has ended, where no process of the job can be asked for it.
     *
     * @throws RuntimeException the job has numbers of its own, and the refusal says so
     */
    static int hereToo(StoppedProcess process, int pid) {
        if (!Files.readLink("/proc/%d/ns/pid".formatted(process.task())).equals(Files.readLink("/proc/self/ns/pid"))) {
            throw process.refuse("a process that has ended made this socket's peer or sent a message to it, and its "
                    + "number cannot be found; try again when the socket has arrived");
        }
        return pid;
    }

    /** Whether {@link #ask} has something to ask. */
    boolean open() {
        return !peers.isEmpty() || senders.open();
    }

    /**
     * On the tracer thread of these processes: what only a process of the job knows, the number of one that has ended.
     */
    synchronized void ask(List<TracedProcess> processes) {
        senders.ask(processes);
        for (Peer peer : peers) {
            if (peer.process instanceof TracedProcess process && processes.contains(process)) {
                long results = Parasite.results(process.main().frame);
                process.memory.writeBytes(results + UCRED_BYTES, new byte[]{UCRED_BYTES, 0, 0, 0});
                process.main().injector.check("SO_PEERCRED", Syscall.GETSOCKOPT, peer.fd, SOL_SOCKET, SO_PEERCRED,
                        results, results + UCRED_BYTES);
                int pid = (int) process.memory.readLong(results);
                refuseApart(process);
                if (pid != NOBODY) { // else it is no process of the job's: its launcher
                    add(peer, pid);
                }
            }
        }
    }

    /** What such a process is told is a number of its own namespace, or none. */
    static void refuseApart(TracedProcess process) {
        if (process.inner != null) {
            throw process.refuse("it is in a pid namespace of its own, and a process that is no part of the job any "
                    + "more has made the peer of one of its unix sockets (SO_PEERCRED) or sent a message that waits "
                    + "there, which cannot be checkpointed; close the socket first");
        }
    }

    private void add(Peer peer, int pid) {
        PeerCredentials credentials = new PeerCredentials(peer.object, pid, peer.uid, peer.gid, peer.groups);
        table.add(Attribute.of(AttributeKind.PEER_CREDENTIALS, peer.process.namespacePid(), 0, credentials.values()));
    }
}
