package org.udckpt.process.kinds.namespace;

import static org.udckpt.linux.LinuxConstants.CLONE_NEWPID;

import org.udckpt.linux.Files;
import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.PidNamespace;
import org.udckpt.process.model.PidNamespaceMember;

/**
 * Lets processes have their children in a pid namespace again, of which they are no part themselves (unshare(2), before
 * fork(2)): when they have all threads, of which they could make none afterwards.
 */
final class PidNamespaceRestore implements KindRestore<PidNamespace> {
    private final RestoreScope scope;

    PidNamespaceRestore(RestoreScope scope) {
        this.scope = scope;
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
