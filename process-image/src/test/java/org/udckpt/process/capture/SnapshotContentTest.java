package org.udckpt.process.capture;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemoryKind;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.SharedMemory;

/**
 * The pages, the shared memory and the unforked memory of a capture are of one moment, and stay so while the program
 * runs.
 */
@Timeout(180)
class SnapshotContentTest {
    private static final int PAGES = 512, PAGE = 4096;

    @Test
    void oneCutThroughAllMemory() throws Exception {
        try (Target target = Target.own("cut")) {
            String[] words = Files.readString(target.directory.resolve("ready")).split(" ");
            long[] at = new long[4];
            for (int i = 0; i < 4; i++) {
                at[i] = Long.parseUnsignedLong(words[i].substring(2), 16);
            }
            long before = 0;
            for (int round = 0; round < 10; round++) {
                Thread.sleep(20); // on a loaded machine the program would not have had a core since the last capture
                try (Capture capture = Capture.take(target.request())) {
                    JobImage image = capture.image();
                    List<MemorySource> sources = capture.sources();
                    MemorySource process = sources.getFirst();
                    assertEquals(target.pid, process.id());
                    long n = word(process, at[0]);
                    assertTrue(n > before, "it went on between the captures");
                    assertEquals(n, word(process, at[0]), "the snapshot does not move");
                    inStep(n, word(process, at[1]), "memory that fork leaves out");
                    inStep(n, shared(image, sources, at[2]), "shared memory");
                    array(process, at[3], n);
                    before = n;
                }
            }
            assertEquals(List.of(target.pid), target.processes(), "no snapshot is left");
        }
    }

    private static void inStep(long first, long later, String what) {
        assertTrue(later == first || later == first - 1,
                what + " is at " + later + " while the first word is at " + first);
    }

    private static long word(MemorySource source, long offset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(8, 8);
            source.read(offset, word);
            return word.get(JAVA_LONG, 0);
        }
    }

    private static long shared(JobImage image, List<MemorySource> sources, long address) {
        Region region = image.regions().stream().filter(r -> r.start() == address).findFirst().orElseThrow();
        SharedMemory object = (SharedMemory) image.objects().stream().filter(o -> o.id() == region.backing())
                .findFirst().orElseThrow();
        assertEquals(MemoryKind.ANONYMOUS, object.kind());
        assertEquals(2 * PAGE, object.size());
        MemorySource source =
                sources.stream().filter(s -> !s.process() && s.id() == object.id()).findFirst().orElseThrow();
        assertArrayEquals(new long[]{PAGE, 2 * PAGE}, source.extents(), "the page that was never touched is a hole");
        return word(source, PAGE);
    }

    /** Pages before the cut hold n, the others n - 1: one step down, no step up. */
    private static void array(MemorySource source, long address, long n) {
        long[] extents = source.extents();
        boolean covered = false;
        for (int i = 0; i < extents.length; i += 2) {
            covered |= extents[i] <= address && address + (long) PAGES * PAGE <= extents[i + 1];
        }
        assertTrue(covered, "the array is one extent");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate((long) PAGES * PAGE, 8);
            source.read(address, copy);
            long previous = n;
            for (int page = 0; page < PAGES; page++) {
                long value = copy.get(JAVA_LONG, (long) page * PAGE + page * 8L);
                assertTrue(
                        value == previous || page > 0 && value == n - 1 && previous == n || page == 0 && value == n - 1,
                        "page " + page + " holds " + value + " after " + previous);
                previous = value;
            }
        }
    }
}
