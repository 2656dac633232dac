package org.udckpt.process.kinds.base;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.linux.Access;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.Zombie;

/**
 * What a restart will open by its name has to be what the name leads to when the checkpoint is asked for: else the
 * restart would find nothing, or something else, when it is too late. Contents of regular files are another matter (of
 * memory objects and of identities).
 */
public final class OpenedByName {
    private static final long OVERLAYFS = 0x794c7630L;
    private static final String DELETED = " (deleted)";
    /** proc_pid(5); the kernel finds the owner again at each look. */
    private static final Pattern OF_A_PROCESS = Pattern.compile("/proc/(\\d+)(?:/task/(\\d+))?(/.*| [(]deleted[)])?");
    /** Whose names are numbers of what only that process has, or that only a tracer may open (proc_pid_mem(5)). */
    private static final Pattern OF_THAT_PROCESS_ALONE = Pattern.compile(
            "/proc/\\d+(/task/\\d+)?(/(fd|fdinfo|map_files)/.*|/mem)");
    /**
     * Devices without a state, by their numbers, and where each machine has them
     * (Documentation/admin-guide/devices.txt).
     */
    private static final Map<Long, String> STATELESS = Map.of(0x103L, "/dev/null", 0x105L, "/dev/zero", 0x107L,
            "/dev/full", 0x108L, "/dev/random", 0x109L, "/dev/urandom", 0x500L, "/dev/tty");

    private final Set<Integer> owners = new HashSet<>();
    private final Set<Integer> ended = new HashSet<>();
    private final Map<Long, String> elsewhere = new HashMap<>();

    /**
     * One of the processes whose files in /proc will be there after a restart. For all of them before anything is
     * asked.
     */
    public void seen(StoppedProcess process) {
        owners.add(process.namespacePid());
        owners.addAll(process.namespaceThreads());
    }

    /** A child that has ended and that nobody has waited for: a restart makes it again before anything is opened. */
    public void ended(Zombie zombie) {
        ended.add(zombie.pid());
    }

    /** Why a restart could not open a file of /proc that cannot be examined; null: the file belongs to no process. */
    public static String goneOwner(String path) {
        return OF_A_PROCESS.matcher(path).matches()
                ? path + " belongs to a process that has ended, and cannot be opened again"
                : null;
    }

    /** Whether it is a file in /proc of a process or thread that has ended and was waited for. */
    public boolean ofEnded(OpenDescriptor open) {
        Matcher owner = OF_A_PROCESS.matcher(open.link());
        if (!owner.matches() || ended.contains(open.process().ofProc(Integer.parseInt(owner.group(1))))) {
            return false;
        }
        String process = "/proc/" + owner.group(1);
        return isGone(open, process, owner.group(1))
                || owner.group(2) != null && isGone(open, process + "/task/" + owner.group(2), owner.group(2))
                // and its number is another's now
                || open.link().endsWith(DELETED) && !OF_THAT_PROCESS_ALONE.matcher(open.name()).matches();
    }

    private boolean isGone(OpenDescriptor open, String directory, String number) {
        return !owners.contains(open.process().ofProc(Integer.parseInt(number)))
                && Files.tryStat(seenBy(open.process(), directory)) == null;
    }

    /**
     * Refuses a file of an ended process where another process does not have such a file.
     *
     * @param own the same file of the process that has it open
     */
    public void openable(OpenDescriptor open, String own) {
        boolean alone = OF_THAT_PROCESS_ALONE.matcher(own).matches();
        Files.Stat stat = alone ? null : Files.tryStat(seenBy(open.process(), own));
        if (stat == null) {
            throw open.refuse(goneOwner(open.link()) + "; close it first");
        }
        permitted(open, own, stat);
    }

    /** The name of a file in /proc or /sys whose owner, if it has one, is there. */
    public String pseudo(OpenDescriptor open) {
        Matcher owner = OF_A_PROCESS.matcher(open.link());
        int pid = owner.matches() ? open.process().ofProc(Integer.parseInt(owner.group(1))) : 0;
        if (ended.contains(pid)) {
            refuseUnopened(open);
        } else if (owner.matches() && !owners.contains(pid)) {
            throw open.refuse(open.link()
                    + " belongs to a process outside the job, and would belong to a different one after a restart; "
                    + "close it first");
        }
        if (open.link().endsWith(DELETED) || !owner.matches() && Files.tryStat(seenBy(open)) == null) {
            throw open.refuse(
                    open.link() + " is open, but nothing exists under this name that a restart could open; close it "
                            + "first");
        }
        return open.link();
    }

    /** What has no memory and no descriptors any more does not let all of its files be opened (proc_pid_maps(5)). */
    private static void refuseUnopened(OpenDescriptor open) {
        long again = Files.tryOpen(seenBy(open), open.openFlags());
        if (again < 0) {
            throw open.refuse(open.link()
                    + " belongs to a process that has ended, and a restart could not open it again: "
                    + LinuxError.name((int) -again) + "; close it first");
        }
        Files.close((int) again);
    }

    /** The name of a directory, or of anything that is open by O_PATH. */
    public String ofTheSame(OpenDescriptor open) {
        boolean link = open.stat().type() == Files.Stat.LINK;
        Files.Stat named = link ? Files.tryLinkStat(seenBy(open)) : Files.tryStat(seenBy(open));
        boolean same = named != null && named.isSame(open.stat());
        if (!same && open.process().fromOutside(open.link(), open.stat())) {
            named = open.stat();
        } else if (!same) {
            throw open.refuse(open.link() + " is open, and " + (named == null ? "nothing is" : "something else is")
                    + " under this name now, so a restart could not open it again; close it first");
        }
        String here = foundHere(open.process(), open.link(), named);
        if (here != null) {
            throw open.refuse("an open directory or handle is " + here);
        }
        return permitted(open, open.link(), named);
    }

    /** Looks at the name of a regular file on disk, whose content is looked at elsewhere. */
    public void file(OpenDescriptor open, String name) {
        found(open.process(), "a file that it has open (descriptor " + open.fd() + ")", name, open.stat());
        permitted(open, name, open.stat());
    }

    /** Permissions may have changed since the process opened it, and a restart opens it again. */
    private static String permitted(OpenDescriptor open, String name, Files.Stat stat) {
        int refused = Access.refusal(seenBy(open.process(), name), open.openFlags(), stat);
        if (refused != 0) {
            throw open.refuse(name + " is open, but a restart could not open it again: "
                    + LinuxError.name(refused) + "; permit it again (chmod, chattr), or close it first");
        }
        return name;
    }

    /** Refuses a name that leads to something else than it did, or is out of reach: a mount lies over it. */
    public static void found(StoppedProcess process, String what, String path, Files.Stat stat) {
        Files.Stat named = Files.tryStat(seenBy(process, path));
        boolean same = named != null && named.isSame(stat) || process.fromOutside(path, stat);
        if (!same) {
            throw process.refuse(what + " is " + path + ", and " + (named == null ? "nothing" : "something else")
                    + " is under this name now (another mount hides it, or it cannot be reached), so a "
                    + "restart would not find it");
        }
        String here = foundHere(process, path, stat);
        if (here != null) {
            throw process.refuse(what + " is " + here);
        }
    }

    /**
     * A restart begins with the mounts that this process has, and not with those that a restarted job has made since
     * (mount_namespaces(7)).
     *
     * @return why a restart would not find it; null: it will, or the restart itself makes that file system
     */
    private static String foundHere(StoppedProcess process, String path, Files.Stat stat) {
        if (path.startsWith("/proc/") || path.startsWith("/dev/pts") || path.equals("/dev/mqueue")
                || !process.hasMountsOfItsOwn()) {
            return null;
        }
        String there = process.outside(path);
        if (there == null) {
            return null;
        }
        Files.Stat here = stat.type() == Files.Stat.LINK ? Files.tryLinkStat(there) : Files.tryStat(there);
        boolean same = here != null && here.isSame(stat) || isOverlay(seenBy(process, path));
        return same
                ? null
                : path + ", on a file system that is mounted only in the job (mount(2)), which a restart would not "
                        + "mount again; mount it outside the job";
    }

    /**
     * Whether a path is on an overlay, as after a restart that leaves files alone (PrivateFiles): the job's files
     * differ.
     */
    private static boolean isOverlay(String path) {
        return Syscall.call(Syscall.STATFS, Scratch.string(path), Scratch.data().address()) == 0
                && Scratch.data().get(JAVA_LONG, 0) == OVERLAYFS;
    }

    /** Refuses a working directory or program under whose name a restart would not find it, or not be let in. */
    public static void entered(StoppedProcess process, String what, String path, Files.Stat stat) {
        found(process, what, path, stat);
        int refused = stat.type() == Files.Stat.DIRECTORY ? Access.entryRefusal(seenBy(process, path), stat) : 0;
        if (refused != 0) {
            throw process.refuse(what + " is " + path
                    + ", and a restart could not enter it again: " + LinuxError.name(refused)
                    + "; permit it again (chmod u+x), or let the process change to another directory first (chdir(2))");
        }
    }

    /** Whether it is a device without a state, by its number. */
    public static boolean isStateless(long number) {
        return STATELESS.containsKey(number);
    }

    /**
     * The name of a device without a state. Where its node has gone, another node of the same numbers, owner and
     * permissions is the same to whoever has it open. Null: there is none, and root's restart makes one.
     */
    public String device(OpenDescriptor open) {
        long number = open.stat().rawDevice();
        if (isNode(seenBy(open), number)) {
            return open.link();
        }
        String usual = STATELESS.get(number);
        String name = elsewhere.computeIfAbsent(number, _ -> isNode(usual, number) ? usual : "");
        Files.Stat stand = name.isEmpty() || open.process().mountNamespace() != 0 ? null : Files.tryStat(name);
        boolean same = stand != null && stand.mode() == open.stat().mode() && stand.uid() == open.stat().uid()
                && stand.gid() == open.stat().gid();
        if (!same && User.id() != 0) {
            throw open.refuse("device node " + open.link() + " no longer exists, and " + usual + (stand == null
                    ? " is not the same device" : ", the same device, has another owner or other permissions")
                    + ", so only root could checkpoint and restart it; close it first");
        }
        return same ? name : null;
    }

    /** What a process's mounts have under a path. */
    private static String seenBy(StoppedProcess process, String path) {
        return process.seen(path);
    }

    private static String seenBy(OpenDescriptor open) {
        return seenBy(open.process(), open.link());
    }

    private static boolean isNode(String path, long number) {
        Files.Stat stat = Files.tryStat(path);
        return stat != null && stat.type() == Files.Stat.CHARACTER && stat.rawDevice() == number;
    }
}
