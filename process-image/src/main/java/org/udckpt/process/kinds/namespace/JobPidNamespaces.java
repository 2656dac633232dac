package org.udckpt.process.kinds.namespace;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.ProcFilesystem;

/** The pid namespaces that a job which stands still has made. Known by the kernel's numbers. Any thread. */
public final class JobPidNamespaces {
    private static final String TYPE = "pid", USER = "user";
    private static final int INIT = 1;

    private static final class Own {
        final long owner;
        /** Any process of it. */
        final StoppedProcess any;
        StoppedProcess init;
        /** Whose children are in it, and which is not. */
        StoppedProcess parent;
        /** The job's, and its own. */
        final Map<Integer, Integer> numbers = new LinkedHashMap<>();
        long id;

        Own(long owner, StoppedProcess any) {
            this.owner = owner;
            this.any = any;
        }
    }

    private final JobNamespaces users;
    private final Map<Long, Own> namespaces = new LinkedHashMap<>();
    /** Processes that are to have children in one, by its number. */
    private final Map<StoppedProcess, Long> parents = new LinkedHashMap<>();

    JobPidNamespaces(JobNamespaces users) {
        this.users = users;
    }

    /**
     * A process that is in one.
     *
     * @param parent that of the process in the job; null: it has none
     * @param numbers the job's and the namespace's, of the process, of its threads, of its group and session
     * @param started a process where the job was started
     * @return what the namespace numbers how, when all processes are known
     * @throws RuntimeException the refusal: a restart could not make it again
     */
    public synchronized Map<Integer, Integer> entered(StoppedProcess process, StoppedProcess parent,
            Map<Integer, Integer> numbers,
            int started) {
        try (Namespace own = Namespace.of(process.task(), TYPE)) {
            Own known = namespaces.computeIfAbsent(own.number(), _ -> new Own(owner(process, own, started), process));
            known.numbers.putAll(numbers);
            if (known.owner != 0) {
                refuseFromOutside(process, started);
            }
            if (process.ownPid() == INIT) {
                known.init = process;
                known.parent = parent;
            }
            return Collections.unmodifiableMap(known.numbers);
        } catch (LinuxError e) {
            throw process.refuse("it is in a pid namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    private long owner(StoppedProcess process, Namespace own, int started) {
        long owner = users.owner(process, TYPE, started);
        if (owner != 0) {
            try (Namespace user = own.owner();
                    Namespace above = user.parent();
                    Namespace first = Namespace.of(started, USER)) {
                if (above == null || above.number() != first.number()) {
                    throw process.refuse("it is in a pid namespace that was made in a user namespace below another one "
                            + "of the job, which cannot be checkpointed");
                }
            }
        }
        return owner;
    }

    /** A restart makes the process in the user namespace: it can enter nothing that is not owned by that. */
    private void refuseFromOutside(StoppedProcess process, int started) {
        for (String type : new String[]{"mnt", "uts", "ipc", "time_for_children"}) {
            try (Namespace own = Namespace.of(process.task(), type); Namespace first = Namespace.of(started, type)) {
                if (own.number() != first.number() && users.owner(process, type, started) == 0) {
                    throw process.refuse("it is in a " + type + " namespace of the job that was made outside of the "
                            + "user namespace which owns its pid namespace, and that cannot be checkpointed");
                }
            }
        }
    }

    /** A process that is in none, but whose children will be. */
    public synchronized void forChildren(StoppedProcess process) {
        try (Namespace children = Namespace.of(process.task(), "pid_for_children")) {
            parents.put(process, children.number());
        }
    }

    /** A child that has ended, of a process of one. @param inner 0: it has no such number there */
    public synchronized void ended(StoppedProcess parent, int pid, int inner) {
        if (inner != 0) {
            try (Namespace own = Namespace.of(parent.task(), TYPE)) {
                namespaces.get(own.number()).numbers.put(pid, inner);
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
        parents.forEach((process, number) -> {
            Own own = namespaces.get(number);
            if (own == null || own.parent != process) {
                throw process.refuse("its children are born in a pid namespace (unshare(2), setns(2)) of which it has "
                        + "not made the first process, or whose first process has ended, which cannot be checkpointed");
            }
        });
    }

    /** The records. @param ids of the records of user namespaces, by their numbers */
    public synchronized void add(ObjectTable table, Map<Long, Long> ids) {
        namespaces.forEach((number, own) -> {
            own.id = table.newId();
            table.add(new PidNamespace(own.id, ids.get(own.owner), own.init.namespacePid()));
            own.numbers.forEach(
                    (pid, inner) -> table.add(new PidNamespaceMember(table.newId(), pid, own.id, inner)));
        });
        parents.forEach((process, number) -> table.add(new PidNamespaceMember(table.newId(), process.namespacePid(),
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
