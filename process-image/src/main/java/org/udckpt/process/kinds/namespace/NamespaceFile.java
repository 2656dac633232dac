package org.udckpt.process.kinds.namespace;

import java.util.Set;
import org.udckpt.process.model.KernelObject;

/**
 * An open namespace (namespaces(7)), which is that of the process that has it open.
 *
 * @param namespace the name of its file in /proc/PID/ns
 */
public record NamespaceFile(long id, String namespace, int flags) implements KernelObject {
    private static final Set<String> NAMES = Set.of("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts");

    /** Whether a kind of namespaces has this name. */
    static boolean isName(String name) {
        return NAMES.contains(name);
    }
}
