package org.udckpt.process.kinds.socket;

import org.udckpt.process.kinds.base.KindCapture;
import org.udckpt.process.kinds.base.OpenDescriptor;

/**
 * The capture of a kind of sockets: /proc calls all sockets alike, so each is asked once what it is, by a duplicate in
 * this process.
 */
public interface SocketCapture extends KindCapture {
    /** Whether a socket of this type is of the kind; none is of one that only sockets of other kinds have. */
    default boolean takes(SocketType type) {
        return false;
    }

    /**
     * As {@link #read(OpenDescriptor)}.
     *
     * @param socket a duplicate of {@code open} in this process; it is closed afterwards
     */
    default long read(OpenDescriptor open, int socket, SocketType type) {
        throw new IllegalStateException("this kind has not taken " + type);
    }

    /**
     * Every socket is shown here after it was read, by whatever kind: for what it has beside that.
     *
     * @param object of the socket
     */
    default void beside(OpenDescriptor open, int socket, SocketType type, long object) {}
}
