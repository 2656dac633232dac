package org.udckpt.process.restore.lazy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.ThreadState;
import org.udckpt.process.trace.Registers;

/**
 * Which mappings of a process are filled after its start: whole ones, since a mapping that is registered in part is two
 * mappings for mremap(2). All else is filled before, above all what cannot wait for a page (docs/internals/restore.md).
 *
 * @param regions ascending, with contents in the image
 */
public record LazyPlan(List<Region> regions) {
    private static final long PAGE = 4096, RED_ZONE = 128, STACK_TOP = 1 << 16;
    /** smaps' VmFlags: locked, grows down, wiped at fork, huge TLB pages, sealed, droppable. */
    private static final Set<String> BEFORE = Set.of("lo", "gd", "wf", "ht", "sl", "dp");

    /**
     * @param extents {start, end} pairs: where the image has contents
     * @param least a mapping waits when it has so many bytes of them
     */
    public static LazyPlan of(List<Region> regions, long[] extents, long least) {
        return new LazyPlan(
                regions.stream().filter(region -> canWait(region) && contents(region, extents) >= least).toList());
    }

    private static boolean canWait(Region region) {
        boolean anonymous =
                region.path().isEmpty() || region.path().equals("[heap]") || region.path().startsWith("[anon:");
        return anonymous && !region.shared() && region.backing() == 0
                && Arrays.stream(region.vmFlags().split(" ")).noneMatch(BEFORE::contains);
    }

    private static long contents(Region region, long[] extents) {
        long bytes = 0;
        for (int i = 0; i < extents.length; i += 2) {
            bytes += Math.max(0, Math.min(extents[i + 1], region.end()) - Math.max(extents[i], region.start()));
        }
        return bytes;
    }

    /** Bytes that can wait. */
    public long bytes(long[] extents) {
        return regions.stream().mapToLong(region -> contents(region, extents)).sum();
    }

    /**
     * The memory that is missing at first.
     *
     * @param pieces {@link org.udckpt.process.model.MemorySource#pieces}
     */
    Missing missing(long[] pieces) {
        Missing missing = new Missing();
        for (Region region : regions) {
            for (int i = 0; i < pieces.length; i += 2) {
                missing.add(new Missing.Part(Math.max(pieces[i], region.start()), Math.min(pieces[i + 1], region.end()),
                        0, pieces[i]));
            }
        }
        return missing;
    }

    /**
     * Addresses that each thread uses as soon as it runs, or that the kernel keeps for it: {start, end} pairs of pages.
     */
    public static List<long[]> atOnce(List<ThreadState> threads) {
        List<long[]> ranges = new ArrayList<>();
        for (ThreadState thread : threads) {
            Registers registers = Registers.of(thread.registers());
            long stack = registers.get(Registers.RSP);
            ranges.add(pages(stack - RED_ZONE, STACK_TOP));
            for (long address : new long[]{registers.get(Registers.FS_BASE), thread.rseqAddress(), thread.robustList(),
                    thread.clearChildTid()}) {
                ranges.add(pages(address, 1));
            }
        }
        return ranges;
    }

    private static long[] pages(long address, long bytes) {
        return new long[]{address & -PAGE, address + bytes + PAGE - 1 & -PAGE};
    }
}
