package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.AF_UNIX;
import static org.udckpt.linux.LinuxConstants.PR_GET_SECUREBITS;
import static org.udckpt.linux.LinuxConstants.PR_SET_SECUREBITS;
import static org.udckpt.linux.LinuxConstants.SECBIT_NO_SETUID_FIXUP;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.ObjectOwners;
import org.udckpt.process.kinds.base.SocketNetworks;
import org.udckpt.process.kinds.base.Struct;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.KernelObject;
import org.udckpt.process.model.PeerCredentials;
import org.udckpt.process.model.Privileges;

/**
 * Chooses the process that makes each unix socket: the one that made it before, as the user that it was then, since the
 * socket's peer reports these (SO_PEERCRED and SO_PEERGROUPS of unix(7)). A process that has ended is made again, and
 * stays until its sockets are made.
 */
public final class PeerMakers {
    private static final int SAME = -1;

    /** Effective ones. */
    private record Identity(int uid, int gid, int[] groups) {
        boolean is(PeerCredentials peer) {
            return uid == peer.uid() && gid == peer.gid() && Arrays.equals(sorted(groups), sorted(peer.groups()));
        }

        private static int[] sorted(int[] numbers) {
            int[] sorted = numbers.clone();
            Arrays.sort(sorted);
            return sorted;
        }
    }

    private final Map<Long, PeerCredentials> peers = new HashMap<>();
    private final Map<Integer, ? extends Maker> makers;
    private final SocketNetworks networks;
    /** What all processes are while the job is made. */
    private final Identity usual;

    /** @param makers by number: the job's processes, and those that have ended */
    PeerMakers(JobImage image, Map<Integer, ? extends Maker> makers, SocketNetworks networks) {
        this.networks = networks;
        of(image).forEach(peer -> peers.put(peer.object(), peer));
        waiting(image).forEach(client -> peers.putIfAbsent(client.object(), client));
        this.makers = makers;
        this.usual = peers.isEmpty() ? null : identity(makers.values().iterator().next().hostPid());
    }

    /**
     * Who accepts a connection is told who has called connect(2). Where the checkpoint did not find out who that was,
     * it is the process that has the client, where it is not what all processes are. By the ids of
     * {@link WaitingConnection}s.
     */
    private static List<PeerCredentials> waiting(JobImage image) {
        List<PeerCredentials> clients = new ArrayList<>();
        for (KernelObject object : image.objects()) {
            if (object instanceof WaitingConnection waiting
                    && waiting.client() != WaitingConnection.CLOSED) {
                image.descriptors().stream().filter(one -> one.object() == waiting.client()).map(Descriptor::pid)
                        .findFirst().flatMap(pid -> image.privileges().stream()
                                .filter(one -> one.tid() == pid && one instanceof Privileges.Credentials)
                                .map(Privileges.Credentials.class::cast).findAny())
                        .ifPresent(one -> clients.add(new PeerCredentials(waiting.id(), one.pid(), one.users()[1],
                                one.groups()[1], one.supplementary())));
            }
        }
        return clients;
    }

    private static List<PeerCredentials> of(JobImage image) {
        return image.attributes()
                .stream()
                .filter(one -> one.kind() == AttributeKind.PEER_CREDENTIALS)
                .map(PeerCredentials::of)
                .toList();
    }

    /**
     * Before anything is made.
     *
     * @throws RuntimeException naming a socket that only root can make
     */
    public static void check(JobImage image, ObjectOwners owners) {
        for (PeerCredentials peer : of(image)) {
            if (User.id() != 0 && peer.uid() != User.id()) {
                throw owners.orFirst(peer.object())
                        .unsupported("one of its unix sockets is connected to user "
                                + Integer.toUnsignedString(peer.uid())
                                + " (SO_PEERCRED), which only root can restore; restart as root");
            }
        }
        CredentialsInFlight other = senders(image).filter(one -> one.uid() != User.id()).findAny().orElse(null);
        if (User.id() != 0 && other != null) {
            throw owners.orFirst(other.object())
                    .unsupported("a message of user " + Integer.toUnsignedString(other.uid())
                            + " waits in one of its unix sockets (SCM_CREDENTIALS), which only root can send again;"
                            + " restart as root");
        }
    }

    private static Stream<CredentialsInFlight> senders(JobImage image) {
        return image.objects().stream().filter(CredentialsInFlight.class::isInstance)
                .map(CredentialsInFlight.class::cast);
    }

    /** Numbers of processes that have ended, and that sockets still tell of. */
    public static Set<Integer> ended(JobImage image) {
        Set<Integer> ended = new TreeSet<>();
        of(image).forEach(peer -> ended.add(peer.pid()));
        senders(image).forEach(sender -> ended.add(sender.pid()));
        image.processes().forEach(process -> ended.remove(process.pid()));
        return ended;
    }

    private static Identity identity(int hostPid) {
        String status = Proc.text("/proc/" + hostPid + "/status");
        return new Identity(numbers(status, "Uid:")[1], numbers(status, "Gid:")[1], numbers(status, "Groups:"));
    }

    private static int[] numbers(String status, String field) {
        return Arrays.stream(Proc.field(status, field).strip().split("\\s+"))
                .filter(word -> !word.isEmpty())
                .mapToInt(Integer::parseUnsignedInt)
                .toArray();
    }

    /**
     * The maker of the socket that {@code socket} reports; {@code other} if none is known, or it cannot be made again.
     */
    Maker of(long socket, Maker other) {
        PeerCredentials peer = peers.get(socket);
        return peer == null ? other : makers.containsKey(peer.pid()) ? makers.get(peer.pid()) : other;
    }

    boolean known(long socket) {
        return peers.containsKey(socket);
    }

    /** Calls of {@code maker} for what {@code socket} tells of, as that user. */
    long as(long socket, Maker maker, Supplier<Long> calls) {
        PeerCredentials peer = peers.get(socket);
        if (peer == null || usual.is(peer) || User.id() != 0) {
            return calls.get();
        }
        long bits = maker.call("PR_GET_SECUREBITS", Syscall.PRCTL, PR_GET_SECUREBITS);
        // it may still do what root may
        maker.call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP);
        become(maker, new Identity(peer.uid(), peer.gid(), peer.groups()), false);
        long result = calls.get();
        become(maker, usual, true);
        maker.call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, bits);
        return result;
    }

    /** Makes both ends in {@code maker}, by the process that made {@code socket} before. */
    long[] pair(Maker maker, long socket, int type) {
        Maker before = of(socket, maker);
        if (networks.ofProcess(before.pid()) != networks.of(socket)) {
            throw before.unsupported("it made a pair of unix sockets (socketpair(2)) in another network namespace "
                    + "than it is in");
        }
        long both = as(socket, before, () -> {
            long pair = before.structure().i64(0).put();
            before.call("socketpair", Syscall.SOCKETPAIR, AF_UNIX, type | Syscall.O_CLOEXEC, 0, pair);
            return Integer.toUnsignedLong(before.readInt(pair)) | (long) before.readInt(pair + 4) << Integer.SIZE;
        });
        return new long[]{move(before, maker, both & 0xffff_ffffL), move(before, maker, both >>> Integer.SIZE)};
    }

    /** The descriptor's number in {@code to}, which alone has it then. */
    static long move(Maker from, Maker to, long fd) {
        if (from == to) {
            return fd;
        }
        long there = to.fetch(from.pid(), fd);
        from.call("close", Syscall.CLOSE, fd);
        return there;
    }

    /** By who did before, which who connects to it is told: {@code socket} is told of him. */
    void listen(Maker maker, long socket, long fd, int backlog) {
        Maker before = of(socket, maker);
        long there = before == maker ? fd : before.fetch(maker.pid(), fd);
        as(socket, before, () -> before.call("listen", Syscall.LISTEN, there, backlog));
        if (before != maker) {
            before.call("close", Syscall.CLOSE, there);
        }
    }

    /** @param accepted the socket that will be told who has connected {@code fd} of {@code maker} */
    void connect(SocketNames names, Maker maker, long accepted, long fd, UnixSocket to) {
        Maker before = of(accepted, maker);
        long there = before == maker ? fd : before.fetch(maker.pid(), fd);
        as(accepted, before, () -> {
            names.connect(before, "connect", there, to);
            return 0L;
        });
        if (before != maker) {
            before.call("close", Syscall.CLOSE, there);
        }
    }

    /** @param back to root: the user first, for only root may change its groups; else last, for the same reason */
    private static void become(Maker maker, Identity who, boolean back) {
        Runnable user = () -> maker.call("setresuid", Syscall.SETRESUID, SAME, who.uid, SAME);
        if (back) {
            user.run();
        }
        Struct groups = maker.structure();
        Arrays.stream(who.groups).forEach(groups::i32);
        maker.call("setgroups", Syscall.SETGROUPS, who.groups.length, groups.put());
        maker.call("setresgid", Syscall.SETRESGID, SAME, who.gid, SAME);
        if (!back) {
            user.run();
        }
    }
}
