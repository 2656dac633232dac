package org.udckpt.support.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

class WriteProgressTest {
    private static final long GIB = 1L << 30;

    /** 1 GiB of 4 in 2 s is 0.537 GB/s; the other 3 take 6 s. */
    @Test
    void speedAndTimeLeft() {
        WriteProgress progress = new WriteProgress(1, 4, GIB, 4 * GIB, GIB / 2, 2_000_000_000L);
        assertEquals(GIB / 2.0, progress.bytesPerSecond());
        assertEquals(6, progress.secondsLeft());
        assertEquals("1 of 4 ranks, 1.00 GiB of 4.00 GiB, 0.54 GB/s, 6 s left", progress.toString());
        assertEquals("0 of 4 ranks, 0.0 KiB of 4.00 GiB, 0.00 GB/s",
                new WriteProgress(0, 4, 0, 4 * GIB, 0, 5).toString());
    }

    @Test
    void whatIsDescribedIsRead() {
        WriteProgress progress = new WriteProgress(1, 4, GIB, 4 * GIB, GIB / 2, 2_000_000_000L);
        ObjectNode node = new ObjectMapper().createObjectNode();
        progress.describe(node);
        assertEquals(progress, WriteProgress.of(node));
        assertEquals(6, node.path("seconds_left").asDouble());
        ObjectNode early = new ObjectMapper().createObjectNode();
        new WriteProgress(0, 4, 0, 4 * GIB, 0, 0).describe(early);
        assertFalse(early.has("seconds_left"));
    }
}
