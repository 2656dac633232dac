package org.udckpt.process.kinds.tcp;

import static org.udckpt.linux.LinuxConstants.POLLERR;
import static org.udckpt.linux.LinuxConstants.POLLRDHUP;
import static org.udckpt.linux.LinuxConstants.SOL_SOCKET;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.PendingError;
import org.udckpt.linux.TcpCalls;
import org.udckpt.process.model.AttributeKind;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.TcpError;

/**
 * The errors that sockets have to tell next. A restart makes them as they came about (tcp_reset,
 * net/ipv4/tcp_input.c).
 */
final class PendingErrors {
    private static final int SO_LINGER = 13;

    private final Map<Long, TcpError> all = new HashMap<>();

    PendingErrors(JobImage image) {
        image.attributes().stream().filter(one -> one.kind() == AttributeKind.SOCKET_ERROR)
                .forEach(one -> all.put(one.values()[0], TcpError.of(one.values()[1])));
    }

    /** Null: none. */
    TcpError of(long socket) {
        return all.get(socket);
    }

    /**
     * The error of a connection that is over, and has one or a notification.
     *
     * @throws RuntimeException naming the one that no restart could make, or why it cannot be seen
     */
    static TcpError of(TcpEnd end) {
        int pending;
        try {
            pending = PendingError.of(end.socket());
        } catch (LinuxError | IOException e) {
            throw end.open.refuse(end + ": it has a pending error or notification, which only root can read without "
                    + "removing it (" + e.getMessage() + "); let the program read it (SO_ERROR), or take the "
                    + "checkpoint as root");
        }
        TcpError error = TcpError.of(pending);
        if (error == null) {
            throw end.failed(pending == 0 ? "it has a notification in its error queue (MSG_ERRQUEUE)"
                    : "it has a pending error, which a restart could not make: " + LinuxError.name(pending));
        }
        return error;
    }

    /** Closes {@code other}, after which {@code own} has the error, RESET or BROKEN_PIPE. */
    static void end(TcpError error, int own, int other) {
        if (error == TcpError.BROKEN_PIPE) {
            TcpCalls.shutdown(other, TcpCalls.SHUT_WR);
            TcpCalls.await(own, POLLRDHUP, "the end of a TCP stream");
        }
        TcpCalls.option(other, SOL_SOCKET, SO_LINGER, 1, 0);
        Files.close(other);
        TcpCalls.await(own, POLLERR, "the end of a TCP connection");
    }
}
