package org.udckpt.agent;

import org.udckpt.linux.Limits;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Whether the limit of open files lets an agent have its ranks. A JVM has raised its own to the hard one; the ranks
 * have the shell's.
 */
final class OpenFileLimit {
    private static final int NUMBER = 7; // RLIMIT_NOFILE
    /** Jars, sockets and tables; connections of each rank, and what a checkpoint has open of it: 93 and 5 were seen. */
    private static final int AGENT = 160, RANK = 8;

    private OpenFileLimit() {}

    /** @throws Failure naming the limit and the value that is needed */
    static void require(int ranks) {
        long limit = Limits.of((int) ProcessHandle.current().pid())[2 * NUMBER];
        long needed = AGENT + (long) RANK * ranks;
        if (limit != Limits.INFINITY && limit < needed) {
            throw new Failure(ExitCode.UNSUPPORTED, "ulimit -n is " + limit + ", and the agent of " + ranks
                    + " ranks needs at least " + needed + ": raise it (ulimit -Hn " + needed
                    + "), or ask your administrator");
        }
    }
}
