package org.udckpt.process.model;

/** Errors that a {@link TcpSocket} has to tell its process next, of those that a restart can make. */
public enum TcpError {
    /** ECONNRESET: the other end has given the connection up. */
    RESET(104),
    /** EPIPE: the same after it had ended its stream. */
    BROKEN_PIPE(32),
    /** ECONNREFUSED: nobody has answered a call. */
    REFUSED(111);

    private final int number;

    TcpError(int number) {
        this.number = number;
    }

    /** As errno(3) numbers it. */
    public int number() {
        return number;
    }

    /** Null: a restart cannot make it. */
    public static TcpError of(long number) {
        for (TcpError error : values()) {
            if (error.number == number) {
                return error;
            }
        }
        return null;
    }
}
