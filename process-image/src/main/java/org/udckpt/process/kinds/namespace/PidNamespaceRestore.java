package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWPID;

import java.util.List;
import java.util.stream.Stream;
import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;
import org.udckpt.process.model.PidNumbers;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.UserNamespace;

/**
 * Lets processes have their children in a pid namespace again, of which they are no part themselves (unshare(2), before
 * fork(2)): when they have all threads, of which they could make none afterwards.
 */
final class PidNamespaceRestore implements KindRestore<PidNamespace> {
    private final RestoreScope scope;

    PidNamespaceRestore(RestoreScope scope) {
        this.scope = scope;
    }

    /** The processes that a user namespace has from the beginning, those that came with it first. */
    static List<Maker> bornIn(RestoreScope scope, UserNamespace user) {
        PidNumbers numbers = PidNumbers.of(scope.image().objects());
        return numbers.namespaces().stream().filter(one -> one.userOwner() == user.id())
                .flatMap(one -> Stream.concat(Stream.of(one.init()),
                        scope.image().processes().stream().map(ProcessState::pid)
                                .filter(pid -> pid != one.init() && numbers.of(pid) == one)))
                .<Maker>map(scope::process).toList();
    }

    @Override
    public void placed() {
        for (PidNamespace namespace : scope.objects(PidNamespace.class)) {
            scope.objects(PidNamespaceMember.class).stream()
                    .filter(one -> one.inner() == 0 && one.pidNamespace() == namespace.id())
                    .forEach(one -> enter(scope.process(one.pid()), scope.process(namespace.init())));
        }
    }

    private void enter(Maker maker, Maker init) {
        int namespace = Files.open("/proc/" + init.hostPid() + "/ns/pid", Syscall.O_RDONLY);
        try {
            long given = scope.give(maker, namespace);
            maker.call("have children in its pid namespace", Syscall.SETNS, given, CLONE_NEWPID);
            maker.call("close", Syscall.CLOSE, given);
        } finally {
            Files.close(namespace);
        }
    }
}
