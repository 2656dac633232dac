package org.udckpt.linux;

/**
 * The resource limits of another process (setrlimit(2)); prlimit(2) wants CAP_SYS_RESOURCE for those of another user's.
 */
public final class Limits {
    private static final int COUNT = 16, NAME_WIDTH = 25;
    public static final long INFINITY = -1;
    /** What each is called, and how a shell sets it. */
    public static final String[][] NAMES = {{"processor time", "ulimit -Ht"}, {"the size of files", "ulimit -Hf"},
            {"data", "ulimit -Hd"}, {"the stack", "ulimit -Hs"}, {"core files", "ulimit -Hc"},
            {"resident memory", "ulimit -Hm"}, {"processes", "ulimit -Hu"}, {"open files", "ulimit -Hn"},
            {"locked memory", "ulimit -Hl"}, {"address space", "ulimit -Hv"}, {"locks", "ulimit -Hx"},
            {"pending signals", "ulimit -Hi"}, {"message queues", "ulimit -Hq"}, {"nice values", "ulimit -He"},
            {"real-time priorities", "ulimit -Hr"}, {"real time", "prlimit --rttime"}};

    private Limits() {}

    /**
     * {soft, hard} of each, by their numbers: /proc/PID/limits has a line for each in this order (proc_pid_limits(5)).
     */
    public static long[] of(int pid) {
        long[] limits = new long[2 * COUNT];
        String text = Proc.whole("/proc/" + pid + "/limits");
        int line = text.indexOf('\n') + 1; // the first has the names of the columns
        for (int i = 0; i < COUNT; i++) {
            int soft = start(text, line + NAME_WIDTH);
            int hard = start(text, text.indexOf(' ', soft));
            limits[2 * i] = value(text.substring(soft, text.indexOf(' ', soft)));
            limits[2 * i + 1] = value(text.substring(hard, text.indexOf(' ', hard)));
            line = text.indexOf('\n', hard) + 1;
        }
        return limits;
    }

    /** Start of the next word. */
    private static int start(String text, int at) {
        while (text.charAt(at) == ' ') {
            at++;
        }
        return at;
    }

    public static String text(long limit) {
        return limit == INFINITY ? "unlimited" : Long.toUnsignedString(limit);
    }

    private static long value(String text) {
        return text.equals("unlimited") ? INFINITY : Long.parseUnsignedLong(text);
    }
}
