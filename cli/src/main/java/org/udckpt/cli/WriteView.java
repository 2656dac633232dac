package org.udckpt.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.WriteProgress;

/**
 * A write as the command that waits for it shows it: a bar on a terminal, JSON lines with {@code --log-json}, else
 * nothing.
 */
final class WriteView implements AutoCloseable {
    private static final long LINE_NS = 1_000_000_000L;

    private final ProgressBar bar = new ProgressBar("write");
    private long line = System.nanoTime() - LINE_NS;

    void show(WriteProgress now) {
        if (!Messages.json()) {
            bar.show(now.bytesDone(), now.bytes(), now.toString());
        } else if (System.nanoTime() - line >= LINE_NS) {
            line = System.nanoTime();
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("ranks_done", now.ranksDone());
            fields.put("ranks", now.ranks());
            fields.put("bytes_done", now.bytesDone());
            fields.put("bytes", now.bytes());
            fields.put("bytes_per_second", (long) now.bytesPerSecond());
            fields.put("seconds_left", now.secondsLeft() < 0 ? null : now.secondsLeft());
            Messages.progress("write " + now, fields);
        }
    }

    /** Takes the bar away; another one may follow. */
    @Override
    public void close() {
        bar.close();
    }
}
