package org.udckpt.process.capture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.layout.Layout;
import org.udckpt.process.kinds.iouring.RingNotes;
import org.udckpt.process.model.AddressRanges;

/**
 * Pinned memory of a process: what writes there by its physical address leaves no trace in the page tables. Of regions
 * that are registered with a verbs device the preloaded library has a list (real_regions.c).
 */
final class PinnedMemory {
    private static final String SYMBOL = "udckpt_device_regions";
    private static final long PAGE = 4096, LAST = Long.MAX_VALUE & -PAGE;

    private PinnedMemory() {}

    /**
     * Of a process that has some, in its stop: {start, end} pairs of whole pages, ascending, of what devices may write
     * to; null when it is not known whose all of it is.
     */
    static long[] written(TracedProcess process) {
        long address = process.libraryData(SYMBOL, Layout.DeviceRegions.SIZE);
        if (address == 0 || RingNotes.any(process)) {
            return null;
        }
        ByteBuffer head = bytes(process, address, Layout.DeviceRegions.ENTRIES);
        int used = head.getInt(Layout.DeviceRegions.USED);
        if (used <= 0 || used > Layout.DEVICE_REGIONS || head.getInt(Layout.DeviceRegions.UNLISTED) != 0) {
            return null;
        }
        return pages(bytes(process, address + Layout.DeviceRegions.ENTRIES, used * Layout.DeviceRegion.SIZE));
    }

    private static ByteBuffer bytes(TracedProcess process, long address, int length) {
        return ByteBuffer.wrap(process.read(address, length)).order(ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * The table is the process's own memory, which it may have written anything to: what is no range is passed over, as
     * the device knows no such region.
     *
     * @param table entries of struct device_region
     */
    static long[] pages(ByteBuffer table) {
        List<long[]> regions = new ArrayList<>();
        for (int at = 0; at < table.limit(); at += Layout.DeviceRegion.SIZE) {
            long start = table.getLong(at + Layout.DeviceRegion.START) & -PAGE;
            long end = table.getLong(at + Layout.DeviceRegion.END);
            long whole = end < 0 || end > LAST ? LAST : end + PAGE - 1 & -PAGE; // beyond is the kernel's
            if (start >= 0 && start < whole) {
                regions.add(new long[]{start, whole});
            }
        }
        return AddressRanges.union(regions);
    }
}
