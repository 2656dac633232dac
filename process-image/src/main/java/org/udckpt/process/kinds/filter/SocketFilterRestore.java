package org.udckpt.process.kinds.filter;

import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;

import org.udckpt.linux.Syscall;
import org.udckpt.process.kinds.base.ClassicBpf;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.Maker;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.model.Descriptor;

/** Attaches filters again, when the queues of the sockets are full: what is in them has passed. */
final class SocketFilterRestore implements KindRestore<SocketFilter> {
    private static final int SO_ATTACH_FILTER = 26, FPROG_BYTES = 16;

    private final RestoreScope scope;

    SocketFilterRestore(RestoreScope scope) {
        this.scope = scope;
    }

    @Override
    public void placed() {
        scope.objects(SocketFilter.class).forEach(this::attach);
    }

    private void attach(SocketFilter filter) {
        Descriptor any = scope.descriptor(filter.object());
        Maker maker = scope.process(any.pid());
        long program = maker.bytes(filter.program());
        // struct sock_fprog: how many instructions (16 bits), where they are
        long fprog = maker.structure().i64(filter.program().length / ClassicBpf.INSTRUCTION).i64(program).put();
        maker.call("attach the filter of descriptor " + any.fd(), Syscall.SETSOCKOPT, any.fd(), SOL_SOCKET,
                SO_ATTACH_FILTER, fprog, FPROG_BYTES);
        if (filter.locked()) {
            maker.call("lock the filter of descriptor " + any.fd(), Syscall.SETSOCKOPT, any.fd(), SOL_SOCKET,
                    SocketFilterCapture.SO_LOCK_FILTER, maker.structure().i32(1).put(), Integer.BYTES);
        }
    }
}
