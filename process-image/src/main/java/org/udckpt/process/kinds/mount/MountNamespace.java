package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.MNT_DETACH;
import static org.udckpt.linux.LinuxConstants.MOUNT_ATTR_RDONLY;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.MountThread;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.kinds.named.EndedProcessFile;
import org.udckpt.process.kinds.named.RootDirectory;
import org.udckpt.process.model.MountView;

/** A mount namespace of a job that stands still. */
public final class MountNamespace implements AutoCloseable {
    /** A restart mounts these anew for the job. */
    private static final List<String> RESTARTS_OWN = List.of("/proc", "/dev/pts", "/dev/ptmx", "/dev/mqueue");
    /** What can be mounted again without the machine's help, or a file that somebody else has. */
    static final Set<String> MADE_AGAIN = Set.of("tmpfs", "proc", "sysfs", "devpts", "mqueue",
            OverlayOptions.OVERLAY);

    private final int number;
    private final long owner;
    private final StoppedProcess process;
    private final JobMounts all;
    private final MountThread thread;
    private final List<MountLine> lines;
    /** Behind the name of what has been removed (mountinfo). */
    static final String DELETED = "//deleted";
    /** The name that such a file gets. */
    private static final String REMOVED = "/removed";
    private static final int DEVICE_BITS = 20;

    /** By number, where a mount's root directory is outside. */
    private final Map<Integer, String> outside = new HashMap<>();
    private final MountView view;
    /** Paths of where the job was started, of processes by the job's numbers. */
    private final Map<Integer, Set<String>> earlier = new LinkedHashMap<>();
    /** Those that lead to something of the namespace itself. */
    private final Map<Integer, Set<String>> here = new HashMap<>();
    private final Set<Integer> numbers = new HashSet<>();
    private final Set<Integer> ended = new HashSet<>();
    /** By number, lines as they were read, of what {@link #alone} tells otherwise. */
    private final Map<Integer, MountLine> read = new HashMap<>();

    MountNamespace(int number, StoppedProcess process, JobMounts all, long owner) {
        this.number = number;
        this.owner = owner;
        this.all = all;
        this.process = process;
        this.thread = new MountThread(process.task());
        try {
            List<MountLine> found = thread.mounts();
            found.forEach(line -> numbers.add(line.id()));
            found.forEach(this::find);
            this.lines = withoutHidden(found).stream().map(this::alone).toList();
            lines.stream().filter(line -> !outside.containsKey(line.id())).forEach(this::make);
            Set<Integer> own = lines.stream().map(MountLine::id).collect(Collectors.toSet());
            lines.stream().filter(line -> line.point().equals("/proc") && line.type().equals("proc")
                    && line.root().equals("/") && isVisible(line)).findFirst()
                    .orElseThrow(() -> refusal("has no /proc (mount -t proc proc /proc), without which it"));
            this.view = new MountView(lines.stream().map(line -> new MountView.Row(line.id(),
                    own.contains(line.parent()) ? line.parent() : 0, line.point(), outside.get(line.id())))
                    .toList());
        } catch (RuntimeException | Error e) {
            thread.close();
            throw e;
        }
    }

    /** Looks for what is mounted among what the namespace in which the job was started has. */
    private void find(MountLine line) {
        String found = null;
        for (MountLine there : all.outside()) {
            if (there.device() == line.device() && MountView.isBelow(line.root(), there.root())) {
                String path = MountView.joined(there.point(), line.root().substring(
                        there.root().equals("/") ? 0 : there.root().length()));
                if (isOfEnded(line, there, path)) {
                    ended.add(line.id());
                    outside.put(line.id(), whole(path));
                    return;
                }
                boolean better = found == null || path.equals(line.point());
                if (better && MountIds.of(all.outsideRoot() + path) == there.id() && isHere(path)) {
                    found = path;
                }
            }
        }
        if (found != null) {
            String path = found;
            boolean mounted = all.outside().stream().anyMatch(there -> there.point().equals(path));
            String refusal = mounted ? null : RootDirectory.replaceable(path);
            if (refusal != null) {
                throw process.refuse("what its mount namespace has at " + line.point() + ", " + path + ", " + refusal);
            }
            outside.put(line.id(), found);
        }
    }

    /** A file in /proc of a process that has ended, as some container starters leave one. */
    private boolean isOfEnded(MountLine line, MountLine there, String path) {
        if (!there.type().equals("proc") || !there.point().equals("/proc") || !EndedProcessFile.isPath(whole(path))) {
            return false;
        }
        Files.Stat now = Files.tryStat(all.outsideRoot() + whole(path));
        Files.Stat mounted = isVisible(line) ? Files.tryStat(thread.root() + line.point()) : null;
        return now == null || mounted != null && !now.isSame(mounted); // the number may be another one's by now
    }

    /** A path without what the kernel tells of those that are gone. */
    private static String whole(String path) {
        return path.endsWith(DELETED) ? path.substring(0, path.length() - DELETED.length()) : path;
    }

    /** Whether a mount is a file of a process that has ended. */
    boolean isEnded(MountLine line) {
        return ended.contains(line.id());
    }

    /** What the machine has under other mounts is nobody's: what lies on top of it is on what is below. */
    private List<MountLine> withoutHidden(List<MountLine> found) {
        Map<Integer, Integer> hidden = found.stream()
                .filter(line -> !outside.containsKey(line.id()) && !isVisible(line)
                        && all.outside().stream().anyMatch(there -> there.device() == line.device()))
                .collect(Collectors.toMap(MountLine::id, MountLine::parent));
        List<MountLine> left = new ArrayList<>();
        for (MountLine line : found) {
            int parent = line.parent();
            while (hidden.containsKey(parent)) {
                parent = hidden.get(parent);
            }
            if (!hidden.containsKey(line.id())) {
                left.add(line.on(parent));
            }
        }
        return left;
    }

    /** A restart begins with the mounts of this process. */
    boolean isHere(String path) {
        if (RESTARTS_OWN.stream().anyMatch(own -> MountView.isBelow(path, own))) {
            return true;
        }
        Files.Stat here = Files.tryStat(path);
        Files.Stat there = Files.tryStat(all.outsideRoot() + path);
        return here != null && there != null && here.isSame(there);
    }

    /** A file that has lost its name since it was mounted is a file system of its own, which has nothing else. */
    private MountLine alone(MountLine line) {
        if (!line.root().endsWith(DELETED) || isEnded(line) || !isVisible(line)) {
            return line;
        }
        Files.Stat stat = Files.stat(thread.root() + line.point());
        if (stat.type() != Files.Stat.REGULAR) {
            return line;
        }
        read.put(line.id(), line);
        long device = -(stat.inode() << DEVICE_BITS | line.device() & (1 << DEVICE_BITS) - 1) - 1; // nobody's number
        return new MountLine(line.id(), line.parent(), device, REMOVED, line.point(), line.attributes(), line.group(),
                line.master(), line.unbindable(), "tmpfs", "tmpfs", "rw");
    }

    private void make(MountLine line) {
        // made writable first, and only root can change that later
        boolean fixed = List.of(line.options().split(",")).contains("ro") && line.type().equals("tmpfs") && owner != 0;
        if (fixed || !MADE_AGAIN.contains(line.type())) {
            throw process.refuse("its mount namespace has " + line.point() + ", a file system (" + line.type() + ", "
                    + line.source() + ", " + line.root() + ") that a restart cannot mount again; mount it outside of "
                    + "the job");
        }
        all.add(line);
    }

    /** Whether a path leads to this mount. */
    boolean isVisible(MountLine line) {
        return MountIds.of(thread.root() + line.point()) == line.id();
    }

    /** A thread in a copy of the namespace in which this mount is hidden by no other. Nobody is told of it. */
    MountThread copy(MountLine line) {
        MountThread copy = new MountThread(thread);
        try {
            MountRestore.own(copy);
            Set<Integer> above = new HashSet<>();
            for (MountLine at = line; at != null; at = on(at)) {
                above.add(at.id());
            }
            for (MountLine other : lines.reversed()) {
                if (leads(copy, line)) {
                    return copy;
                }
                if (!above.contains(other.id())) {
                    copy.call(Syscall.UMOUNT2, Scratch.string(other.point()), MNT_DETACH);
                }
            }
            if (!leads(copy, line)) { // from outside of a user namespace: not to be moved
                throw new LinuxError("look below what is mounted on " + line.point(), LinuxError.EINVAL);
            }
            return copy;
        } catch (RuntimeException | Error e) {
            copy.close();
            throw e;
        }
    }

    /** Whether a mount is not hidden in a copy, in which it has another number. */
    private boolean leads(MountThread copy, MountLine line) {
        MountLine its = read.getOrDefault(line.id(), line);
        int found = MountIds.of(copy.root() + its.point());
        return copy.mounts().stream().anyMatch(one -> one.id() == found && one.device() == its.device()
                && one.root().equals(its.root()));
    }

    private MountLine on(MountLine line) {
        return lines.stream().filter(other -> other.id() == line.parent()).findFirst().orElse(null);
    }

    /** The refusal of a namespace. @param why the sentence goes on */
    RuntimeException refusal(String why) {
        return process.refuse("its mount namespace " + why + " cannot be checkpointed");
    }

    /** The namespace's number in the image. */
    public int number() {
        return number;
    }

    /** The user namespace that owns it, as {@link org.udckpt.process.kinds.namespace.JobNamespaces} numbers it. */
    long owner() {
        return owner;
    }

    List<MountLine> lines() {
        return lines;
    }

    MountThread thread() {
        return thread;
    }

    /** Where a mount's root directory is in the namespace in which the job was started; null: not there. */
    String outside(MountLine line) {
        return outside.get(line.id());
    }

    /**
     * Whether a file is on a file system that a restart makes.
     *
     * @param through a path of this process that leads to it
     */
    public boolean owns(Files.Stat file, String through) {
        if (all.owns(file.device())) {
            return true;
        }
        return overlay(through) != null;
    }

    /** The overlay of the job's own that a path of this process leads into; null: none. */
    private MountLine overlay(String through) {
        List<MountLine> overlays = lines.stream().filter(line -> all.isOverlay(line.device())).toList();
        int mount = overlays.isEmpty() ? 0 : MountIds.of(through);
        return overlays.stream().filter(line -> line.id() == mount).findFirst().orElse(null);
    }

    /**
     * Whether a path of this process leads into an overlay of the job's own.
     *
     * @param number of its device, as /proc/PID/maps has it
     */
    public boolean isOfOverlay(String number, String through) {
        MountLine overlay = overlay(through);
        return overlay != null && number.equals("%02x:%02x".formatted(overlay.device() >> 8 & 0xfff,
                overlay.device() & 0xff | overlay.device() >> 12 & 0xfff00));
    }

    /**
     * What leads to the paths of where the job was started, if a mount is there and not here; null: it is here.
     *
     * @param mount as mountinfo and fdinfo number it
     */
    public String before(int mount) {
        return !numbers.contains(mount) && all.outside().stream().anyMatch(line -> line.id() == mount)
                ? all.outsideRoot() : null;
    }

    private boolean isEarlier(StoppedProcess its, String path) {
        return earlier.getOrDefault(its.namespacePid(), Set.of()).contains(path);
    }

    /** A path in the namespace in which the job was started; null: it is on a file system of the job's own. */
    public synchronized String outside(StoppedProcess its, String path) {
        return isEarlier(its, path) ? path : view.outside(path);
    }

    /** What leads to a path, for this process. @param mounts as the process's own paths begin */
    public synchronized String seen(StoppedProcess its, String mounts, String path) {
        return (isEarlier(its, path) ? all.outsideRoot() : mounts) + path;
    }

    /** Whether another namespace of the job has this mount, and not this one. @param mount as fdinfo numbers it */
    public boolean isOthers(int mount) {
        return !numbers.contains(mount)
                && all.namespaces().stream().anyMatch(other -> other != this && other.numbers.contains(mount));
    }

    /**
     * Why a file that is made in a directory would not come onto a mount of this namespace; null: it would.
     *
     * @param mount as fdinfo numbers it
     * @param directory as a path of this process
     */
    public String notMadeOn(int mount, String directory) {
        MountLine on = lines.stream().filter(line -> line.id() == mount).findFirst().orElse(null);
        if (on == null) { // from before
            return null;
        }
        if (all.of(on.device()).stream().allMatch(any -> (any.getValue().attributes() & MOUNT_ATTR_RDONLY) != 0)) {
            return "is on a mount for reading only (" + on.point() + ")";
        }
        int there = MountIds.of(directory);
        return there == mount || there < 0 ? null : "was opened by way of another mount than the one of its directory";
    }

    /** A path of where the job was started, as a path of this process. */
    public String startedWith(String path) {
        return all.outsideRoot() + path;
    }

    /**
     * Notes a file that a process had before it was in the namespace, if it is found under its name where the job was
     * started; false also where the process has another one of that name, which is here.
     */
    public synchronized boolean fromOutside(StoppedProcess its, String path, Files.Stat stat) {
        Files.Stat there = Files.tryStat(all.outsideRoot() + path);
        if (there == null || !there.isSame(stat)
                || here.getOrDefault(its.namespacePid(), Set.of()).contains(path)) {
            return false;
        }
        earlier.computeIfAbsent(its.namespacePid(), _ -> new LinkedHashSet<>()).add(path);
        return true;
    }

    /** Notes a file that a process has of the namespace; false: it has another one of that name from before. */
    public synchronized boolean fromHere(StoppedProcess its, String path) {
        here.computeIfAbsent(its.namespacePid(), _ -> new HashSet<>()).add(path);
        return !isEarlier(its, path);
    }

    /** By the job's numbers. */
    Map<Integer, Set<String>> earlier() {
        return earlier;
    }

    /** A process with another root directory than the namespace's is found by its path: but not if that is the same. */
    void refuseOtherRoot(StoppedProcess other) {
        String root = "/proc/" + other.task() + "/root";
        if ("/".equals(Files.readLink(root)) && MountIds.of(root) != MountIds.of(thread.root())) {
            throw other.refuse("something is mounted over its root directory, which cannot be checkpointed");
        }
    }

    @Override
    public void close() {
        thread.close();
    }
}
