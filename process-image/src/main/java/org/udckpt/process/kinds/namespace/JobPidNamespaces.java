package org.udckpt.process.kinds.namespace;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.ProcFilesystem;

/**
 * The pid namespaces that a job which stands still has made, also one in another. Known by the kernel's numbers. Any
 * thread.
 */
public final class JobPidNamespaces {
    private static final String TYPE = "pid";
    private static final int INIT = 1;

    private static final class Own {
        final long owner;
        /** Null: that in which the job was started. */
        final Own above;
        /** Any process of it. */
        final StoppedProcess any;
        StoppedProcess init;
        /** The job's, and its own. */
        final Map<Integer, Integer> numbers = new LinkedHashMap<>();
        long id;

        Own(long owner, Own above, StoppedProcess any) {
            this.owner = owner;
            this.above = above;
            this.any = any;
        }
    }

    private final JobNamespaces users;
    private final Map<Long, Own> namespaces = new LinkedHashMap<>();
    /** The innermost of each process. */
    private final Map<StoppedProcess, Own> innermost = new LinkedHashMap<>();
    /** Of the processes in these, those that have some in the job. */
    private final Map<StoppedProcess, StoppedProcess> parents = new LinkedHashMap<>();
    /** Processes that are to have children in one, by its number. */
    private final Map<StoppedProcess, Long> forChildren = new LinkedHashMap<>();

    JobPidNamespaces(JobNamespaces users) {
        this.users = users;
    }

    /**
     * A process that is in one, or in one that is in another.
     *
     * @param parent that of the process in the job; null: it has none
     * @param numbers the job's and each namespace's, the outermost first, of the process, of its threads, of its group
     *     and session
     * @param started a process where the job was started
     * @return what each namespace numbers how, when all processes are known
     * @throws RuntimeException the refusal: a restart could not make it again
     */
    public synchronized List<Map<Integer, Integer>> entered(StoppedProcess process, StoppedProcess parent,
            List<Map<Integer, Integer>> numbers, int started) {
        try (Namespace own = Namespace.of(process.task(), TYPE)) {
            Own known = known(process, own, numbers.size(), started);
            innermost.put(process, known);
            if (parent != null) {
                parents.put(process, parent);
            }
            if (known.owner != 0 && users.isWithin(users.of(process, started), known.owner)) {
                refuseFromOutside(process, known, started);
            }
            if (process.ownPid() == INIT) {
                known.init = process;
            }
            List<Map<Integer, Integer>> all = new ArrayList<>();
            for (Own at = known; at != null; at = at.above) {
                at.numbers.putAll(numbers.get(numbers.size() - 1 - all.size()));
                all.add(Collections.unmodifiableMap(at.numbers));
            }
            return all.reversed();
        } catch (LinuxError e) {
            throw process.refuse("it is in a pid namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    /** @param depth how many there are up to the job's */
    private Own known(StoppedProcess process, Namespace own, int depth, int started) {
        if (depth == 0) {
            return null;
        }
        Own known = namespaces.get(own.number());
        if (known == null) {
            try (Namespace parent = own.parent()) {
                Own above = known(process, parent, depth - 1, started);
                long owner = users.owner(process, TYPE, own, started);
                if (above != null && !users.isWithin(owner, above.owner)) {
                    throw process.refuse("it is in a pid namespace whose user namespace is outside of that of the pid "
                            + "namespace above it (setns(2)), which cannot be checkpointed");
                }
                known = new Own(owner, above, process);
            }
            namespaces.put(own.number(), known);
        }
        return known;
    }

    /** A restart makes the process in the user namespace: it can enter nothing that is not owned by that. */
    private void refuseFromOutside(StoppedProcess process, Own known, int started) {
        for (String type : new String[]{"mnt", "uts", "ipc", "net", "cgroup", "time_for_children"}) {
            try (Namespace own = Namespace.of(process.task(), type); Namespace first = Namespace.of(started, type)) {
                if (own.number() != first.number()
                        && !users.isWithin(users.owner(process, type, started), known.owner)) {
                    throw process.refuse("it is in a " + type + " namespace of the job that was made outside of the "
                            + "user namespace which owns its pid namespace, and that cannot be checkpointed");
                }
            }
        }
    }

    /** A process that is not in the one in which its children will be. */
    public synchronized void forChildren(StoppedProcess process) {
        try (Namespace children = Namespace.of(process.task(), "pid_for_children")) {
            forChildren.put(process, children.number());
        }
    }

    /** What the job calls the first process of the namespace in which a child was that has ended; 0: that has, too. */
    public synchronized int first(int child) {
        Own own = of(child);
        return own == null || own.init == null ? 0 : own.init.namespacePid();
    }

    /** Null also where it has gone, or this user may not look into it. */
    private Own of(int child) {
        try (Namespace own = Namespace.of(child, TYPE)) {
            return namespaces.get(own.number());
        } catch (LinuxError gone) {
            return null;
        }
    }

    /**
     * A number that was known to a child that has ended.
     *
     * @param parent which is in the same namespace; null: it is not
     * @param child as this process numbers it
     * @param inner as each of its namespaces calls it, the outermost first; 0: it has no such number there
     */
    public synchronized void ended(StoppedProcess parent, int child, int pid, int[] inner) {
        int level = inner.length;
        Own its = parent != null ? innermost.get(parent) : level == 0 ? null : of(child);
        for (Own at = its; at != null; at = at.above) {
            level--;
            if (inner[level] != 0) {
                at.numbers.put(pid, inner[level]);
            }
        }
    }

    /** When all processes are known. @throws RuntimeException the refusal */
    public synchronized void check() {
        for (Own own : namespaces.values()) {
            if (own.init == null) {
                throw own.any.refuse("it is in a pid namespace (unshare(2), a container) whose first process is not "
                        + "part of the job");
            }
        }
        innermost.forEach((process, own) -> {
            Own above = innermost.get(parents.get(process));
            if (own.init == process ? own.above != above : !isWithin(own, above)) {
                throw process.refuse("it is in a pid namespace in which its parent cannot have made it (setns(2)), "
                        + "which cannot be checkpointed");
            }
        });
        forChildren.forEach((process, number) -> {
            Own own = namespaces.get(number);
            if (own == null || !isWithin(own, innermost.get(process))) {
                throw process.refuse("its children are born in a pid namespace (unshare(2), setns(2)) in which no "
                        + "process of the job is, or whose first process has ended, which cannot be checkpointed");
            }
        });
    }

    private static boolean isWithin(Own own, Own other) {
        Own at = own;
        while (at != other && at != null) {
            at = at.above;
        }
        return at == other;
    }

    /** The records. @param ids of the records of user namespaces, by their numbers */
    public synchronized void add(ObjectTable table, Map<Long, Long> ids) {
        namespaces.forEach((number, own) -> {
            own.id = table.newId();
            table.add(new PidNamespace(own.id, ids.get(own.owner), own.init.namespacePid()));
            own.numbers.forEach(
                    (pid, inner) -> table.add(new PidNamespaceMember(table.newId(), pid, own.id, inner)));
        });
        forChildren.forEach((process, number) -> table.add(new PidNamespaceMember(table.newId(), process.namespacePid(),
                namespaces.get(number).id, 0)));
    }

    /** After {@link #add}: that a file system shows this namespace. @param number the kernel's */
    public synchronized void addShown(ObjectTable table, long filesystem, long number) {
        table.add(new ProcFilesystem(table.newId(), filesystem, namespaces.get(number).id));
    }

    /** After {@link #check}: a process that a proc file system of the job's must show. By the kernel's numbers. */
    public synchronized Map<Long, StoppedProcess> firsts() {
        Map<Long, StoppedProcess> firsts = new LinkedHashMap<>();
        namespaces.forEach((number, own) -> firsts.put(number, own.init));
        return firsts;
    }
}
