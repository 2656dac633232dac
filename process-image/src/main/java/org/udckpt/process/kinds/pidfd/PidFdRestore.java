package org.udckpt.process.kinds.pidfd;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** Opens processes and threads again: all are there, with their old numbers. */
final class PidFdRestore implements KindRestore<PidFd> {
    private static final PidFdKind KIND = new PidFdKind();

    private final RestoreScope scope;

    PidFdRestore(RestoreScope scope) {
        this.scope = scope;
    }

    /** A pidfd of a process that is gone is made of a child that will have ended. */
    @Override
    public long make(Maker maker, PidFd descriptor) {
        int pid = descriptor.gone() ? scope.endingChild(KIND.endingChild(descriptor)) : descriptor.pid();
        // who is in a pid namespace of the job's own may have got it from outside
        Maker opener = maker.own(pid) != 0 ? maker : scope.process(scope.image().processes().getFirst().pid());
        long opened = opener.call("pidfd_open " + pid, Syscall.PIDFD_OPEN, opener.own(pid),
                descriptor.flags() & (Syscall.O_NONBLOCK | Syscall.O_EXCL));
        if (opener == maker) {
            return opened;
        }
        long given = maker.fetch(opener.pid(), opened);
        opener.call("close", Syscall.CLOSE, opened);
        return given;
    }

    @Override
    public int flags(PidFd descriptor) {
        return descriptor.flags();
    }
}
