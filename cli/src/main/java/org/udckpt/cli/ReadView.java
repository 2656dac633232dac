package org.udckpt.cli;

import java.util.Map;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Messages;

/**
 * How far the reading of an image is, and how fast: a bar on a terminal, a JSON line each second and at the end with
 * {@code --log-json}.
 */
final class ReadView implements AutoCloseable {
    private static final long PERIOD_NS = 1_000_000_000;

    private final String what;
    private final ProgressBar bar;
    private final long begin = System.nanoTime();
    private long told = begin;

    ReadView(String what) {
        this.what = what;
        this.bar = new ProgressBar(what);
    }

    /** Bytes; {@code done} of {@code total}. */
    synchronized void show(long done, long total) {
        long now = System.nanoTime();
        long perSecond = (long) (done * 1e9 / Math.max(1, now - begin));
        if (!Messages.json()) {
            bar.show(done, total, Durations.bytes(perSecond) + "/s");
        } else if (now - told >= PERIOD_NS || done == total) {
            told = now;
            Messages.progress(what, Map.of("bytes_done", done, "bytes", total, "bytes_per_second", perSecond));
        }
    }

    @Override
    public void close() {
        bar.close();
    }
}
