package org.udckpt.support.report;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;

/**
 * Standard error for threads on which a job's incarnation depends. What reads it may stop, as {@code less}, a terminal
 * after ^S or one that hangs, and a write then waits without end. So a thread of its own writes. Whoever has something
 * to say waits until it is written, so that it stays in order with what the job prints, but not for long; and not at
 * all while the writer is known to be stuck. What does not fit into the bound is left out, from the first line that
 * does not until all others are written, and how much it was is said there.
 */
public final class StandardError extends OutputStream {
    private static final int BOUND = 256 << 10;
    /**
     * Once for each time that it gets stuck. A lease is a second at least, and who waits here may have signs of
     * incarnation to give.
     */
    private static final Duration TIMEOUT = Duration.ofMillis(250);
    /** At the end of the process. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private static StandardError installed;
    private static PrintStream plain;
    private static PrintStream bar;

    private final OutputStream out;
    private final Charset charset;
    private final LongFunction<String> gap;
    private final long timeout;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition given = lock.newCondition(), written = lock.newCondition();
    private final Deque<byte[]> waiting = new ArrayDeque<>();
    private long bytes, taken, done;
    /** Lines, since the first that did not fit. */
    private long leftOut;
    private boolean leavingOut, stuck;
    private Thread writer;

    /** @param gap the line for so many that were left out */
    StandardError(OutputStream out, Charset charset, LongFunction<String> gap, Duration timeout) {
        this.out = out;
        this.charset = charset;
        this.gap = gap;
        this.timeout = timeout.toNanos();
    }

    /**
     * From here on {@link System#err} is such a one, for all that print there: libraries, traces of threads that die.
     * Its last words are waited for at the end of the process.
     */
    public static synchronized void install() {
        if (installed == null) {
            plain = System.err;
            StandardError robust = new StandardError(plain, plain.charset(), Messages::gap, TIMEOUT);
            installed = robust;
            bar = new PrintStream(robust, true, plain.charset());
            System.setErr(new PrintStream(new PrintableStream(robust), true, plain.charset()));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> robust.await(LAST_WORDS), "last words"));
        }
    }

    /**
     * Of this process, as it was given: for another program's words of any length, by a thread that may wait until they
     * are read.
     */
    public static synchronized PrintStream patient() {
        return plain == null ? System.err : plain;
    }

    /** The same stream for what goes back to the beginning of its line, which {@link System#err} would write out. */
    public static synchronized PrintStream bar() {
        return bar == null ? System.err : bar;
    }

    /** Whether it is known that nobody reads: what would be of no use later need not be written. */
    public static synchronized boolean isUnread() {
        return installed != null && installed.isStuck();
    }

    private boolean isStuck() {
        lock.lock();
        try {
            return stuck;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void write(int one) {
        write(new byte[]{(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] text, int offset, int length) {
        byte[] piece = new byte[length];
        System.arraycopy(text, offset, piece, 0, length);
        lock.lock();
        try {
            if (leavingOut || bytes > 0 && bytes + length > BOUND) {
                leavingOut = true;
                leftOut += lines(piece);
                return;
            }
            waiting.add(piece);
            bytes += length;
            long own = ++taken;
            startWriter();
            given.signal();
            if (!stuck && !awaitDone(own, timeout)) {
                stuck = true;
            }
        } finally {
            lock.unlock();
        }
    }

    private static long lines(byte[] piece) {
        long lines = 0;
        for (byte one : piece) {
            lines += one == '\n' ? 1 : 0;
        }
        return lines;
    }

    private void startWriter() {
        if (writer == null) {
            writer = Thread.ofPlatform().daemon().name("standard error").start(this::serve);
        }
    }

    /**
     * An interrupt does not end it: the last words of a thread that is told to end are said in order too. False: not in
     * that time.
     */
    private boolean awaitDone(long number, long nanos) {
        boolean interrupted = false;
        long end = System.nanoTime() + nanos;
        while (done < number && !stuck && end - System.nanoTime() > 0) {
            try {
                written.awaitNanos(end - System.nanoTime());
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return done >= number;
    }

    private void serve() {
        try {
            while (true) {
                byte[] piece = next();
                out.write(piece);
                out.flush();
                finished(piece.length);
            }
        } catch (InterruptedException | java.io.IOException e) {
            giveUp(); // nobody interrupts it, and a PrintStream keeps its errors to itself
        }
    }

    /** The next piece; what was left out is told of when all before it has been written. */
    private byte[] next() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (waiting.isEmpty() && !leavingOut) {
                given.await();
            }
            if (waiting.isEmpty()) {
                byte[] told = gap.apply(leftOut).getBytes(charset);
                leavingOut = false;
                leftOut = 0;
                bytes += told.length;
                taken++;
                return told;
            }
            return waiting.remove();
        } finally {
            lock.unlock();
        }
    }

    private void finished(int length) {
        lock.lock();
        try {
            bytes -= length;
            done++;
            stuck = false;
            written.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void giveUp() {
        lock.lock();
        try {
            stuck = true; // for good
            written.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until all is written. False: not in that time. */
    boolean await(Duration longest) {
        lock.lock();
        try {
            long end = System.nanoTime() + longest.toNanos();
            while ((done < taken || leavingOut) && end - System.nanoTime() > 0) {
                written.awaitNanos(end - System.nanoTime());
            }
            return done == taken && !leavingOut;
        } catch (InterruptedException e) {
            return false; // the process ends
        } finally {
            lock.unlock();
        }
    }
}
