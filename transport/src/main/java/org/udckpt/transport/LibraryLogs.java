package org.udckpt.transport;

import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.udckpt.support.report.Messages;

/**
 * Keeps the libraries' own log lines off standard error, which a peer could cause without end. What matters in them
 * comes back as the status of a call or as an ended connection, and is said by {@link RefusalLog} and
 * {@link OutboundChannel}. With {@code --debug} all are there.
 */
final class LibraryLogs {
    /** Held, for a logger that nobody holds loses its level. */
    private static final List<Logger> LIBRARIES = List.of(Logger.getLogger("io.grpc"), Logger.getLogger("io.netty"));

    private LibraryLogs() {}

    static void quiet() {
        LIBRARIES.forEach(library -> library.setLevel(Messages.debug() ? Level.INFO : Level.OFF));
    }
}
