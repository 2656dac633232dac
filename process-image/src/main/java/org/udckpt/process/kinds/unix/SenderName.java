package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * The name from which a datagram has come that waits in unix socket {@code object} (recvfrom(2)).
 *
 * @param message which of the queue's, from 0 ({@link UnixSocket#messageLengths})
 * @param name as that of a {@link UnixSocket}
 */
public record SenderName(long id, long object, int message, byte[] name) implements KernelObject {
    @Override
    public int spare() {
        return 1; // a socket of that name
    }
}
