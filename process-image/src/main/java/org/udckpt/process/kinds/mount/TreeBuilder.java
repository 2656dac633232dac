package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.MNT_DETACH;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_ATIME;
import static org.udckpt.linux.LinuxConstants.MS_PRIVATE;
import static org.udckpt.linux.LinuxConstants.MS_SLAVE;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobMount;
import org.udckpt.process.model.MountView;

/** Makes the mounts of one namespace, in a thread of this process that is in it. */
final class TreeBuilder implements AutoCloseable {
    private final List<JobMount> mounts;
    private final MountThread thread;
    private final boolean whole;
    /** By number: its root directory. */
    private final Map<Integer, Integer> made = new HashMap<>();
    /** Numbers of those that are on the one below outside, too, and so are copied with that. */
    private final Set<Integer> along = new HashSet<>();

    /**
     * @param thread in a new namespace, of which nothing is to stay
     * @param whole mounts of outside are copied with what is on them, as who is in a user namespace has to
     */
    TreeBuilder(List<JobMount> mounts, MountThread thread, boolean whole) {
        this.whole = whole;
        this.mounts = new ArrayList<>(mounts);
        this.mounts.sort(Comparator.comparingInt(JobMount::number));
        this.thread = thread;
    }

    /**
     * Leaves out what the machine had mounted where now nothing is, and what was on it. A directory that the job has
     * mounted on itself looks the same, and is no mount outside: so being there is what counts.
     *
     * @param machines as MountViews says it
     */
    void leaveOut(MountThread outside, Predicate<JobMount> machines) {
        leaveOut(mounts.stream()
                .filter(mount -> machines.test(mount) && Files.tryStat(outside.root() + mount.outside()) == null)
                .map(JobMount::number).collect(Collectors.toSet()), machines);
    }

    /** @param gone numbers */
    private void leaveOut(Set<Integer> gone, Predicate<JobMount> machines) {
        while (mounts.stream().anyMatch(mount -> gone.contains(mount.parent()) && gone.add(mount.number()))) {
            continue; // what is on that
        }
        mounts.stream().filter(mount -> gone.contains(mount.number()) && !machines.test(mount)).findFirst()
                .ifPresent(mount -> {
                    throw new LinuxError("mount " + mount.point() + ": what it is on has gone", LinuxError.ENOENT);
                });
        mounts.removeIf(mount -> gone.contains(mount.number()));
    }

    /**
     * Makes the mounts, mounted nowhere yet.
     *
     * @param outside where the job was started
     * @param staging by file system, where it is mounted in this thread's namespace
     * @param machines as MountViews says it
     */
    void make(MountThread outside, Map<Long, String> staging, Predicate<JobMount> machines) {
        for (JobMount mount : List.copyOf(mounts)) {
            if (!mounts.contains(mount)) {
                continue; // it was on one that has gone
            }
            if (comesAlong(mount, outside)) {
                along.add(mount.number());
                continue;
            }
            MountThread from = mount.filesystem() == 0 ? outside : thread;
            String path = mount.filesystem() == 0 ? mount.outside()
                    : MountView.joined(staging.get(mount.filesystem()), mount.part());
            int opened;
            try {
                opened = MountCalls.open(from, path);
            } catch (LinuxError e) {
                if (e.errno() != LinuxError.ENOENT || mount.filesystem() != 0 || !machines.test(mount)) {
                    throw e;
                }
                leaveOut(new HashSet<>(Set.of(mount.number())), machines); // gone in this moment
                continue;
            }
            try {
                int copy = MountCalls.copy(from, opened, path, whole && mount.filesystem() == 0);
                made.put(mount.number(), copy);
                change(mount);
            } finally {
                Files.close(opened);
            }
        }
    }

    private void change(JobMount mount) {
        long propagation = mount.master() == JobMount.MACHINES ? MS_SLAVE : MS_PRIVATE;
        if (!whole || mount.filesystem() != 0 || !MountCalls.tryChange(thread, made(mount), mount.attributes(),
                MountRestore.ATTRIBUTES, propagation)) {
            // what the machine's mount forbids cannot be allowed in a user namespace
            boolean forbids = whole && mount.filesystem() == 0;
            MountCalls.change(thread, made(mount), mount.attributes() & (forbids ? ~MOUNT_ATTR_ATIME : ~0L),
                    forbids ? 0 : MountRestore.ATTRIBUTES, propagation, mount.point());
        }
    }

    private boolean comesAlong(JobMount mount, MountThread outside) {
        JobMount below = mounts.stream().filter(other -> other.number() == mount.parent()).findFirst().orElse(null);
        return whole && below != null && mount.filesystem() == 0 && below.filesystem() == 0
                && MountView.joined(below.outside(), mount.point()).equals(mount.outside())
                && MountIds.isRoot(outside.root() + mount.outside());
    }

    /** Mounts them; what the namespace had before is gone then. */
    void attach() {
        JobMount root = mounts.stream().filter(mount -> mount.parent() == 0).findFirst().orElseThrow();
        int mount = made.get(root.number());
        int old = MountCalls.open(thread, "/");
        MountCalls.attach(thread, mount, old, "the root directory");
        Files.close(old);
        check(thread.call(Syscall.FCHDIR, mount), "enter a new root directory");
        check(thread.call(Syscall.PIVOT_ROOT, Scratch.string("."), Scratch.second(".")),
                "pivot_root (EINVAL: the root directory of the job's shepherd is no mount point, as in a chroot)");
        check(thread.call(Syscall.UMOUNT2, Scratch.string("."), MNT_DETACH), "unmount the former root directory");
        attach(root);
        mounts.stream().filter(one -> along.contains(one.number())).forEach(this::change);
    }

    private static void check(long result, String what) {
        LinuxError.check(result, what);
    }

    /** The deepest first: what is mounted above would hide their places. */
    private void attach(JobMount on) {
        mounts.stream().filter(mount -> mount.parent() == on.number())
                .sorted(Comparator.comparingInt((JobMount mount) -> mount.point().length()).reversed())
                .forEach(mount -> {
                    if (along.contains(mount.number())) {
                        made.put(mount.number(), MountCalls.along(made.get(on.number()), mount.point()));
                        attach(mount);
                        return;
                    }
                    int place = MountCalls.beneath(made.get(on.number()), mount.point());
                    try {
                        MountCalls.attach(thread, made.get(mount.number()), place, mount.point());
                    } finally {
                        Files.close(place);
                    }
                    attach(mount);
                });
    }

    List<JobMount> mounts() {
        return mounts;
    }

    MountThread thread() {
        return thread;
    }

    /** The root directory of a mount, as a descriptor of this process. */
    int made(JobMount mount) {
        return made.get(mount.number());
    }

    @Override
    public void close() {
        made.values().forEach(Files::close);
        thread.close();
    }
}
