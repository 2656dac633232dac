package org.udckpt.process.kinds.cgroup;

import static org.udckpt.linux.LinuxConstants.AT_FDCWD;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_CMD_CREATE;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_FLAG;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_STRING;

import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.MountLine;
import org.udckpt.linux.Proc;
import org.udckpt.linux.RawText;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.model.MountView;

/**
 * A hierarchy of control groups, which this process reaches where it is mounted, or (root) by a mount that nobody sees.
 * Groups are named as /proc/PID/cgroup names them.
 */
final class Hierarchy implements AutoCloseable {
    private static final String NAME = "name=";
    private static final int CLOEXEC = 1;

    private final int root;
    /** The group that {@code root} is. */
    private final String top;

    private Hierarchy(int root, String top) {
        this.root = root;
        this.top = top;
    }

    /**
     * @param name as {@link ControlGroup#hierarchy}
     * @param group that is to be reached
     * @param make one of a name and without controllers is made if there is none: only those belong to a job
     * @throws LinuxError it is not here, or this user does not reach it
     */
    static Hierarchy open(String name, String group, boolean make) {
        for (MountLine line : MountLine.parse(Proc.text("/proc/self/mountinfo"))) {
            Files.Stat there = is(line, name) && MountView.isBelow(group, line.root())
                    ? Files.tryStat(line.point()) : null;
            if (there != null && there.device() == line.device()) {
                return new Hierarchy(Files.open(line.point(), Syscall.O_PATH | Syscall.O_DIRECTORY), line.root());
            }
        }
        if (User.id() != 0) {
            throw new LinuxError("the hierarchy is mounted nowhere", LinuxError.ENOENT);
        }
        boolean there = Proc.text("/proc/self/cgroup").lines().anyMatch(line -> name(line).equals(name));
        if (!there && !(make && name.startsWith(NAME))) {
            throw new LinuxError("this machine has no such hierarchy", LinuxError.ENOENT);
        }
        return new Hierarchy(mount(name), "/");
    }

    /** The hierarchy of a line of /proc/PID/cgroup. */
    static String name(String line) {
        int from = line.indexOf(':') + 1;
        return line.substring(from, line.indexOf(':', from));
    }

    private static boolean is(MountLine line, String name) {
        return name.isEmpty() ? line.type().equals("cgroup2") : line.type().equals("cgroup")
                && List.of(line.options().split(",")).containsAll(List.of(name.split(",")));
    }

    private static int mount(String name) {
        String type = name.isEmpty() ? "cgroup2" : "cgroup";
        int context = (int) LinuxError.check(Syscall.call(Syscall.FSOPEN, Scratch.string(type), CLOEXEC), "fsopen");
        try {
            if (name.startsWith(NAME)) {
                set(context, FSCONFIG_SET_FLAG, "none", null);
            }
            for (String option : name.isEmpty() ? new String[0] : name.split(",")) {
                if (option.startsWith(NAME)) {
                    set(context, FSCONFIG_SET_STRING, "name", option.substring(NAME.length()));
                } else {
                    set(context, FSCONFIG_SET_FLAG, option, null);
                }
            }
            LinuxError.check(Syscall.call(Syscall.FSCONFIG, context, FSCONFIG_CMD_CREATE, 0, 0, 0), "mount " + type);
            return (int) LinuxError.check(Syscall.call(Syscall.FSMOUNT, context, CLOEXEC, 0), "fsmount");
        } finally {
            Files.close(context);
        }
    }

    private static void set(int context, int command, String key, String value) {
        LinuxError.check(Syscall.call(Syscall.FSCONFIG, context, command, Scratch.string(key),
                value == null ? 0 : Scratch.second(value), 0), "set " + key + " of a hierarchy");
    }

    /** A group's directory, for this process. */
    String directory(String group) {
        return MountView.joined(Files.ofDescriptor(root), group.substring(top.equals("/") ? 0 : top.length()));
    }

    /** Whether no process is in a directory's group; in version 2, nor below. */
    static boolean isEmpty(String directory) {
        return Files.tryStat(directory + "/tasks") != null ? content(directory, "tasks").isEmpty()
                : content(directory, "cgroup.events").contains("populated 0");
    }

    /** @throws LinuxError EOPNOTSUPP and the like: there is nothing to be read */
    static String content(String directory, String file) {
        return Proc.text(directory + "/" + file);
    }

    /** @return 0, or an error number */
    static int write(String directory, String file, String text) {
        long fd = Files.tryOpen(directory + "/" + file, Syscall.O_WRONLY);
        if (fd < 0) {
            return (int) -fd;
        }
        long written = Syscall.call(Syscall.WRITE, fd, Scratch.string(text), RawText.encode(text).length);
        Files.close((int) fd);
        return written < 0 ? (int) -written : 0;
    }

    /** Whether this user may do that (access(2)): 0, or {@code -errno}. */
    static long access(String path, int mode) {
        return Syscall.call(Syscall.FACCESSAT, AT_FDCWD, Scratch.string(path), mode);
    }

    /** @return 0, or an error number */
    static int make(String directory) {
        return (int) -Syscall.call(Syscall.MKDIRAT, AT_FDCWD, Scratch.string(directory), 0755);
    }

    @Override
    public void close() {
        Files.close(root);
    }
}
