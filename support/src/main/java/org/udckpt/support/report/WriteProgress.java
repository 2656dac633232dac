package org.udckpt.support.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;

/**
 * How far the write of a checkpoint is.
 *
 * @param ranksDone ranks all of whose memory is written
 * @param bytesDone of memory, zero pages included
 * @param bytes of memory in all
 * @param storedBytes that are in files
 * @param nanos since the job runs again
 */
public record WriteProgress(int ranksDone, int ranks, long bytesDone, long bytes, long storedBytes, long nanos) {
    public double bytesPerSecond() {
        return nanos == 0 ? 0 : bytesDone * 1e9 / nanos;
    }

    /** The same when so much time has gone by since the job runs again. */
    public WriteProgress after(long time) {
        return new WriteProgress(ranksDone, ranks, bytesDone, bytes, storedBytes, time);
    }

    /** Negative: cannot be told yet. What is synced at the end comes on top. */
    public double secondsLeft() {
        return bytesDone == 0 ? -1 : (bytes - bytesDone) / bytesPerSecond();
    }

    public void describe(ObjectNode node) {
        node.put("ranks_done", ranksDone).put("ranks", ranks).put("bytes_done", bytesDone).put("bytes", bytes)
                .put("stored_bytes", storedBytes)
                .put("ms", nanos / 1e6).put("bytes_per_second", (long) bytesPerSecond());
        if (secondsLeft() >= 0) {
            node.put("seconds_left", secondsLeft());
        }
    }

    public static WriteProgress of(JsonNode node) {
        return new WriteProgress(node.path("ranks_done").asInt(), node.path("ranks").asInt(),
                node.path("bytes_done").asLong(), node.path("bytes").asLong(),
                node.path("stored_bytes").asLong(), (long) (node.path("ms").asDouble() * 1e6));
    }

    /** {@code 1 of 4 ranks, 1.20 GiB of 4.00 GiB, 0.53 GB/s, 5 s left}. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%d of %d ranks, %s of %s, %.2f GB/s", ranksDone, ranks,
                Durations.bytes(bytesDone), Durations.bytes(bytes), bytesPerSecond() / 1e9)
                + (secondsLeft() < 0 ? "" : String.format(Locale.ROOT, ", %.0f s left", Math.ceil(secondsLeft())));
    }
}
