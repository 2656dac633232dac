package org.udckpt.process.model;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Which numbers an image's pid namespaces have for what the job numbers otherwise. */
public final class PidNumbers {
    private final Map<Long, PidNamespace> namespaces = new LinkedHashMap<>();
    /** By the job's number. */
    private final Map<Integer, PidNamespaceMember> members = new HashMap<>();

    private PidNumbers() {}

    /** Of an image. */
    public static PidNumbers of(Collection<? extends KernelObject> objects) {
        PidNumbers numbers = new PidNumbers();
        for (KernelObject object : objects) {
            if (object instanceof PidNamespace namespace) {
                numbers.namespaces.put(namespace.id(), namespace);
            } else if (object instanceof PidNamespaceMember member && member.inner() != 0) {
                numbers.members.put(member.pid(), member);
            }
        }
        return numbers;
    }

    /** All namespaces. */
    public Collection<PidNamespace> namespaces() {
        return Collections.unmodifiableCollection(namespaces.values());
    }

    /** That in which a process, a thread or a group is; null: that in which the job was started. */
    public PidNamespace of(int pid) {
        PidNamespaceMember member = members.get(pid);
        return member == null ? null : namespaces.get(member.pidNamespace());
    }

    /** That whose process 1 this is; null: none. */
    public PidNamespace begunBy(int pid) {
        PidNamespace own = of(pid);
        return own != null && own.init() == pid ? own : null;
    }

    /** The number in its namespace; the job's own where it is in none of the job's. */
    public int inner(int pid) {
        PidNamespaceMember member = members.get(pid);
        return member == null ? pid : member.inner();
    }

    /** All of a namespace. */
    public List<PidNamespaceMember> members(PidNamespace namespace) {
        return members.values().stream().filter(one -> one.pidNamespace() == namespace.id()).toList();
    }
}
