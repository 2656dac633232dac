package org.udckpt.process.capture;

import java.util.Arrays;
import org.udckpt.linux.Proc;

/**
 * A /proc/PID/status or /proc/PID/task/TID/status (proc_pid_status(5)), read once in a stop and looked at by all
 * checks. A lookup begins where the one before ended: in the order of the lines, all lookups together pass the text
 * once. Threads may share one: they lose time to each other's lookups, and nothing else.
 */
final class TaskStatus {
    private final String text;
    /** Where each line begins; then the end. */
    private final int[] starts;
    /** Where the next lookup begins. */
    private int next;

    TaskStatus(String text) {
        this.text = text;
        int lines = 0;
        int[] found = new int[80];
        for (int at = 0; at < text.length(); lines++) {
            if (lines + 1 == found.length) {
                found = Arrays.copyOf(found, 2 * lines);
            }
            found[lines] = at;
            int end = text.indexOf('\n', at);
            at = end < 0 ? text.length() : end + 1;
        }
        found[lines] = text.length();
        starts = Arrays.copyOf(found, lines + 1);
    }

    static TaskStatus of(int pid, int tid) {
        return new TaskStatus(Proc.whole("/proc/" + pid + "/task/" + tid + "/status"));
    }

    /** The value after {@code key} (with its colon), trimmed, or null. */
    String field(String key) {
        int line = find(key);
        return line < 0 ? null : text.substring(starts[line] + key.length(), starts[line + 1]).strip();
    }

    /** Whether {@code other} has the same value; also true where this one has none. */
    boolean agrees(String key, TaskStatus other) {
        int line = find(key);
        int others = line < 0 ? -1 : other.find(key);
        return line < 0 || others >= 0 && line(line).equals(other.line(others));
    }

    private String line(int line) {
        return text.substring(starts[line], starts[line + 1]);
    }

    /** The first line that begins with it, or -1: no key is another one's beginning, for it ends with a colon. */
    private int find(String key) {
        int lines = starts.length - 1;
        for (int i = 0, line = next; i < lines; i++, line++) {
            line = line == lines ? 0 : line;
            if (text.startsWith(key, starts[line])) {
                next = line + 1 == lines ? 0 : line + 1;
                return line;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        return text;
    }
}
