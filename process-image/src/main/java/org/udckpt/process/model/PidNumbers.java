package org.udckpt.process.model;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Which numbers an image's pid namespaces have for what the job numbers otherwise. What is in a namespace that is in
 * another one has a number in both: a namespace lies below those in which its process 1 has numbers, too.
 */
public final class PidNumbers {
    private final Map<Long, PidNamespace> namespaces = new LinkedHashMap<>();
    /** By the job's number, the outermost namespace's first. */
    private final Map<Integer, List<PidNamespaceMember>> members = new HashMap<>();

    private PidNumbers() {}

    /** Of an image. */
    public static PidNumbers of(Collection<? extends KernelObject> objects) {
        PidNumbers numbers = new PidNumbers();
        for (KernelObject object : objects) {
            if (object instanceof PidNamespace namespace) {
                numbers.namespaces.put(namespace.id(), namespace);
            } else if (object instanceof PidNamespaceMember member && member.inner() != 0) {
                numbers.members.computeIfAbsent(member.pid(), _ -> new ArrayList<>()).add(member);
            }
        }
        Map<Long, Integer> depths = new HashMap<>();
        numbers.namespaces.forEach((id, one) -> depths.put(id, numbers.rows(one.init()).size()));
        numbers.members.values().forEach(all -> all
                .sort(Comparator.comparing(member -> depths.getOrDefault(member.pidNamespace(), Integer.MAX_VALUE))));
        return numbers;
    }

    private List<PidNamespaceMember> rows(int pid) {
        return members.getOrDefault(pid, List.of());
    }

    /** All namespaces. */
    public Collection<PidNamespace> namespaces() {
        return Collections.unmodifiableCollection(namespaces.values());
    }

    /** Those in which a process, a thread or a group has a number, the outermost first. */
    public List<PidNamespace> chain(int pid) {
        return rows(pid).stream().map(member -> namespaces.get(member.pidNamespace())).toList();
    }

    /** That in which a process, a thread or a group is; null: that in which the job was started. */
    public PidNamespace of(int pid) {
        List<PidNamespaceMember> all = rows(pid);
        return all.isEmpty() ? null : namespaces.get(all.getLast().pidNamespace());
    }

    /** That in which another one is; null: that in which the job was started. */
    public PidNamespace above(PidNamespace namespace) {
        List<PidNamespace> chain = chain(namespace.init());
        return chain.size() < 2 ? null : chain.get(chain.size() - 2);
    }

    /** That whose process 1 this is; null: none. */
    public PidNamespace begunBy(int pid) {
        PidNamespace own = of(pid);
        return own != null && own.init() == pid ? own : null;
    }

    /**
     * Whether a process has been made in its namespace by one that is not in it (setns(2)).
     *
     * @param parent the process's; 0 or less: none of the job
     */
    public boolean isFromOutside(int pid, int parent) {
        return of(pid) != of(parent) && begunBy(pid) == null;
    }

    /** The number in its namespace; the job's own where it is in none of the job's. */
    public int inner(int pid) {
        List<PidNamespaceMember> all = rows(pid);
        return all.isEmpty() ? pid : all.getLast().inner();
    }

    /** All of a namespace, also what is in those below it. */
    public List<PidNamespaceMember> members(PidNamespace namespace) {
        return members.values().stream().flatMap(List::stream).filter(one -> one.pidNamespace() == namespace.id())
                .toList();
    }
}
