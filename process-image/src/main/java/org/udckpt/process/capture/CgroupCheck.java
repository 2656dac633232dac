package org.udckpt.process.capture;

import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * Refuses processes and threads that are in another control group than the process that started their rank
 * (cgroups(7)): a restart puts all of them into those of the command that restarts them, which are the launcher's to
 * choose.
 */
final class CgroupCheck {
    /** {@code id:controllers:path} of each hierarchy; null: the kernel has no control groups. */
    private final String origin;

    /** @param origin as {@link SharingCheck#origin} says it */
    CgroupCheck(int origin) {
        this.origin = of("/proc/" + origin + "/cgroup");
    }

    private static String of(String file) {
        try {
            return Proc.text(file);
        } catch (LinuxError e) {
            if (e.errno() == LinuxError.ENOENT) {
                return null;
            }
            throw e;
        }
    }

    /** From outside. */
    void refuse(TracedProcess process) {
        if (origin == null) {
            return;
        }
        for (TracedThread thread : process.threads) {
            String own = Proc.text("/proc/" + process.pid + "/task/" + thread.tid + "/cgroup");
            String moved = own.equals(origin) ? null : moved(own);
            if (moved != null) {
                throw process.refuse((thread.tid == process.pid ? "it" : "thread " + thread.tid) + " is in the control "
                        + "group " + moved + ": a restart would put it into that of the command that restarts it; "
                        + "move it back first (cgroup.procs), or start the job in the group where it should be");
            }
        }
    }

    /** The first group that differs, and the one in which the rank was started; null: a hierarchy came or went. */
    private String moved(String own) {
        List<String> started = Arrays.asList(origin.split("\n"));
        for (String line : own.split("\n")) {
            String hierarchy = line.substring(0, line.indexOf(':', line.indexOf(':') + 1) + 1);
            for (String other : started) {
                if (other.startsWith(hierarchy) && !other.equals(line)) {
                    return line.substring(hierarchy.length()) + ", but its rank was started in "
                            + other.substring(hierarchy.length()) + named(hierarchy);
                }
            }
        }
        return null;
    }

    /** Which hierarchy of version 1 it is. */
    private static String named(String hierarchy) {
        String controllers = hierarchy.substring(hierarchy.indexOf(':') + 1, hierarchy.length() - 1);
        return controllers.isEmpty() ? "" : " (" + controllers + ")";
    }
}
