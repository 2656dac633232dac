package org.udckpt.cluster;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.udckpt.support.report.Messages;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * This process's standard input, which is the job's: it goes to the agent that has rank 0, in whichever incarnation.
 * One thread reads it for all incarnations, since a read of a terminal or pipe cannot be ended: what it has read when
 * an incarnation is over is the next one's.
 */
final class StandardInput {
    /** The process has one. */
    static final StandardInput OWN = new StandardInput(new FileInputStream(FileDescriptor.in));

    /**
     * PIPE_BUF (pipe(7)): a pipe takes such a piece as a whole or not at all, so that none is given in part to one
     * incarnation and again to the next.
     */
    private static final int PIECE_BYTES = 4096;
    private static final long PAUSE_MILLIS = 500;
    /** Consoles and pseudo-terminals. */
    private static final String TERMINAL = "/dev/(tty|pts/|console).*";

    private final InputStream in;
    /** To whom it goes now; null: nobody takes it. */
    private OutputStream taker;
    private boolean begun;
    private boolean ended;

    StandardInput(InputStream in) {
        this.in = in;
    }

    /**
     * From now on this one gets what comes, until the end, at which it is closed; nothing goes to whoever had it
     * before. Returns at once.
     */
    synchronized void to(OutputStream out) throws IOException {
        if (ended) {
            out.close();
            return;
        }
        taker = out;
        notifyAll();
        if (!begun) {
            begun = true;
            boolean terminal = isTerminal();
            if (terminal) {
                // in the background a read fails then (termios(3)), and does not stop the job
                Signal.handle(new Signal("TTIN"), SignalHandler.SIG_IGN);
            }
            Thread.ofPlatform().daemon().name("standard input").start(() -> pass(terminal));
        }
    }

    private void pass(boolean terminal) {
        byte[] piece = new byte[PIECE_BYTES];
        try {
            for (int bytes = read(in, piece, terminal); bytes >= 0; bytes = read(in, piece, terminal)) {
                give(piece, bytes);
            }
        } catch (IOException e) {
            Messages.debugTrace("standard input ends", e); // it was closed, say
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        end();
    }

    /** To the present taker, or the next one, if that one takes nothing any more. */
    private void give(byte[] piece, int bytes) throws InterruptedException {
        while (true) {
            OutputStream out = await();
            try {
                out.write(piece, 0, bytes);
                out.flush();
                return;
            } catch (IOException e) {
                Messages.debugTrace("standard input is not taken any more", e);
                drop(out);
            }
        }
    }

    private synchronized OutputStream await() throws InterruptedException {
        while (taker == null) {
            wait();
        }
        return taker;
    }

    private synchronized void drop(OutputStream out) {
        taker = taker == out ? null : taker;
    }

    private synchronized void end() {
        ended = true;
        if (taker != null) {
            try {
                taker.close();
            } catch (IOException e) {
                Messages.debugTrace("closing an agent's standard input", e); // it has ended
            }
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
