package org.udckpt.process.capture;

import java.util.stream.Stream;
import org.udckpt.linux.Files;

/**
 * Which of the numbers in a line NSpid, NStgid, NSpgid or NSsid (proc_pid_status(5)), that has one for each pid
 * namespace from this process's on, is the job's: that of the namespace in which it was started.
 */
final class PidLevels {
    private static final String HERE = Files.readLink("/proc/self/ns/pid");

    private final int level;
    private final String namespace;

    /** @param origin a process in that namespace */
    PidLevels(TaskStatus origin, int pid) {
        level = numbers(origin.field("NSpid:")).length - 1;
        namespace = Files.readLink("/proc/" + pid + "/ns/pid");
    }

    private static String[] numbers(String line) {
        return line.strip().split("\\s+");
    }

    /** As the job numbers it. */
    int job(String line) {
        return Integer.parseInt(numbers(line)[level]);
    }

    /** In each namespace below, the outermost first; 0: that has no number for it. */
    int[] below(String line) {
        return Stream.of(numbers(line)).skip(level + 1L).mapToInt(Integer::parseInt).toArray();
    }

    /** How many namespaces below the job's it is in. */
    int depth(String line) {
        return numbers(line).length - 1 - level;
    }

    /** How many numbers there are up to the job's. */
    int count() {
        return level + 1;
    }

    /** Whether the job's numbers are this process's. */
    boolean here() {
        return HERE.equals(namespace);
    }
}
