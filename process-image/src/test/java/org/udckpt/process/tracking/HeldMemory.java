package org.udckpt.process.tracking;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.Unwritten;

/**
 * What a process held at a checkpoint, by page: against it is shown that what is said to be unwritten since is.
 *
 * @param number of the process in the checkpoint
 */
public record HeldMemory(long checkpoint, int number, Map<Long, Long> pages) {
    private static final int PAGE = 4096;

    /** Before the first one. */
    public static HeldMemory nothing() {
        return new HeldMemory(0, 0, Map.of());
    }

    /** Reads all of it. */
    public static HeldMemory of(MemorySource source, long checkpoint, int number) {
        return new HeldMemory(checkpoint, number, read(source));
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

    /**
     * Fails where something is said to be as at this checkpoint and is not.
     *
     * @param now what it holds at the next one
     * @return how many pages need not be read
     */
    public long check(Unwritten said, HeldMemory now, String when) {
        if (said.checkpoint() == 0) {
            return 0;
        }
        requireSame(List.of(checkpoint, number), List.of(said.checkpoint(), said.process()), when);
        long unread = 0;
        for (int i = 0; i < said.unchanged().length; i += 2) {
            for (long at = said.unchanged()[i]; at < said.unchanged()[i + 1]; at += PAGE) {
                Long is = now.pages.get(at);
                Long was = pages.get(at);
                if (is != null && was != null) { // else the image has no bytes of it, or it is read
                    requireSame(was, is, when + ": the page at 0x" + Long.toHexString(at));
                    unread++;
                }
            }
        }
        return unread;
    }

    /** Not by JUnit: the feature programs of an ordinary user run without it. */
    private static void requireSame(Object was, Object is, String when) {
        if (!was.equals(is)) {
            throw new AssertionError(when + ": was " + was + ", is " + is);
        }
    }
}
