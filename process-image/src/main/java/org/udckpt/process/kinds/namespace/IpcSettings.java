package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWIPC;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NamespaceCalls;
import org.udckpt.linux.Syscall;

/** Limits that each IPC namespace has of its own. */
final class IpcSettings {
    /** Below /proc/sys (proc_sys_kernel(5), proc_sys_fs(5)). */
    static final List<String> ALL = List.of("kernel/shmmax", "kernel/shmall", "kernel/shmmni",
            "kernel/shm_rmid_forced", "kernel/msgmax", "kernel/msgmnb", "kernel/msgmni", "kernel/sem",
            "fs/mqueue/queues_max", "fs/mqueue/msg_max", "fs/mqueue/msgsize_max", "fs/mqueue/msg_default",
            "fs/mqueue/msgsize_default");

    private IpcSettings() {}

    /**
     * Those that a new namespace has not, by their files.
     *
     * @param inside makes its calls in that namespace, and in another one afterwards
     */
    static Map<String, String> changed(NamespaceCalls inside) {
        Map<String, String> all = all(inside);
        LinuxError.check(inside.call(Syscall.UNSHARE, CLONE_NEWIPC), "unshare(CLONE_NEWIPC)");
        all(inside).forEach(all::remove);
        return all;
    }

    private static Map<String, String> all(NamespaceCalls inside) {
        Map<String, String> found = new LinkedHashMap<>();
        for (String file : ALL) {
            String text = inside.text("/proc/sys/" + file);
            if (text != null) {
                found.put(file, text.strip());
            }
        }
        return found;
    }
}
