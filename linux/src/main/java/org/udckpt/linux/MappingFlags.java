package org.udckpt.linux;

import java.util.ArrayList;
import java.util.List;

/**
 * What /proc/PID/smaps says of a mapping.
 *
 * @param flags its VmFlags, as "rd wr mr"; and {@link #LOCKED_LATER}, of which the kernel does not tell
 */
public record MappingFlags(long start, long end, String flags) {
    /** Locked in memory (mlock(2)). */
    public static final String LOCKED = "lo";
    /** Pages are locked as they come in (mlock2(2), MLOCK_ONFAULT): locked, and not all are there. */
    public static final String LOCKED_LATER = "lf";
    /** MADV_WIPEONFORK. */
    public static final String WIPED = "wf";

    public boolean has(String flag) {
        return (" " + flags + " ").contains(" " + flag + " ");
    }

    /** Of all mappings, ascending; takes about half as long as a scan of all pages. */
    public static List<MappingFlags> of(int pid) {
        List<MappingFlags> all = new ArrayList<>();
        long start = 0;
        long end = 0;
        String resident = "";
        for (String line : Proc.text("/proc/" + pid + "/smaps").split("\n")) {
            int dash = line.indexOf('-');
            if (line.startsWith("VmFlags:")) {
                all.add(of(start, end, line.substring("VmFlags:".length()).strip(), resident));
            } else if (line.startsWith("Rss:")) {
                resident = line;
            } else if (dash > 0 && line.indexOf(':') > dash && line.indexOf(' ') > dash) {
                start = Long.parseUnsignedLong(line, 0, dash, 16);
                end = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
            }
        }
        return all;
    }

    private static MappingFlags of(long start, long end, String flags, String resident) {
        MappingFlags shown = new MappingFlags(start, end, flags);
        boolean later = shown.has(LOCKED) && kilobytes(resident) < end - start >> 10;
        return later ? new MappingFlags(start, end, flags + " " + LOCKED_LATER) : shown;
    }

    /** Of "Rss:    124 kB". */
    private static long kilobytes(String line) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1, line.length() - " kB".length()).strip());
    }
}
