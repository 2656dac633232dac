package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.MS_PRIVATE;
import static org.udckpt.linux.LinuxConstants.MS_SHARED;
import static org.udckpt.linux.LinuxConstants.MS_SLAVE;
import static org.udckpt.linux.LinuxConstants.MS_UNBINDABLE;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.process.model.JobMount;

/** Lets mounts share mounts with each other as they did (mount_namespaces(7), shared subtrees). */
final class PeerGroups implements AutoCloseable {
    /** @param fd its root directory */
    private record Member(JobMount mount, MountThread thread, int fd) {}

    private final Map<Integer, List<Member>> groups = new HashMap<>();
    private final List<Member> slaves = new ArrayList<>();
    private final List<Member> unbindable = new ArrayList<>();
    private final Set<Integer> done = new HashSet<>();
    /** Of where the job was started. */
    private final List<Integer> opened = new ArrayList<>();
    private final boolean owned;
    private final Set<String> apart = new TreeSet<>();

    /** @param owned by a user namespace of the job's own */
    PeerGroups(boolean owned) {
        this.owned = owned;
    }

    void add(TreeBuilder tree) {
        for (JobMount mount : tree.mounts()) {
            Member member = new Member(mount, tree.thread(), tree.made(mount));
            if (mount.peers() != 0) {
                groups.computeIfAbsent(mount.peers(), _ -> new ArrayList<>()).add(member);
            } else if (mount.master() > 0) {
                slaves.add(member);
            } else if (mount.unbindable()) {
                unbindable.add(member);
            }
        }
    }

    /** A mount of where the job was started. */
    void add(JobMount mount, MountThread outside) {
        int fd = MountCalls.open(outside, mount.outside());
        opened.add(fd);
        groups.computeIfAbsent(mount.peers(), _ -> new ArrayList<>()).add(new Member(mount, outside, fd));
    }

    void join() {
        List.copyOf(groups.keySet()).forEach(this::join);
        slaves.forEach(this::follow);
        unbindable.forEach(one -> MountCalls.change(one.thread, one.fd, 0, 0, MS_UNBINDABLE, one.mount.point()));
    }

    @Override
    public void close() {
        opened.forEach(Files::close);
    }

    /** The widest begins: only what it can reach can be shared with it. */
    private void join(int group) {
        if (!done.add(group) || !groups.containsKey(group)) {
            return;
        }
        List<Member> members = groups.get(group);
        members.sort(Comparator.comparing((Member one) -> one.mount.tree() != 0)
                .thenComparing(one -> one.mount.part().length() + one.mount.outside().length()));
        Member first = members.getFirst();
        if (first.mount.master() > 0) {
            follow(first);
        }
        MountCalls.change(first.thread, first.fd, 0, 0, MS_SHARED, first.mount.point());
        for (Member other : members.subList(1, members.size())) {
            if (other.mount.tree() != 0) {
                // what the machine gives comes by the first, too
                MountCalls.change(other.thread, other.fd, 0, 0, MS_PRIVATE, other.mount.point());
                if (!share(first, other)) {
                    MountCalls.change(other.thread, other.fd, 0, 0, MS_SHARED, other.mount.point());
                }
            }
        }
    }

    private void follow(Member slave) {
        int group = slave.mount.master();
        join(group);
        if (groups.containsKey(group)) {
            if (share(groups.get(group).getFirst(), slave)) {
                MountCalls.change(slave.thread, slave.fd, 0, 0, MS_SLAVE, slave.mount.point());
            }
        } else if (owned) { // of mounts of a user namespace above, where who is in this one may do nothing
            apart.add(slave.mount.point());
        }
    }

    /**
     * In a user namespace the kernel lets no mount join another one on which it holds mounts in their places; false:
     * they stay apart.
     */
    private boolean share(Member first, Member other) {
        long result = MountCalls.join(other.thread, first.fd, other.fd);
        if (result == -LinuxError.EINVAL && owned) {
            apart.add(other.mount.point());
            return false;
        }
        LinuxError.check(result, "let " + other.mount.point() + " share mounts (Linux 5.15)");
        return true;
    }

    /** Where mounts share no more what they shared. */
    Set<String> apart() {
        return apart;
    }
}
