package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.MNT_DETACH;
import static org.udckpt.linux.LinuxConstants.MS_PRIVATE;
import static org.udckpt.linux.LinuxConstants.MS_SLAVE;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
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
    /** By number: its root directory. */
    private final Map<Integer, Integer> made = new HashMap<>();

    /** @param thread in a new namespace, of which nothing is to stay */
    TreeBuilder(List<JobMount> mounts, MountThread thread) {
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
        Set<Integer> gone = mounts.stream()
                .filter(mount -> machines.test(mount) && Files.tryStat(outside.root() + mount.outside()) == null)
                .map(JobMount::number).collect(Collectors.toSet());
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
     */
    void make(MountThread outside, Map<Long, String> staging) {
        for (JobMount mount : mounts) {
            MountThread from = mount.filesystem() == 0 ? outside : thread;
            String path = mount.filesystem() == 0 ? mount.outside()
                    : MountView.joined(staging.get(mount.filesystem()), mount.part());
            int opened = MountCalls.open(from, path);
            try {
                int copy = MountCalls.copy(from, opened, path);
                made.put(mount.number(), copy);
                MountCalls.change(thread, copy, mount.attributes(), MountRestore.ATTRIBUTES,
                        mount.master() == JobMount.MACHINES ? MS_SLAVE : MS_PRIVATE, mount.point());
            } finally {
                Files.close(opened);
            }
        }
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
    }

    private static void check(long result, String what) {
        LinuxError.check(result, what);
    }

    /** The deepest first: what is mounted above would hide their places. */
    private void attach(JobMount on) {
        mounts.stream().filter(mount -> mount.parent() == on.number())
                .sorted(Comparator.comparingInt((JobMount mount) -> mount.point().length()).reversed())
                .forEach(mount -> {
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
