package org.udckpt.process.kinds.unix;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.InFlight;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Descriptors in the queues of unix sockets: captured and restored with the sockets. */
public final class DescriptorInFlightKind implements ObjectKind<DescriptorInFlight> {
    @Override
    public Class<DescriptorInFlight> record() {
        return DescriptorInFlight.class;
    }

    @Override
    public String shown(DescriptorInFlight sent) {
        return "of object " + sent.sent() + ", in the queue of socket " + sent.object();
    }

    @Override
    public InFlight inFlight(DescriptorInFlight sent) {
        return new InFlight(sent.sent(), sent.pid());
    }

    @Override
    public void check(DescriptorInFlight sent, RowCheck row, CheckedImage image) throws BrokenTable {
        message(sent.object(), sent.message(), row, image);
        row.require(image.canBeOpen(sent.sent()), CheckedImage.CANNOT_BE_OPEN, sent.sent());
        row.require(image.process(sent.pid()), "pid %d is not a process of the image", sent.pid());
    }

    /** A message of a socket's queue. */
    static void message(long object, int message, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(object) instanceof UnixSocket socket && socket.messageLengths() != null,
                "object %d is not a unix socket with messages", object);
        row.between(0, ((UnixSocket) image.get(object)).messageLengths().length - 1L, "message", message);
    }
}
