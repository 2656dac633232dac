package org.udckpt.process.kinds.replaced;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;

/** The same stream of the new launcher. */
final class StandardStreamRestore implements KindRestore<StandardStream> {
    private static final int F_DUPFD = 0;

    private final RestoreScope scope;

    StandardStreamRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public long make(Maker maker, StandardStream stream) {
        return maker.call("dup", Syscall.FCNTL, scope.stream(stream.stream()), F_DUPFD, 0);
    }
}
