package org.udckpt.process.kinds.replaced;

import org.udckpt.linux.Files;
import org.udckpt.process.kinds.base.CaptureScope;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.DescriptorKind;
import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.KindRestore;
import org.udckpt.process.kinds.base.OpenDescriptor;
import org.udckpt.process.kinds.base.RestoreScope;
import org.udckpt.process.kinds.socket.SocketQueue;
import org.udckpt.process.kinds.socket.SocketType;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** A rank's connection to its process manager. */
public final class PmiConnectionKind implements DescriptorKind<PmiConnection> {
    @Override
    public Class<PmiConnection> record() {
        return PmiConnection.class;
    }

    @Override
    public String shown(PmiConnection connection) {
        return "";
    }

    @Override
    public boolean given() {
        return true;
    }

    @Override
    public void check(PmiConnection connection, RowCheck row, CheckedImage image) throws BrokenTable {
        row.notNull("queued", connection.queued());
    }

    @Override
    public KindCapture capture(CaptureScope scope) {
        return new ReplacedCapture(scope, scope::toProcessManager, PmiConnectionKind::read);
    }

    @Override
    public KindRestore<PmiConnection> restore(RestoreScope scope) {
        return new PmiConnectionRestore(scope);
    }

    private static PmiConnection read(OpenDescriptor open, long id) {
        return open.duplicated(socket -> {
            SocketType type = SocketType.of(socket);
            if (!type.unix()) {
                throw open.refuse("a process manager that is connected by " + type
                        + " cannot be checkpointed; start the ranks by udckpt run");
            }
            SocketQueue queue = SocketQueue.peek(open, socket, type.type());
            queue.eachDescriptor(Files::close);
            if (queue.hasDescriptors()) {
                throw open.refuse("descriptors of the process manager are in flight in this unix socket; try again "
                        + "when they have arrived");
            }
            return new PmiConnection(id, open.openFlags(), queue.bytes());
        });
    }
}
