package org.udckpt.bench.job;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.linux.Proc;
import org.udckpt.support.report.Messages;

/**
 * Sessions as groups of the kernel's scheduler (sched_autogroup_enabled, sched(7)). On some kernels a session whose
 * threads sleep and wake very often, as ranks over rc_v do, keeps a processor from all others for seconds
 * (docs/user/checkpoints.md): that would be measured.
 */
public final class SessionGroups {
    private static final Path SETTING = Path.of("/proc/sys/kernel/sched_autogroup_enabled");

    private SessionGroups() {}

    public static boolean are() {
        return Files.exists(SETTING) && Proc.text(SETTING.toString()).strip().equals("1");
    }

    public static boolean canChange() {
        return Files.isWritable(SETTING);
    }

    /** As root: there are none until this program ends. */
    public static void without() throws IOException {
        if (are() && canChange()) {
            Files.writeString(SETTING, "0");
            Runtime.getRuntime().addShutdownHook(new Thread(SessionGroups::restore, "session groups"));
        }
    }

    private static void restore() {
        try {
            Files.writeString(SETTING, "1");
        } catch (IOException e) {
            Messages.warn(SETTING + " is 0 and could not be set to 1 again: " + e);
        }
    }
}
