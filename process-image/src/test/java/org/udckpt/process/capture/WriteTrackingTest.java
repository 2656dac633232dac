package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.tracking.HeldMemory;
import org.udckpt.process.tracking.WriteTracking;

/** What is said to be unwritten holds what it held at the checkpoint of which it is said. */
@Timeout(3600)
class WriteTrackingTest {
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int ROUNDS = Integer.getInteger("udckpt.rounds", 1000);
    private static final int TRIES = 200;

    @Test
    void whatIsSaidToBeUnwrittenIs() throws Exception {
        rounds(40, SEED);
    }

    @Tag("slow")
    @Test
    void forManyRounds() throws Exception {
        rounds(ROUNDS, SEED + 1);
    }

    private static void rounds(int rounds, long seed) throws Exception {
        Random random = new Random(seed);
        try (WriteTracking tracking = WriteTracking.ifAvailable();
                Target target = Target.own("writers", Long.toString(seed))) {
            assumeTrue(tracking.on(), "this kernel does not note what is written (Linux 6.7)");
            HeldMemory base = HeldMemory.nothing();
            long unwritten = 0;
            for (int round = 1; round <= rounds; round++) {
                Thread.sleep(random.nextInt(30));
                tracking.begin();
                try (Capture capture = take(target, tracking)) {
                    MemorySource source = capture.sources().getFirst();
                    HeldMemory now = HeldMemory.of(source, round, 1 + random.nextInt(9));
                    unwritten += base.check(source.unwritten(), now, "seed " + seed + ", round " + round);
                    if (random.nextInt(4) > 0) { // else this checkpoint has failed
                        base = now;
                        tracking.committed(round, Map.of(source.id(), now.number()));
                    }
                }
            }
            assertTrue(unwritten > 0, "nothing was said to be unwritten in " + rounds + " rounds");
            assertEquals("PASS", target.verdict());
        }
    }

    private static Capture take(Target target, WriteTracking tracking) {
        CaptureRequest one = target.request();
        for (int tries = 1;; tries++) {
            try {
                return Capture.take(new CaptureRequest(one.roots(), one.streams(), false, FileRequest.open(),
                        FileLeases.now(), new TimedCalls(), tracking, one.shepherd()));
            } catch (CaptureFailed again) { // a child was being made, or has ended
                assertTrue(tries < TRIES && target.alive(), tries + ": " + again.getMessage());
            }
        }
    }
}
