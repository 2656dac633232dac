package org.udckpt.process.kinds.mount;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWNS;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.JobFilesystem;
import org.udckpt.process.model.NamespaceMember;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcFilesystem;

/** Which process makes a file system: /proc shows the pid namespace of its maker (proc(5)). */
final class ProcMakers {
    private final RestoreScope scope;
    private final Maker any;
    private final List<NamespaceMember> members;
    private final boolean owned;
    private final PidNumbers numbers;
    private final Map<Long, Long> shown = new HashMap<>();
    /** Those that have mounts of their own already. */
    private final Set<Maker> apart = new HashSet<>();

    /**
     * @param any makes all others
     * @param members of mount namespaces that one user namespace owns
     * @param owned it is one of the job's own, and {@code any} has mounts of its own already
     */
    ProcMakers(RestoreScope scope, Maker any, List<NamespaceMember> members, boolean owned) {
        this.scope = scope;
        this.any = any;
        this.members = members;
        this.owned = owned;
        this.numbers = PidNumbers.of(scope.image().objects());
        scope.objects(ProcFilesystem.class).forEach(one -> shown.put(one.filesystem(), one.pidNamespace()));
        apart.add(any);
    }

    Maker of(JobFilesystem system) {
        return system.fileSystem().equals("proc") ? who(shown.getOrDefault(system.id(), 0L)) : any;
    }

    private Maker who(long namespace) {
        if (isIn(any.pid(), namespace)) {
            return any;
        }
        int pid = members.stream().map(NamespaceMember::pid).filter(one -> isIn(one, namespace)).findFirst()
                .orElseGet(() -> namespace == 0 ? scope.image().processes().getFirst().pid()
                        : scope.objects(PidNamespace.class).stream().filter(one -> one.id() == namespace)
                                .findFirst().orElseThrow().init());
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
