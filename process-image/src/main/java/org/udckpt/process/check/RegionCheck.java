package org.udckpt.process.check;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.udckpt.process.kinds.base.CheckedImage;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.GuardPages;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.Region;
import org.udckpt.process.model.RowCheck;

/** Mappings: where they are, and that none covers another; guard pages in them. */
final class RegionCheck {
    /** Addresses of programs with five levels of page tables. */
    private static final long END = 1L << 56;
    /** The page of old system calls: the same for all programs (VSYSCALL_ADDR, asm/vsyscall.h). */
    private static final long VSYSCALL = 0xffff_ffff_ff60_0000L;
    private static final int MOST_FLAGS = 64 * 3; // a flag for each bit
    private static final Pattern PERMISSIONS = Pattern.compile("[r-][w-][x-][ps]");
    private static final Pattern FLAGS = Pattern.compile("(?:\\S\\S(?: \\S\\S)*)?");

    private final JobImage image;
    private final Set<Integer> pids;
    private final Set<Long> shared;
    /** Well-formed texts: thousands of regions have a few of them. */
    private final Set<String> permissions = new HashSet<>();
    private final Set<String> flags = new HashSet<>();

    /** @param shared ids of the shared memories */
    RegionCheck(JobImage image, Set<Integer> pids, Set<Long> shared) {
        this.image = image;
        this.pids = pids;
        this.shared = shared;
    }

    private static boolean matches(Pattern pattern, String text, Set<String> known) {
        return known.contains(text) || pattern.matcher(text).matches() && known.add(text);
    }

    void check() throws BrokenTable {
        RowCheck row = new RowCheck("regions");
        Map<Integer, TreeMap<Long, Long>> seen = new HashMap<>();
        for (Region region : image.regions()) {
            row.next();
            row.require(pids.contains(region.pid()), "pid %d is not a process of the image", region.pid());
            row.text("path", region.path());
            if (region.path().equals("[vsyscall]")) { // at the end of all addresses, a negative number here
                row.require(region.start() == VSYSCALL, "start 0x%x is not the address of [vsyscall]", region.start());
                row.require(region.end() == VSYSCALL + RowCheck.PAGE, "end 0x%x is not the end of [vsyscall]",
                        region.end());
            } else {
                range(row, region.start(), region.end());
            }
            row.text("permissions", region.permissions());
            row.text("vmFlags", region.vmFlags());
            row.length("permissions", region.permissions().length(), 4, 4, 1);
            row.length("vmFlags", region.vmFlags().length(), 0, MOST_FLAGS, 1);
            row.require(matches(PERMISSIONS, region.permissions(), permissions),
                    "permissions are malformed (length %d), expected such as rw-p", region.permissions().length());
            row.require(matches(FLAGS, region.vmFlags(), flags),
                    "vmFlags are malformed (length %d), expected such as rd wr mr", region.vmFlags().length());
            row.require(region.fileOffset() % RowCheck.PAGE == 0, "fileOffset 0x%x is not a multiple of the page size",
                    region.fileOffset());
            row.require(region.backing() == 0 || shared.contains(region.backing()),
                    CheckedImage.NOT_SHARED_MEMORY, region.backing());
            TreeMap<Long, Long> others = seen.computeIfAbsent(region.pid(), _ -> new TreeMap<>());
            Map.Entry<Long, Long> before = others.lowerEntry(region.end());
            if (before != null && before.getValue() > region.start()) {
                throw row.broken("mapping at 0x" + Long.toHexString(region.start())
                        + " overlaps the mapping at 0x" + Long.toHexString(before.getKey()));
            }
            others.put(region.start(), region.end());
        }
        guards(seen);
    }

    private void guards(Map<Integer, TreeMap<Long, Long>> regions) throws BrokenTable {
        RowCheck row = new RowCheck("guard-pages");
        for (GuardPages guard : image.guards()) {
            row.next();
            row.require(pids.contains(guard.pid()), "pid %d is not a process of the image", guard.pid());
            range(row, guard.start(), guard.end());
            Map.Entry<Long, Long> around = regions.getOrDefault(guard.pid(), new TreeMap<>()).floorEntry(guard.start());
            if (around == null || around.getValue() < guard.end()) {
                throw row.broken("guard pages 0x" + Long.toHexString(guard.start()) + " to 0x"
                        + Long.toHexString(guard.end()) + " are not inside a mapping");
            }
        }
    }

    static void range(RowCheck row, long start, long end) throws BrokenTable {
        if (start < 0 || start >= end || end > END || (start | end) % RowCheck.PAGE != 0) {
            throw row.broken("0x" + Long.toHexString(start) + " to 0x" + Long.toHexString(end)
                    + " is not a page-aligned address range");
        }
    }
}
