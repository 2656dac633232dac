package org.udckpt.process.kinds.unix;

import static org.udckpt.linux.LinuxConstants.SOCK_STREAM;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** What connections have received that a unix socket has not accepted: captured and restored with it. */
public final class WaitingMessagesKind implements ObjectKind<WaitingMessages> {
    @Override
    public Class<WaitingMessages> record() {
        return WaitingMessages.class;
    }

    @Override
    public String shown(WaitingMessages waiting) {
        return waiting.queued().length + " bytes in a connection that waits";
    }

    @Override
    public void check(WaitingMessages waiting, RowCheck row, CheckedImage image) throws BrokenTable {
        row.require(image.get(waiting.object()) instanceof WaitingConnection,
                "object %d is not a connection that waits to be accepted", waiting.object());
        row.require(image.image().objects().stream().filter(one -> one instanceof WaitingMessages other
                && other.object() == waiting.object()).count() == 1,
                "another row has messages of connection %d, too", waiting.object());
        row.notNull("queued", waiting.queued());
        row.messages("messageLengths", waiting.messageLengths(), waiting.queued().length);
        if (image.get(((WaitingConnection) image.get(waiting.object())).object()) instanceof UnixSocket listener
                && listener.type() == SOCK_STREAM) { // where there is no empty piece
            for (int length : waiting.messageLengths()) {
                row.between(1, Integer.MAX_VALUE, "messageLengths", length);
            }
        }
    }
}
