package org.udckpt.linux;

/** The resource limits of another process (setrlimit(2)); prlimit(2) wants CAP_SYS_RESOURCE for those of another user's. */
public final class Limits {
    private static final int COUNT = 16, NAME_WIDTH = 25;
    public static final long INFINITY = -1;

    private Limits() {}

    /** {soft, hard} of each, by their numbers: /proc/PID/limits has a line for each in this order (proc_pid_limits(5)). */
    public static long[] of(int pid) {
        long[] limits = new long[2 * COUNT];
        String[] lines = Proc.text("/proc/" + pid + "/limits").split("\n");
        for (int i = 0; i < COUNT; i++) {
            String[] words = lines[1 + i].substring(NAME_WIDTH).strip().split("\\s+");
            limits[2 * i] = value(words[0]);
            limits[2 * i + 1] = value(words[1]);
        }
        return limits;
    }

    private static long value(String text) {
        return text.equals("unlimited") ? INFINITY : Long.parseUnsignedLong(text);
    }
}
