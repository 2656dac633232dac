package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.files.FileRequest;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Unwritten;
import org.udckpt.process.tracking.WriteTracking;

/** What is said to be unwritten holds what it held at the checkpoint of which it is said. */
@Timeout(3600)
class WriteTrackingTest {
    private static final int PAGE = 4096;
    private static final long SEED = Long.getLong("udckpt.seed", System.nanoTime() & 0xffffff);
    private static final int ROUNDS = Integer.getInteger("udckpt.rounds", 1000);
    private static final int TRIES = 200;

    /** What a process held at a checkpoint, by page. */
    private record Held(long checkpoint, int number, Map<Long, Long> pages) {}

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
            Held base = new Held(0, 0, Map.of());
            long unwritten = 0;
            for (int round = 1; round <= rounds; round++) {
                Thread.sleep(random.nextInt(30));
                tracking.begin();
                try (Capture capture = take(target, tracking)) {
                    MemorySource source = capture.sources().getFirst();
                    Map<Long, Long> now = read(source);
                    unwritten += check(source.unwritten(), base, now, "seed " + seed + ", round " + round);
                    if (random.nextInt(4) > 0) { // else this checkpoint has failed
                        base = new Held(round, 1 + random.nextInt(9), now);
                        tracking.committed(round, Map.of(source.id(), base.number));
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

    private static Map<Long, Long> read(MemorySource source) {
        Map<Long, Long> pages = new HashMap<>();
        long[] extents = source.extents();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(1 << 20, PAGE);
            for (int i = 0; i < extents.length; i += 2) {
                for (long at = extents[i]; at < extents[i + 1]; at += bytes.byteSize()) {
                    MemorySegment some = bytes.asSlice(0, Math.min(bytes.byteSize(), extents[i + 1] - at));
                    source.read(at, some);
                    for (long page = 0; page < some.byteSize(); page += PAGE) {
                        pages.put(at + page, sum(some.asSlice(page, PAGE)));
                    }
                }
            }
        }
        return pages;
    }

    private static long sum(MemorySegment page) {
        CRC32 one = new CRC32();
        CRC32C other = new CRC32C();
        one.update(page.asByteBuffer());
        other.update(page.asByteBuffer());
        return one.getValue() << 32 | other.getValue();
    }

    /** How many pages need not be read. */
    private static long check(Unwritten said, Held base, Map<Long, Long> now, String when) {
        if (said.checkpoint() == 0) {
            return 0;
        }
        assertEquals(List.of(base.checkpoint, base.number), List.of(said.checkpoint(), said.process()), when);
        long pages = 0;
        for (int i = 0; i < said.unchanged().length; i += 2) {
            for (long at = said.unchanged()[i]; at < said.unchanged()[i + 1]; at += PAGE) {
                Long is = now.get(at);
                Long was = base.pages.get(at);
                if (is != null && was != null) { // else the image has no bytes of it, or it is read
                    assertEquals(was, is, when + ": the page at 0x" + Long.toHexString(at));
                    pages++;
                }
            }
        }
        return pages;
    }
}
