package org.udckpt.linux;

import java.util.ArrayList;
import java.util.List;

/**
 * What /proc/PID/smaps says of a mapping.
 *
 * @param flags its VmFlags, as "rd wr mr"; {@link #LOCKED_LATER}, of which older kernels do not tell, and
 *     {@link #KEYED}
 */
public record MappingFlags(long start, long end, String flags) {
    /** mprotect(2) may let it be written to. */
    public static final String MAY_WRITE = "mw";
    /** Locked in memory (mlock(2)). */
    public static final String LOCKED = "lo";
    /** Pages are locked as they come in (mlock2(2), MLOCK_ONFAULT): locked, and not all are there. */
    public static final String LOCKED_LATER = "lf";
    /**
     * It has a memory protection key (pkeys(7)): smaps has a line of its own. That of memory which is for execution
     * only is the kernel's.
     */
    public static final String KEYED = "pk";
    /** MADV_WIPEONFORK. */
    public static final String WIPED = "wf";

    public boolean has(String flag) {
        return (" " + flags + " ").contains(" " + flag + " ");
    }

    /** The flags of all mappings, ascending; takes about half as long as a scan of all pages. */
    public static List<MappingFlags> of(int pid) {
        return parse(Proc.text("/proc/" + pid + "/smaps"));
    }

    static List<MappingFlags> parse(String smaps) {
        List<MappingFlags> all = new ArrayList<>();
        long start = 0;
        long end = 0;
        String resident = "";
        boolean keyed = false;
        boolean executable = false;
        for (String line : smaps.split("\n")) {
            int dash = line.indexOf('-');
            if (line.startsWith("VmFlags:")) {
                String flags = line.substring("VmFlags:".length()).strip();
                all.add(of(start, end, keyed && !executable ? flags + " " + KEYED : flags, resident));
            } else if (line.startsWith("ProtectionKey:")) {
                keyed = !line.endsWith(" 0");
            } else if (line.startsWith("Rss:")) {
                resident = line;
            } else if (dash > 0 && line.indexOf(':') > dash && line.indexOf(' ') > dash) {
                start = Long.parseUnsignedLong(line, 0, dash, 16);
                end = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
                executable = line.startsWith("--x", line.indexOf(' ') + 1);
                keyed = false;
            }
        }
        return all;
    }

    private static MappingFlags of(long start, long end, String flags, String resident) {
        MappingFlags shown = new MappingFlags(start, end, flags);
        boolean later = shown.has(LOCKED) && !shown.has(LOCKED_LATER) && kilobytes(resident) < end - start >> 10;
        return later ? new MappingFlags(start, end, flags + " " + LOCKED_LATER) : shown;
    }

    /** The number of a line like "Rss:    124 kB". */
    private static long kilobytes(String line) {
        return Long.parseLong(line.substring(line.indexOf(':') + 1, line.length() - " kB".length()).strip());
    }
}
