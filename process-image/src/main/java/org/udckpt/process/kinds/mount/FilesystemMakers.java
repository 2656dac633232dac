package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.IpcMembers;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcFilesystem;

/**
 * Which process makes a file system: /proc shows the pid namespace of its maker (proc(5)), and message queues are those
 * of its IPC namespace (mq_overview(7)).
 */
final class FilesystemMakers {
    private final RestoreScope scope;
    private final Maker any;
    private final List<NamespaceMember> members;
    private final boolean owned;
    private final PidNumbers numbers;
    private final IpcMembers ipc;
    private final Map<Long, Long> shown = new HashMap<>();
    /** Those that have mounts of their own already. */
    private final Set<Maker> apart = new HashSet<>();

    /**
     * @param any makes all others
     * @param members of mount namespaces that one user namespace owns
     * @param owned it is one of the job's own, and {@code any} has mounts of its own already
     */
    FilesystemMakers(RestoreScope scope, Maker any, List<NamespaceMember> members, boolean owned) {
        this.scope = scope;
        this.any = any;
        this.members = members;
        this.owned = owned;
        this.ipc = new IpcMembers(scope);
        this.numbers = PidNumbers.of(scope.image().objects());
        scope.objects(ProcFilesystem.class).forEach(one -> shown.put(one.filesystem(), one.pidNamespace()));
        apart.add(any);
    }

    Maker of(JobFilesystem system) {
        return switch (system.fileSystem()) {
            case "proc" -> who(shown.getOrDefault(system.id(), 0L));
            case MountRestore.QUEUES -> inQueues(system);
            default -> any;
        };
    }

    private Maker inQueues(JobFilesystem system) {
        return ipc.has(system.id(), any.pid()) ? any
                : apart(members.stream().map(NamespaceMember::pid).filter(pid -> ipc.has(system.id(), pid)).findFirst()
                        .orElseThrow(() -> scope.inconsistent("the image is inconsistent: message queues are mounted "
                                + "in namespaces in which nobody is of their IPC namespace")));
    }

    private Maker who(long namespace) {
        if (isIn(any.pid(), namespace)) {
            return any;
        }
        int pid = members.stream().map(NamespaceMember::pid).filter(one -> isIn(one, namespace)).findFirst()
                .orElseGet(() -> namespace == 0 ? scope.image().processes().getFirst().pid()
                        : scope.objects(PidNamespace.class).stream().filter(one -> one.id() == namespace)
                                .findFirst().orElseThrow().init());
        return apart(pid);
    }

    private Maker apart(int pid) {
        Maker maker = scope.process(pid);
        if (owned && apart.add(maker)) { // who is in a user namespace may mount in a mount namespace of that only
            maker.call("unshare its mounts", Syscall.UNSHARE, CLONE_NEWNS);
        }
        return maker;
    }

    private boolean isIn(int pid, long namespace) {
        PidNamespace own = numbers.of(pid);
        return (own == null ? 0 : own.id()) == namespace;
    }
}
