package org.udckpt.inspect.debug;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The commands by which gdb gets its processes. They wait in a job-control stop, which would begin again when gdb lets
 * go of them (ptrace(2), PTRACE_DETACH of a group-stop), so SIGCONT ends it when gdb has them; gdb passes that on in
 * silence, and it does nothing to a program without a handler.
 */
final class GdbScript {
    private final List<String> lines = new ArrayList<>();

    /**
     * @param attached a file that is made when gdb has all of them
     * @param go       one for which it waits then, as long as this process lives: what it does next must not go unseen
     */
    GdbScript(List<Debuggee> processes, Path attached, Path go) {
        lines.add("set sysroot"); // the files are this machine's, whatever namespace the job is in
        lines.add("handle SIGCONT nostop noprint pass");
        if (processes.size() > 1) {
            lines.add("set schedule-multiple on"); // "continue" lets all of them go
        }
        for (int i = 0; i < processes.size(); i++) {
            if (i > 0) {
                lines.add("add-inferior");
                lines.add("inferior " + (i + 1));
            }
            lines.add("attach " + processes.get(i).hostPid());
            if (!processes.get(i).state().jobStopped()) {
                lines.add("shell kill -CONT " + processes.get(i).hostPid());
            }
        }
        if (processes.size() > 1) {
            lines.add("inferior 1");
        }
        lines.add("shell : >" + quoted(attached.toString()) + "; while [ ! -e " + quoted(go.toString())
                + " ] && kill -0 " + ProcessHandle.current().pid()
                + " 2>/dev/null; do sleep 0.02; done");
    }

    /** For the shell: all but the quote itself is plain within quotes. */
    private static String quoted(String text) {
        return "'" + text.replace("'", "'\\''") + "'";
    }

    /** What gdb is to do next. */
    GdbScript then(List<String> commands) {
        lines.addAll(commands);
        return this;
    }

    String text() {
        return String.join("\n", lines) + "\n";
    }
}
