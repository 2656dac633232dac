package org.udckpt.support.runtime;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Consumer;
import org.udckpt.linux.UnixPeer;
import org.udckpt.support.report.Messages;

/**
 * Accepts connections of this user and root until the server is closed. An accept that fails (EMFILE, ENFILE, ENOMEM:
 * accept(2)) is tried again: the connection waits in the backlog until there is a descriptor for it.
 */
public final class Acceptor {
    private static final long PAUSE_MS = 200;

    private Acceptor() {}

    /**
     * Returns when the server is closed.
     *
     * @param name of the socket, for messages
     * @param serve starts a connection's thread
     */
    public static void run(String name, ServerSocketChannel server, Consumer<SocketChannel> serve) {
        boolean failing = false;
        boolean stranger = false;
        while (true) {
            try {
                serve.accept(UnixPeer.accept(server));
                if (failing) {
                    Messages.info(name + ": accepting connections again");
                }
                failing = false;
            } catch (ClosedChannelException e) {
                return;
            } catch (UnixPeer.Stranger e) {
                if (!stranger) {
                    Messages.warn(name + ": " + e.getMessage() + ": refused (reported once)");
                }
                stranger = true;
            } catch (IOException e) {
                if (!failing) {
                    Messages.error(name + ": accept failed: " + e.getMessage() + "; trying again until it works", e);
                }
                failing = true;
                if (!pause()) {
                    return;
                }
            }
        }
    }

    /** False: interrupted. */
    private static boolean pause() {
        try {
            Thread.sleep(PAUSE_MS);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
