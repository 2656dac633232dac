package org.udckpt.process.restore;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.PeerCredentials;

/**
 * Who makes unix sockets: the process that made them before, as the user that it was then, for that is what their peers tell of them (SO_PEERCRED and SO_PEERGROUPS
 * of unix(7)). A process that has ended is there again until they are made.
 */
final class PeerMakers {
    private static final int SETGROUPS = 116, SETRESUID = 117, SETRESGID = 119, SAME = -1;
    private static final int PR_GET_SECUREBITS = 27, PR_SET_SECUREBITS = 28, SECBIT_NO_SETUID_FIXUP = 4;

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
    private final Map<Integer, Puppet> makers;
    /** What all processes are while the job is made. */
    private final Identity usual;

    /** @param makers by number: the job's processes, and those that have ended */
    PeerMakers(JobImage image, Map<Integer, Puppet> makers) {
        of(image).forEach(peer -> peers.put(peer.object(), peer));
        this.makers = makers;
        this.usual = peers.isEmpty() ? null : identity(makers.values().iterator().next().hostPid());
    }

    private static List<PeerCredentials> of(JobImage image) {
        return image.attributes().stream().filter(one -> one.kind() == AttributeKind.PEER_CREDENTIALS).map(PeerCredentials::of).toList();
    }

    /**
     * Before anything is made.
     *
     * @throws RestoreException naming a socket that only root can make
     */
    static void check(JobImage image, Owners owners) {
        for (PeerCredentials peer : of(image)) {
            if (User.id() != 0 && peer.uid() != User.id()) {
                Owner owner = owners.ofObjects().get(peer.object());
                throw (owner == null ? owners.of(image.processes().getFirst().pid()) : owner)
                        .unsupported("a unix socket of it is connected to user " + Integer.toUnsignedString(peer.uid()) + " (SO_PEERCRED), as whom only root can make it; restart as root");
            }
        }
    }

    /** Numbers of processes that have ended, and that sockets still tell of. */
    static Set<Integer> ended(JobImage image) {
        Set<Integer> ended = new TreeSet<>();
        of(image).forEach(peer -> ended.add(peer.pid()));
        image.processes().forEach(process -> ended.remove(process.pid()));
        return ended;
    }

    private static Identity identity(int hostPid) {
        String status = Proc.text("/proc/" + hostPid + "/status");
        return new Identity(numbers(status, "Uid:")[1], numbers(status, "Gid:")[1], numbers(status, "Groups:"));
    }

    private static int[] numbers(String status, String field) {
        return Arrays.stream(Proc.field(status, field).strip().split("\\s+")).filter(word -> !word.isEmpty()).mapToInt(Integer::parseUnsignedInt).toArray();
    }

    /** Who makes what {@code socket} tells of; {@code other} where that is nobody, or cannot be there again. */
    Puppet of(long socket, Puppet other) {
        PeerCredentials peer = peers.get(socket);
        return peer == null ? other : makers.getOrDefault(peer.pid(), other);
    }

    boolean known(long socket) {
        return peers.containsKey(socket);
    }

    /** Calls of {@code maker} for what {@code socket} tells of, as that user. */
    long as(long socket, Puppet maker, Supplier<Long> calls) {
        PeerCredentials peer = peers.get(socket);
        if (peer == null || usual.is(peer) || User.id() != 0) {
            return calls.get();
        }
        long bits = maker.call("PR_GET_SECUREBITS", Syscall.PRCTL, PR_GET_SECUREBITS);
        maker.call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, bits | SECBIT_NO_SETUID_FIXUP); // it may still do what root may
        become(maker, new Identity(peer.uid(), peer.gid(), peer.groups()), false);
        long result = calls.get();
        become(maker, usual, true);
        maker.call("PR_SET_SECUREBITS", Syscall.PRCTL, PR_SET_SECUREBITS, bits);
        return result;
    }

    /** @param back to root: the user first, for only root may change its groups; else last, for the same reason */
    private static void become(Puppet maker, Identity who, boolean back) {
        Runnable user = () -> maker.call("setresuid", SETRESUID, SAME, who.uid, SAME);
        if (back) {
            user.run();
        }
        Struct groups = maker.structure();
        Arrays.stream(who.groups).forEach(groups::i32);
        maker.call("setgroups", SETGROUPS, who.groups.length, groups.put());
        maker.call("setresgid", SETRESGID, SAME, who.gid, SAME);
        if (!back) {
            user.run();
        }
    }
}
