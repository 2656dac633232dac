package org.udckpt.process.kinds.named;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.process.kinds.base.ObjectKind;
import org.udckpt.process.model.KernelObject;

/**
 * A file of a process or thread in /proc that has ended and was waited for: calls of it fail, or go on with what it
 * holds itself.
 *
 * @param path as the job's /proc had it when the process was there
 */
public record EndedProcessFile(long id, String path, int flags, long position) implements KernelObject {
    private static final long KEYS = -(1L << 32);
    private static final Pattern PARTS = Pattern.compile("/proc/(\\d{1,9})(?:/task/(\\d{1,9}))?(/.*)?");

    /** Whether it is a path of a file of a process. */
    public static boolean isPath(String path) {
        return PARTS.matcher(path).matches();
    }

    /** The key of the child whose file it is after a restart ({@link ObjectKind#endingChild}). */
    public long endingChild() {
        return KEYS - owner();
    }

    /** What has ended: a thread, or a process. */
    private int owner() {
        Matcher parts = parts();
        return Integer.parseInt(parts.group(parts.group(2) == null ? 1 : 2));
    }

    /** The same file of another process. */
    public String of(int pid) {
        Matcher parts = parts();
        return "/proc/" + pid + (parts.group(2) == null ? "" : "/task/" + pid)
                + (parts.group(3) == null ? "" : parts.group(3));
    }

    private Matcher parts() {
        Matcher parts = PARTS.matcher(path);
        if (!parts.matches()) {
            throw new IllegalStateException(path);
        }
        return parts;
    }
}
