package org.udckpt.process.kinds.socket;

import org.udckpt.linux.TcpCalls;
import org.udckpt.process.model.TcpOptions;

/** How long calls of a socket of this process wait (socket(7)). */
public final class SocketTimeouts {
    /** The options of SOL_SOCKET. */
    public static final int SO_RCVTIMEO = 20, SO_SNDTIMEO = 21;

    private SocketTimeouts() {}

    /** Sets one of them, a struct timeval; 0: it stays as of a new socket. */
    public static void set(int socket, int option, long microseconds) {
        if (microseconds > 0) {
            long seconds = microseconds / 1_000_000;
            TcpCalls.option(socket, TcpOptions.SOL_SOCKET, option, (int) seconds, (int) (seconds >>> 32),
                    (int) (microseconds % 1_000_000), 0);
        }
    }
}
