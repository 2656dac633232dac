package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWIPC;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NamespaceCalls;
import org.udckpt.linux.Proc;
import org.udckpt.linux.Syscall;

/** Limits that each IPC namespace has of its own. */
final class IpcSettings {
    /** Segments that nobody is attached to are removed. */
    static final String REMOVES = "kernel/shm_rmid_forced";
    /** The number of the next object: the end of names. */
    static final String NEXT = "_next_id";
    /** Below /proc/sys (proc_sys_kernel(5), proc_sys_fs(5)). */
    static final List<String> ALL = List.of("kernel/shmmax", "kernel/shmall", "kernel/shmmni",
            REMOVES, "kernel/msgmax", "kernel/msgmnb", "kernel/msgmni", "kernel/sem",
            "fs/mqueue/queues_max", "fs/mqueue/msg_max", "fs/mqueue/msgsize_max", "fs/mqueue/msg_default",
            "fs/mqueue/msgsize_default", "kernel/shm" + NEXT, "kernel/sem" + NEXT, "kernel/msg" + NEXT);

    private IpcSettings() {}

    /**
     * Those that a new namespace has not, by their files.
     *
     * @param inside makes its calls in that namespace, and in another one afterwards
     */
    static Map<String, String> changed(NamespaceCalls inside) {
        Map<String, String> all = all(inside::text);
        LinuxError.check(inside.call(Syscall.UNSHARE, CLONE_NEWIPC), "unshare(CLONE_NEWIPC)");
        all(inside::text).forEach(all::remove);
        return all;
    }

    /** Those of the namespace of a restarted job that are not what this process's has, which the next one gets. */
    static Map<String, String> changedSinceRestart(int pid) {
        try (NamespaceCalls inside = new NamespaceCalls(pid, "ipc", CLONE_NEWIPC)) {
            Map<String, String> all = all(inside::text);
            all(IpcSettings::here).forEach(all::remove);
            return all;
        }
    }

    private static String here(String path) {
        return Files.tryStat(path) == null ? null : Proc.text(path);
    }

    private static Map<String, String> all(UnaryOperator<String> text) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String file : ALL) {
            String value = text.apply("/proc/sys/" + file);
            if (value != null) {
                found.put(file, value.strip());
            }
        }
        return found;
    }
}
