package org.udckpt.process.kinds.replaced;

import static org.udckpt.linux.LinuxConstants.F_SETFL;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** A new connection to the process manager, which sends again what the rank had not read. */
final class PmiConnectionRestore implements KindRestore<PmiConnection> {
    private final RestoreScope scope;

    PmiConnectionRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, PmiConnection connection) {
        long fd = scope.processManager(maker, connection.queued());
        if (KindRestore.nonBlocking(connection.flags()) != 0) {
            maker.call("set O_NONBLOCK", Syscall.FCNTL, fd, F_SETFL, Syscall.O_NONBLOCK);
        }
        return fd;
    }
}
