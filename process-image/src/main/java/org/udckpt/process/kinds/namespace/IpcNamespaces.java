package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWIPC;
import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;
import static org.udckpt.linux.LinuxConstants.FSCONFIG_CMD_CREATE;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Namespace;
import org.udckpt.linux.NamespaceCalls;
import org.udckpt.linux.Scratch;
import org.udckpt.linux.Syscall;
import org.udckpt.linux.User;
import org.udckpt.process.kinds.base.AskedProcess;
import org.udckpt.process.kinds.base.IpcGroup;
import org.udckpt.process.kinds.base.ObjectTable;
import org.udckpt.process.kinds.base.StoppedProcess;
import org.udckpt.process.model.IpcNamespace;
import org.udckpt.process.model.IpcNamespaceMember;
import org.udckpt.process.model.IpcSetting;

/** The IPC namespaces that a job which stands still has made, by the kernel's numbers. Any thread. */
public final class IpcNamespaces implements AutoCloseable {
    private static final String IPC = "ipc";
    private static final int CLOEXEC = 1; // of fsopen(2) and fsmount(2)

    private static final class One {
        final long owner;
        final int queues;
        final Map<String, String> settings;
        final List<StoppedProcess> members = new ArrayList<>();
        long id;

        One(long owner, int queues, Map<String, String> settings) {
            this.owner = owner;
            this.queues = queues;
            this.settings = settings;
        }

        long device() {
            return Files.stat(queues).device();
        }
    }

    private static final String OWN = Files.readLink("/proc/self/ns/ipc");

    private final Map<Long, One> all = new LinkedHashMap<>();
    /** A process in the namespace that a restart by root has given the job, who may change its limits; 0: none. */
    private int restarted;

    /** A process that has left the IPC namespace in which the job was started: the number of its own. */
    synchronized long entered(StoppedProcess process, long owner) {
        try (Namespace own = Namespace.of(process.task(), IPC)) {
            all.computeIfAbsent(own.number(), _ -> look(process, owner)).members.add(process);
            return own.number();
        } catch (LinuxError e) {
            throw process.refuse("it is in an ipc namespace of its own (unshare(2), a container), which cannot be "
                    + "looked at: " + e.getMessage());
        }
    }

    private static One look(StoppedProcess process, long owner) {
        try (NamespaceCalls inside = new NamespaceCalls(process.task(), IPC, CLONE_NEWIPC)) {
            int queues = queues(inside);
            try {
                return new One(owner, queues, IpcSettings.changed(inside));
            } catch (RuntimeException | Error e) {
                Files.close(queues);
                throw e;
            }
        }
    }

    /** The directory of all its message queues, as a descriptor of this process: mounted nowhere. */
    private static int queues(NamespaceCalls inside) {
        // only who owns the mounts may make one
        LinuxError.check(inside.call(Syscall.UNSHARE, CLONE_NEWNS), "unshare(CLONE_NEWNS)");
        int context = (int) LinuxError.check(inside.call(Syscall.FSOPEN, Scratch.string("mqueue"), CLOEXEC),
                "look at message queues");
        try {
            LinuxError.check(inside.call(Syscall.FSCONFIG, context, FSCONFIG_CMD_CREATE, 0, 0, 0),
                    "look at message queues");
            return (int) LinuxError.check(inside.call(Syscall.FSMOUNT, context, CLOEXEC, 0),
                    "look at message queues");
        } finally {
            Files.close(context);
        }
    }

    /**
     * The processes of each namespace; those that are where the job was started come first, if there are some.
     *
     * @param processes all of the job's here
     */
    public synchronized List<IpcGroup> groups(ObjectTable table, List<? extends AskedProcess> processes) {
        Map<Long, List<AskedProcess>> members = new LinkedHashMap<>();
        members.put(0L, new ArrayList<>());
        processes.forEach(process -> members.computeIfAbsent(process.ipcNamespace(), _ -> new ArrayList<>())
                .add(process));
        Set<Long> devices = all.values().stream().map(One::device).collect(Collectors.toSet());
        List<IpcGroup> groups = new ArrayList<>();
        members.forEach((number, its) -> {
            One one = all.get(number);
            if (number == 0 && !its.isEmpty() && User.id() == 0 && !OWN.equals(link(its.getFirst()))) {
                restarted = its.getFirst().task();
            }
            if (one != null) {
                one.id = table.newId();
                groups.add(new IpcGroup(one.id, its, List.copyOf(processes), Files.ofDescriptor(one.queues),
                        Set.of(one.device())));
            } else if (!its.isEmpty()) {
                groups.add(new IpcGroup(0, its, List.copyOf(processes), null, devices));
            }
        });
        return groups;
    }

    /**
     * The record of the namespace to which a file system of message queues belongs; 0: that in which the job was
     * started, or one in which nobody is.
     */
    public synchronized long ofQueues(long device) {
        return all.values().stream().filter(one -> one.device() == device).mapToLong(one -> one.id).findFirst()
                .orElse(0);
    }

    /** The record of a namespace, after {@link #groups}; 0: that in which the job was started. */
    public synchronized long id(long number) {
        return number == 0 ? 0 : all.get(number).id;
    }

    private static String link(StoppedProcess process) {
        return Files.readLink("/proc/" + process.task() + "/ns/ipc");
    }

    /** The device of the file system of message queues that a process has. */
    public static long device(StoppedProcess process) {
        try (NamespaceCalls inside = new NamespaceCalls(process.task(), IPC, CLONE_NEWIPC)) {
            int queues = queues(inside);
            try {
                return Files.stat(queues).device();
            } finally {
                Files.close(queues);
            }
        }
    }

    /** The records, after {@link #groups}. @param ids of user namespaces, by number */
    synchronized void add(ObjectTable table, Map<Long, Long> ids) {
        if (restarted != 0) {
            IpcSettings.changedSinceRestart(restarted)
                    .forEach((setting, text) -> table.add(new IpcSetting(table.newId(), 0, setting, text)));
        }
        for (One one : all.values()) {
            table.add(new IpcNamespace(one.id, ids.get(one.owner)));
            one.settings.forEach(
                    (setting, text) -> table.add(new IpcSetting(table.newId(), one.id, setting, text)));
            one.members.forEach(process -> table
                    .add(new IpcNamespaceMember(table.newId(), process.namespacePid(), one.id)));
        }
    }

    @Override
    public synchronized void close() {
        all.values().forEach(one -> Files.close(one.queues));
        all.clear();
    }
}
