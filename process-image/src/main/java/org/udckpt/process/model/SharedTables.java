package org.udckpt.process.model;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Processes that have one table of descriptors with their parents, or one set of root and working directory and umask,
 * or one memory (clone(2), CLONE_FILES, CLONE_FS and CLONE_VM). Rows of descriptors are those of each process, as if it
 * had its own; memory has the first one only.
 */
public final class SharedTables {
    private final Map<Integer, Integer> parents = new HashMap<>();

    private SharedTables() {}

    /** @param kind {@link AttributeKind#SHARED_DESCRIPTORS}, or one like it */
    public static SharedTables of(JobImage image, AttributeKind kind) {
        SharedTables tables = new SharedTables();
        image.attributes().stream().filter(one -> one.kind() == kind)
                .forEach(one -> tables.parents.put(one.pid(), (int) one.values()[0]));
        return tables;
    }

    /** Whether a process shares it with its parent. */
    public boolean shares(int pid) {
        return parents.containsKey(pid);
    }

    /** The process that has the table from the beginning. */
    public int first(int pid) {
        int at = pid;
        while (parents.containsKey(at)) {
            at = parents.get(at);
        }
        return at;
    }

    /** Whether it shares it with anybody. */
    public boolean alone(int pid) {
        return !shares(pid) && !parents.containsValue(pid);
    }

    /** Descriptors without those of processes that have another one's table. */
    public List<Descriptor> once(List<Descriptor> descriptors) {
        return descriptors.stream().filter(one -> !shares(one.pid())).toList();
    }
}
