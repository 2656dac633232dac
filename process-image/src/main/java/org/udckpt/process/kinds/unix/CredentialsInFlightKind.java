package org.udckpt.process.kinds.unix;

import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.RowCheck;

/** Credentials of a message in a unix socket: captured and restored with the socket. */
public final class CredentialsInFlightKind implements ObjectKind<CredentialsInFlight> {
    @Override
    public Class<CredentialsInFlight> record() {
        return CredentialsInFlight.class;
    }

    @Override
    public String shown(CredentialsInFlight sent) {
        return "of process " + sent.pid() + ", user " + Integer.toUnsignedString(sent.uid());
    }

    @Override
    public void check(CredentialsInFlight sent, RowCheck row, CheckedImage image) throws BrokenTable {
        if (image.get(sent.object()) instanceof WaitingMessages waiting && waiting.messageLengths() != null) {
            row.between(0, waiting.messageLengths().length - 1L, "message", sent.message());
        } else {
            DescriptorInFlightKind.message(sent.object(), sent.message(), row, image);
        }
        row.between(1, Integer.MAX_VALUE, "pid", sent.pid());
        row.require(sent.uid() != -1 && sent.gid() != -1, "user or group of process %d is missing", sent.pid());
    }
}
