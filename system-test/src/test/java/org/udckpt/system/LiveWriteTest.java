package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.store.Keys;
import org.udckpt.store.StateTables;
import org.udckpt.store.StopTimesRow;

/** The state of a write while it is in progress, and the statistics of all stops afterwards. */
@Timeout(180)
class LiveWriteTest {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** 2 ranks of 16 MiB at 5 MiB a second: there is time to look, on a busy machine too. */
    @Tag("slow")
    @Test
    void theWriteIsToBeSeen() throws Exception {
        try (RunningJob job = RunningJob.ballast(16, "--max-rate", "5M", "--buffer", "4M")) {
            assertFalse(job.status().has("write"));
            Process checkpoint = job.commands.start("checkpoint", "checkpoint", "job", "--log-json");
            job.await("the write", () -> job.status().path("write").path("bytes_done").asLong() > 0);
            JsonNode first = job.status().path("write");
            assertEquals(RunningJob.RANKS, first.path("ranks").asInt(), first.toString());
            assertTrue(first.path("bytes").asLong() > RunningJob.RANKS * (16L << 20), first.toString());
            job.await("progress", () -> !job.status().has("write")
                    || job.status().path("write").path("bytes_done").asLong() > first.path("bytes_done").asLong());
            assertEquals(0, job.commands.run("status", 60, "status", "job"), job::text);
            assertEquals(0, checkpoint.waitFor(), () -> job.text());
            assertTrue(job.commands.printed("status").contains("  writing: "), job.commands.printed("status"));
            assertLines(
                    job.commands.printed("checkpoint").lines().filter(line -> line.contains("\"progress\"")).toList());
            assertFalse(job.status().has("write"));
            job.finish();
        }
    }

    private static void assertLines(List<String> lines) throws Exception {
        assertTrue(lines.size() >= 2, lines.toString());
        long last = -1;
        for (String line : lines) {
            JsonNode node = JSON.readTree(line.substring(line.indexOf('{')));
            assertTrue(node.path("bytes_done").asLong() >= last
                    && node.path("bytes").asLong() >= node.path("bytes_done").asLong(), line);
            assertTrue(node.path("ranks_done").asInt() <= RunningJob.RANKS, line);
            last = node.path("bytes_done").asLong();
        }
    }

    @Test
    void theStopsOfAnIncarnationAreInTheStatusAndInEachImage() throws Exception {
        try (RunningJob job = RunningJob.ballast(2)) {
            for (int i = 1; i <= 3; i++) {
                job.checkpoint();
                JsonNode counted = job.status().path("checkpoints");
                assertEquals(i, counted.path("complete").asInt(), counted.toString());
                assertEquals(i * RunningJob.RANKS, counted.at("/stop_ms/count").asInt(), counted.toString());
                assertTrue(counted.at("/stop_ms/max").asDouble() >= counted.at("/stop_ms/p50").asDouble()
                        && counted.at("/stop_ms/p50").asDouble() > 0, counted.toString());
                assertTrue(counted.at("/chunk_write_ms/count").asInt() >= i, counted.toString());
                try (CheckpointReader reader = CheckpointReader.open(job.images().getLast().directory(), Keys.user())) {
                    StopTimesRow row = StateTables.readStopTimes(reader).orElseThrow();
                    assertEquals(i, row.checkpoints());
                    Histogram histogram = Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(row.histogram()), 0);
                    assertEquals(i * RunningJob.RANKS, histogram.getTotalCount());
                    assertTrue(histogram.getMaxValue() >= reader.manifest().stopMaxNanos() * 0.99,
                            "the newest stop is in it");
                }
            }
            job.finish();
        }
    }
}
