package org.udckpt.cli.bisect;

import java.util.List;
import org.udckpt.store.ProcessChoice;

/**
 * The question to a process in each checkpoint, and then while it runs again.
 *
 * @param process by its rank, its pid or both
 * @param expression as gdb evaluates it, in the language of the frame; true is what is not zero
 * @param frame a function on the stack whose variables it names; null: the innermost frame, which is enough for what is
 *     not local
 * @param place where it is looked at when the job runs again, as gdb names places; null: whenever its value changes
 */
public record Question(ProcessChoice process, String expression, String frame, String place) {
    static final String TRUE = "@udckpt true", FALSE = "@udckpt false", BEGIN = "@udckpt begin",
            RUNNING = "@udckpt running", STOPPED = "@udckpt stopped";

    /** Commands for the core file; {@code thread} is gdb's number. */
    List<String> inCore(int thread) {
        return List.of("thread " + thread, select(), "if (" + expression + ")", "echo \\n" + TRUE + "\\n", "else",
                "echo \\n" + FALSE + "\\n", "end");
    }

    /**
     * Commands for the process that runs again: until it is true, or the process has ended; then what is to be seen
     * there.
     *
     * @param marked for a program that reads what gdb prints
     */
    List<String> inProcess(boolean marked) {
        return List.of(select(),
                place == null ? "watch " + expression : "break " + place + " if " + expression,
                "set $udckpt_more = 1",
                "while $udckpt_more",
                mark(marked, RUNNING),
                "continue",
                "if !$_isvoid($_exitcode) || !$_isvoid($_exitsignal)",
                "set $udckpt_more = 0",
                "else",
                "if (" + expression + ")",
                "set $udckpt_more = 0",
                "end",
                "end",
                "end",
                "if $_isvoid($_exitcode) && $_isvoid($_exitsignal)",
                mark(marked, STOPPED),
                "with pagination off -- backtrace",
                "with pagination off -- info locals",
                "end");
    }

    private static String mark(boolean marked, String mark) {
        return "echo \\n" + (marked ? mark + "\\n" : "");
    }

    private String select() {
        return frame == null ? "frame" : "frame function " + frame;
    }
}
