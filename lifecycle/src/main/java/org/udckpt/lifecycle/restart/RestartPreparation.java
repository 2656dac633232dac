package org.udckpt.lifecycle.restart;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import org.udckpt.linux.Sha256;
import org.udckpt.store.ImageTables;
import org.udckpt.support.report.Messages;

/**
 * What takes a young JVM milliseconds when it does it first, and needs nothing of the image: done by a second processor
 * while the image is looked for. Whoever needs it meanwhile waits for it as for itself.
 */
public final class RestartPreparation {
    private RestartPreparation() {}

    /** In a thread of its own. */
    public static void begin() {
        Thread.ofPlatform().daemon().name("restart-prepare").start(() -> {
            Sha256.create(); // loads libcrypto
            ImageTables.load();
            try {
                // the JDK loads its random numbers and its network classes with the first
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).close();
                DatagramChannel.open().close();
            } catch (IOException e) {
                Messages.debugTrace("no socket could be made beforehand", e); // the restart says so where it needs one
            }
        });
    }
}
