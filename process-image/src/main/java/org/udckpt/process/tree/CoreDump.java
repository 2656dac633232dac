package org.udckpt.process.tree;

import static org.udckpt.linux.LinuxConstants.RLIMIT_CORE;

import org.udckpt.linux.Limits;
import org.udckpt.linux.Proc;
import org.udckpt.linux.User;

/**
 * Whether a child that ended with a core dump can be made again: the kernel notes that in its status only when it has
 * written one (core(5)). A small one is written to a file system that goes at once; so the machine's core_pattern must
 * be the name of a file in the working directory.
 */
public final class CoreDump {
    private static final long ENOUGH = 1 << 22;

    private CoreDump() {}

    /** Null, or why this user cannot on this machine, with the way out. */
    public static String refusal() {
        String pattern = Proc.text("/proc/sys/kernel/core_pattern").strip();
        if (pattern.isEmpty() || pattern.startsWith("|") || pattern.startsWith("@") || pattern.contains("/")) {
            return "the status of a core dump can be restored only by writing a core file to the working directory, "
                    + "but /proc/sys/kernel/core_pattern is '" + pattern + "', not a plain file name such as 'core'";
        }
        long hard = Limits.of((int) ProcessHandle.current().pid())[2 * RLIMIT_CORE + 1];
        if (User.id() != 0 && hard != Limits.INFINITY && hard < ENOUGH) {
            return "the status of a core dump can be restored only by writing a core file, but the hard limit of its "
                    + "size is " + hard + " bytes (ulimit -Hc)";
        }
        return null;
    }
}
