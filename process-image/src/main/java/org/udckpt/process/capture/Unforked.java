package org.udckpt.process.capture;

import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.MappingFlags;

/**
 * Private memory that the fork left out (MADV_DONTFORK): copied from the stopped process itself. What the fork emptied (MADV_WIPEONFORK, MAP_DROPPABLE) is meant
 * to be empty in a copy of the process, and an image is one ({@link org.udckpt.process.model.Region#wiped}).
 */
final class Unforked {
    private Unforked() {}

    static void copy(TracedProcess process, ContentCopy into) {
        List<Mapping> forked = Mapping.of(process.snapshot.pid());
        int at = 0;
        for (Mapping mapping : process.mappings) {
            while (at < forked.size() && Long.compareUnsigned(forked.get(at).end(), mapping.start()) <= 0) {
                at++;
            }
            boolean missing = at == forked.size() || Long.compareUnsigned(forked.get(at).start(), mapping.start()) > 0;
            if (!missing || mapping.kernelOwned() || process.owns(mapping)) {
                continue;
            }
            if (process.flags.isEmpty()) {
                process.readFlags();
            }
            if (!mapping.shared() && !process.flags.get(mapping.start()).has(MappingFlags.WIPED)) {
                copy(process, mapping, into);
            }
        }
    }

    private static void copy(TracedProcess process, Mapping mapping, ContentCopy into) {
        try (PageScan scan = new PageScan(process.pid)) {
            scan.add(mapping.start(), mapping.end());
            long[] ranges = scan.ranges();
            process.unforkedGuards = concat(process.unforkedGuards, scan.guards());
            for (int i = 0; i < ranges.length; i += 2) {
                into.memory(process.memory, ranges[i], ranges[i], ranges[i + 1] - ranges[i]);
            }
        }
    }

    private static long[] concat(long[] a, long[] b) {
        long[] all = Arrays.copyOf(a, a.length + b.length);
        System.arraycopy(b, 0, all, a.length, b.length);
        return all;
    }
}
