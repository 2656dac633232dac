package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.FSCONFIG_CMD_CREATE;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_FLAG;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_STRING;

import java.util.Set;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.JobFilesystem;

/** Makes file systems in a process of the job: /proc shows its pid namespace, POSIX queues are its ipc namespace's. */
final class FilesystemMaker {
    private static final Set<String> NOT_GIVEN = Set.of("rw", "seclabel", "");
    /** Of the root directory, which has an entry of its own. */
    private static final Set<String> OWNERS = Set.of("uid", "gid");

    private FilesystemMaker() {}

    /**
     * A mount of a new one, mounted nowhere: a descriptor of this process.
     *
     * @param owned by a user namespace, in which users have other numbers
     */
    static int make(Maker maker, JobFilesystem system, boolean owned) {
        String what = "a file system (" + system.fileSystem() + ")";
        long context = maker.call("make " + what, Syscall.FSOPEN, maker.string(system.fileSystem()), 1 /* CLOEXEC */);
        set(maker, context, "source", system.mounted());
        for (String option : system.settings().split(",")) {
            int equals = option.indexOf('=');
            if (owned && OWNERS.contains(option.substring(0, Math.max(equals, 0)))) {
                continue;
            }
            if (equals > 0) {
                set(maker, context, option.substring(0, equals), option.substring(equals + 1));
            } else if (!NOT_GIVEN.contains(option)) {
                maker.call("set " + option + " of " + what, Syscall.FSCONFIG, context, FSCONFIG_SET_FLAG,
                        maker.string(option), 0, 0);
            }
        }
        maker.call("make " + what, Syscall.FSCONFIG, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
        long mount = maker.call("mount " + what, Syscall.FSMOUNT, context, 1 /* CLOEXEC */, 0);
        maker.call("close", Syscall.CLOSE, context);
        try (ProcessHandleFd process = new ProcessHandleFd(maker.hostPid())) {
            return process.duplicate((int) mount);
        } finally {
            maker.call("close", Syscall.CLOSE, mount);
        }
    }

    private static void set(Maker maker, long context, String key, String value) {
        long name = maker.string(key);
        maker.call("set " + key + " of a file system to " + value, Syscall.FSCONFIG, context, FSCONFIG_SET_STRING, name,
                maker.string(value), 0);
    }
}
