package org.udckpt.job.cli;

/** How far long work is: a bar on a terminal's standard error, nothing when there is no terminal. */
final class ProgressBar implements AutoCloseable {
    private static final int WIDTH = 40;
    private static final long PERIOD_NS = 100_000_000;

    private final String what;
    private final boolean terminal = System.console() != null && System.console().isTerminal();
    private long shown;

    ProgressBar(String what) {
        this.what = what;
    }

    synchronized void show(long done, long total) {
        long now = System.nanoTime();
        if (!terminal || total <= 0 || now - shown < PERIOD_NS) {
            return;
        }
        shown = now;
        int filled = (int) (done * WIDTH / total);
        System.err.printf("\r%s [%s%s] %3d%%", what, "#".repeat(filled), " ".repeat(WIDTH - filled), done * 100 / total);
    }

    @Override
    public synchronized void close() {
        if (shown != 0) {
            System.err.print("\r" + " ".repeat(what.length() + WIDTH + 9) + "\r");
            shown = 0;
        }
    }
}
