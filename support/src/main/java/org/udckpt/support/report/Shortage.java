package org.udckpt.support.report;

import org.udckpt.linux.Limits;
import org.udckpt.linux.LinuxError;

/**
 * Names the limit that a JVM has run into when it gets no memory, no thread or no descriptor, as a shell calls it, with
 * its value (setrlimit(2)).
 */
final class Shortage {
    private static final int FILE_SIZE = 1, PROCESSES = 6, ADDRESS_SPACE = 9;
    private static final long KIBI = 1024;

    private Shortage() {}

    static String text(OutOfMemoryError error) {
        String message = String.valueOf(error.getMessage());
        if (message.contains("native thread")) {
            return "cannot start another thread: 'ulimit -u' is " + value(PROCESSES, 1)
                    + " for all processes of this user together, and a cgroup may allow fewer (pids.max): raise it "
                    + "by 64 and a thread for each rank";
        }
        return "out of memory (" + message + "): 'ulimit -v' is " + value(ADDRESS_SPACE, KIBI)
                + " KiB, and a cgroup may allow less (memory.max)";
    }

    static String fileSize() {
        return "'ulimit -f' is " + value(FILE_SIZE, KIBI) + " KiB: raise it above the size of the job's memory";
    }

    /** Soft, of this process. */
    private static String value(int limit, long unit) {
        try {
            long value = Limits.of((int) ProcessHandle.current().pid())[2 * limit];
            return value == Limits.INFINITY ? "unlimited" : Long.toString(value / unit);
        } catch (LinuxError | OutOfMemoryError e) {
            return "unknown";
        }
    }
}
