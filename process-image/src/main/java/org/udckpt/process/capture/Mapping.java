package org.udckpt.process.capture;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Proc;

/** A line of /proc/PID/maps (proc_pid_maps(5)). {@code device} is major:minor in the text's form. */
record Mapping(long start, long end, String permissions, long offset, String device, long inode, String path,
        boolean deleted) {
    private static final String DELETED = " (deleted)", NO_DEVICE = "00:00";

    static List<Mapping> of(int pid) {
        return parse(Proc.text("/proc/" + pid + "/maps"));
    }

    /** The lines of such a file. */
    static List<Mapping> parse(String text) {
        List<Mapping> mappings = new ArrayList<>();
        for (int at = 0; at < text.length();) {
            int end = text.indexOf('\n', at);
            mappings.add(parse(text, at, end));
            at = end + 1;
        }
        return mappings;
    }

    private static Mapping parse(String text, int at, int lineEnd) {
        int dash = text.indexOf('-', at);
        int space1 = text.indexOf(' ', dash);
        int space2 = text.indexOf(' ', space1 + 1);
        int space3 = text.indexOf(' ', space2 + 1);
        int space4 = text.indexOf(' ', space3 + 1);
        int space5 = text.indexOf(' ', space4 + 1);
        int inodeEnd = space5 < 0 || space5 > lineEnd ? lineEnd : space5;
        int name = inodeEnd;
        while (name < lineEnd && text.charAt(name) == ' ') {
            name++;
        }
        String path = text.substring(name, lineEnd).replace("\\012", "\n");
        if (path.startsWith("[anon:")) { // prctl(2), PR_SET_VMA_ANON_NAME
            path = "";
        } else if (path.startsWith("[anon_shmem:")) {
            path = "/dev/zero (deleted)";
        }
        boolean deleted = path.endsWith(DELETED);
        return new Mapping(Long.parseUnsignedLong(text, at, dash, 16),
                Long.parseUnsignedLong(text, dash + 1, space1, 16),
                text.substring(space1 + 1, space2), Long.parseUnsignedLong(text, space2 + 1, space3, 16),
                text.substring(space3 + 1, space4),
                Long.parseUnsignedLong(text, space4 + 1, inodeEnd, 10),
                deleted ? path.substring(0, path.length() - DELETED.length()) : path, deleted);
    }

    boolean shared() {
        return permissions.charAt(3) == 's';
    }

    boolean writable() {
        return permissions.charAt(1) == 'w';
    }

    boolean executable() {
        return permissions.charAt(2) == 'x';
    }

    boolean kernelOwned() {
        return path.startsWith("[v");
    }

    /** The kernel's code in the process: a restart under another kernel needs its bytes. */
    boolean vdso() {
        return path.equals("[vdso]");
    }

    /**
     * Mapped from a file (or an object that looks like one). The first System V segment of an IPC namespace has the
     * number 0.
     */
    boolean file() {
        return inode != 0 || !device.equals(NO_DEVICE);
    }

    boolean covers(long from, long to) {
        return start <= from && to <= end;
    }
}
