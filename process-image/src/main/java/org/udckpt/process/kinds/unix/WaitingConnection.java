package org.udckpt.process.kinds.unix;

import org.udckpt.process.model.KernelObject;

/**
 * A connection that unix socket {@code object}, which listens, has not accepted yet; they are accepted in the order of
 * their ids.
 *
 * @param client id of the socket that has called connect(2); {@link #CLOSED}: it has closed since
 */
public record WaitingConnection(long id, long object, long client) implements KernelObject {
    static final long CLOSED = 0;
}
