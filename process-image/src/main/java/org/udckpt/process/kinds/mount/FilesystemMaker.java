package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.FSCONFIG_CMD_CREATE;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_CMD_RECONFIGURE;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_FLAG;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_SET_STRING;
import static org.udckpt.linux.LinuxConstants.FSPICK_CLOEXEC;
import static org.udckpt.linux.LinuxConstants.FSPICK_EMPTY_PATH;

import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.model.JobFilesystem;

/** Makes file systems in a process of the job: /proc shows its pid namespace, POSIX queues are its ipc namespace's. */
final class FilesystemMaker {
    private static final Set<String> NOT_GIVEN = Set.of("rw", "seclabel", "");
    private static final String READ_ONLY = "ro";
    private static final int MOMENTS = 1000, MOMENT_NS = 2_000_000;
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
            if (option.equals(READ_ONLY) && system.fileSystem().equals("tmpfs")) {
                continue;
            }
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

    /** A tmpfs was writable until its files were there. @param mount of this process */
    static void fix(JobFilesystem system, int mount) {
        if (system.fileSystem().equals("tmpfs") && List.of(system.settings().split(",")).contains(READ_ONLY)) {
            String what = "make a file system read-only again";
            int context = (int) LinuxError.check(Syscall.call(Syscall.FSPICK, mount, Scratch.string(""),
                    FSPICK_CLOEXEC | FSPICK_EMPTY_PATH), what);
            try {
                LinuxError.check(Syscall.call(Syscall.FSCONFIG, context, FSCONFIG_SET_FLAG, Scratch.string(READ_ONLY),
                        0, 0), what);
                long result = Syscall.call(Syscall.FSCONFIG, context, FSCONFIG_CMD_RECONFIGURE, 0, 0, 0);
                for (int i = 0; i < MOMENTS && result == -LinuxError.EBUSY; i++) { // the kernel closes files later
                    LockSupport.parkNanos(MOMENT_NS);
                    result = Syscall.call(Syscall.FSCONFIG, context, FSCONFIG_CMD_RECONFIGURE, 0, 0, 0);
                }
                LinuxError.check(result, what);
            } finally {
                Files.close(context);
            }
        }
    }

    private static void set(Maker maker, long context, String key, String value) {
        long name = maker.string(key);
        maker.call("set " + key + " of a file system to " + value, Syscall.FSCONFIG, context, FSCONFIG_SET_STRING, name,
                maker.string(value), 0);
    }
}
