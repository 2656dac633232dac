package org.udckpt.cli;

import org.udckpt.support.report.StandardError;

/** How far long work is: a bar on a terminal's standard error, nothing when there is no terminal. */
final class ProgressBar implements AutoCloseable {
    private static final int WIDTH = 40;
    private static final long PERIOD_NS = 100_000_000;

    private final String what;
    private final boolean terminal = System.console() != null && System.console().isTerminal();
    private long shown = System.nanoTime() - PERIOD_NS;
    private int length;

    ProgressBar(String what) {
        this.what = what;
    }

    void show(long done, long total) {
        show(done, total, "");
    }

    /** @param more what else there is to say, after the bar */
    synchronized void show(long done, long total, String more) {
        long now = System.nanoTime();
        if (!terminal || total <= 0 || now - shown < PERIOD_NS || StandardError.isUnread()) {
            return;
        }
        shown = now;
        String text = line(what, done, total, more);
        StandardError.bar().print("\r" + text + " ".repeat(Math.max(0, length - text.length())));
        length = text.length();
    }

    static String line(String what, long done, long total, String more) {
        double share = Math.clamp((double) done / total, 0, 1);
        int filled = (int) (share * WIDTH);
        return "%s [%s%s] %3d%%%s".formatted(what, "#".repeat(filled), " ".repeat(WIDTH - filled), (int) (share * 100),
                more.isEmpty() ? "" : "  " + more);
    }

    @Override
    public synchronized void close() {
        if (length > 0) {
            StandardError.bar().print("\r" + " ".repeat(length) + "\r");
            length = 0;
        }
    }
}
