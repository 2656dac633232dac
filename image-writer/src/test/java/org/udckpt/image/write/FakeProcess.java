package org.udckpt.image.write;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.udckpt.image.Range;
import org.udckpt.image.read.MemoryReader;

/** A process whose memory is random: ranges with gaps, some pages of zeros, some runs of them. */
public final class FakeProcess implements PageSource {
    public final int id;
    public final TreeMap<Long, byte[]> memory = new TreeMap<>();

    public FakeProcess(int id, Random random, int ranges, int mostPages) {
        this.id = id;
        long address = 0x400000;
        for (int i = 0; i < ranges; i++) {
            int pages = 1 + random.nextInt(mostPages);
            memory.put(address, content(random, pages));
            address += (long) (pages + random.nextInt(3)) * Range.PAGE;
        }
    }

    private static byte[] content(Random random, int pages) {
        byte[] bytes = new byte[pages * Range.PAGE];
        boolean zero = random.nextBoolean();
        for (int page = 0; page < pages; page++) {
            if (random.nextInt(5) == 0) {
                zero = !zero;
            }
            if (!zero && random.nextInt(4) == 0) {
                byte[] noise = new byte[Range.PAGE];
                random.nextBytes(noise);
                System.arraycopy(noise, 0, bytes, page * Range.PAGE, Range.PAGE);
            } else if (!zero) {
                // One byte is enough to make a page count, wherever it is.
                bytes[page * Range.PAGE + random.nextInt(Range.PAGE)] = (byte) (1 + random.nextInt(255));
            }
        }
        return bytes;
    }

    /** Writes to a few pages, clears some, takes away and adds ranges. */
    public void goOn(Random random) {
        for (byte[] bytes : memory.values()) {
            for (int page = 0; page < bytes.length / Range.PAGE; page++) {
                switch (random.nextInt(12)) {
                    case 0 -> bytes[page * Range.PAGE + random.nextInt(Range.PAGE)]++;
                    case 1 -> Arrays.fill(bytes, page * Range.PAGE, (page + 1) * Range.PAGE, (byte) 0);
                    default -> {
                    }
                }
            }
        }
        if (random.nextInt(3) == 0 && memory.size() > 1) {
            memory.remove(memory.firstKey());
        }
        if (random.nextInt(3) == 0) {
            memory.put(memory.lastEntry().getKey() + memory.lastEntry().getValue().length + 5L * Range.PAGE,
                    content(random, 1 + random.nextInt(20)));
        }
    }

    public List<Range> ranges() {
        List<Range> ranges = new ArrayList<>();
        memory.forEach((address, bytes) -> ranges.add(new Range(address, bytes.length)));
        return ranges;
    }

    public long bytes() {
        return memory.values().stream().mapToLong(bytes -> bytes.length).sum();
    }

    @Override
    public long read(long address, MemorySegment into) throws IOException {
        var entry = memory.floorEntry(address);
        int at = Math.toIntExact(address - entry.getKey());
        MemorySegment.copy(entry.getValue(), at, into, ValueLayout.JAVA_BYTE, 0, (int) into.byteSize());
        return into.byteSize();
    }

    public void assertEqualTo(MemoryReader reader) throws IOException {
        for (var entry : memory.entrySet()) {
            byte[] back = new byte[entry.getValue().length];
            reader.read(entry.getKey(), MemorySegment.ofArray(back));
            if (!Arrays.equals(back, entry.getValue())) {
                throw new AssertionError(
                        "process " + id + ": memory at 0x" + Long.toHexString(entry.getKey()) + " differs at "
                                + Arrays.mismatch(back, entry.getValue()));
            }
        }
    }
}
