package org.udckpt.process.capture;

import java.util.Arrays;
import java.util.List;
import org.udckpt.linux.MappingFlags;
import org.udckpt.linux.Proc;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.VmFlags;

/**
 * Private memory that the fork left out (MADV_DONTFORK) or emptied (MADV_WIPEONFORK): copied from the stopped process
 * itself. The kernel empties also what it may drop (MAP_DROPPABLE), which is told apart when the job runs again, and
 * left out ({@link #forget}).
 */
final class DontForkMemory {
    private DontForkMemory() {}

    static void copy(TracedProcess process, ContentCopy into) {
        List<Mapping> forked = forked(process);
        try (PageScan original = new PageScan(new Pagemap(process, process.task()));
                PageScan fork = new PageScan(new Pagemap(process, process.snapshot.pid()))) {
            copy(process, forked, original, fork, into);
        }
    }

    /** Where the fork is as large as the process, nothing was left out: its mappings need not be read in the stop. */
    private static List<Mapping> forked(TracedProcess process) {
        return pages(process.task()).equals(pages(process.snapshot.pid())) ? process.mappings
                : Mapping.of(process.snapshot.pid());
    }

    /** Of all its mappings: proc(5), statm. */
    private static String pages(int pid) {
        String memory = Proc.text("/proc/" + pid + "/statm");
        return memory.substring(0, memory.indexOf(' '));
    }

    private static void copy(TracedProcess process, List<Mapping> forked, PageScan original, PageScan fork,
            ContentCopy into) {
        int at = 0;
        for (Mapping mapping : process.ownMappings()) {
            while (at < forked.size() && Long.compareUnsigned(forked.get(at).end(), mapping.start()) <= 0) {
                at++;
            }
            boolean missing = at == forked.size() || Long.compareUnsigned(forked.get(at).start(), mapping.start()) > 0;
            if (mapping.kernelOwned() || process.owns(mapping)) {
                continue;
            }
            if (missing && process.flags.isEmpty()) {
                process.readFlags();
            }
            if (!mapping.shared() && (missing || wiped(mapping, original, fork) && isWiped(process, mapping))) {
                copy(process, mapping, into);
            }
        }
    }

    /**
     * A fork has every private page of its parent; a mapping of which it has none although the parent has some was
     * emptied by it. Only memory without a file can be (madvise(2)), and the scans end at the first page.
     */
    private static boolean wiped(Mapping mapping, PageScan original, PageScan fork) {
        return !mapping.file() && !fork.any(mapping.start(), mapping.end())
                && original.any(mapping.start(), mapping.end());
    }

    /** Marks of pages that are not there look like swapped pages, and a fork has none of them (userfaultfd(2)). */
    private static boolean isWiped(TracedProcess process, Mapping mapping) {
        if (process.flags.isEmpty()) {
            process.readFlags();
        }
        MappingFlags flags = process.flags.get(mapping.start());
        return flags != null && (flags.has(MappingFlags.WIPED) || flags.has(VmFlags.DROPPABLE));
    }

    private static void copy(TracedProcess process, Mapping mapping, ContentCopy into) {
        try (PageScan scan = new PageScan(new Pagemap(process, process.task()))) {
            scan.add(mapping.start(), mapping.end(), true);
            long[] ranges = scan.ranges();
            process.dontForkGuards = concat(process.dontForkGuards, scan.guards());
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

    /**
     * What was copied of memory that begins empty ({@link Region#droppable}): a process with nothing else of the sort
     * has a snapshot that writes itself.
     */
    static void forget(TracedProcess process, List<Region> flagged) {
        for (Region region : flagged) {
            if (region.droppable()) {
                process.snapshot.unforked().remove(region.start(), region.end());
            }
        }
    }
}
