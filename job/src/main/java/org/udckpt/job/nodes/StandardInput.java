package org.udckpt.job.nodes;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.job.report.Messages;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** This process's standard input, which is the job's: it goes to the agent that has rank 0. */
final class StandardInput {
    private static final int PIECE_BYTES = 64 << 10;
    private static final long PAUSE_MILLIS = 500;
    /** Consoles and pseudo-terminals. */
    private static final String TERMINAL = "/dev/(tty|pts/|console).*";

    /**
     * Passes on what comes until its end, and closes the other side. Not to return before that: a read of a terminal or pipe cannot be ended, so that
     * the thread is one that does not keep the process.
     */
    void pump(OutputStream out) {
        boolean terminal = isTerminal();
        if (terminal) {
            Signal.handle(new Signal("TTIN"), SignalHandler.SIG_IGN); // in the background a read fails then (termios(3)), and does not stop the job
        }
        Thread.ofPlatform().daemon().name("standard input").start(() -> copy(out, terminal));
    }

    @SuppressWarnings("resource") // the process's own, which stays open
    private static void copy(OutputStream out, boolean terminal) {
        InputStream in = new FileInputStream(FileDescriptor.in);
        byte[] piece = new byte[PIECE_BYTES];
        try (out) {
            while (true) {
                int bytes = read(in, piece, terminal);
                if (bytes < 0) {
                    return;
                }
                out.write(piece, 0, bytes);
                out.flush();
            }
        } catch (IOException e) {
            Messages.debugTrace("standard input is not passed on any more", e); // the job reads no more of it
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static int read(InputStream in, byte[] piece, boolean terminal) throws IOException, InterruptedException {
        while (true) {
            try {
                return in.read(piece);
            } catch (IOException e) {
                if (!terminal || !isTerminal()) {
                    throw e;
                }
                Thread.sleep(PAUSE_MILLIS); // the job is in the background
            }
        }
    }

    private static boolean isTerminal() {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/0")).toString().matches(TERMINAL);
        } catch (IOException e) {
            return false; // closed
        }
    }
}
