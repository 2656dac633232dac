package org.udckpt.cli;

import java.util.Arrays;
import org.udckpt.launch.OwnCommandLine;
import org.udckpt.lifecycle.restart.RestartPreparation;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.PrintableStream;
import org.udckpt.support.report.StandardError;

/** Entry of the udckpt script. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        if (arguments.length > 0 && arguments[0].equals("restart")) {
            RestartPreparation.begin(); // before its words are read, which takes a tenth of the time
        }
        StandardError.install();
        PrintableStream.install();
        int code = run(arguments);
        if (code != 0 || othersRun()) {
            System.exit(code);
        }
        // Else the JVM ends by itself, after the same hooks: System.exit would first look for a logger of exits, and
        // open each jar of the class path for that.
    }

    /** Whether other threads would keep the JVM. */
    private static boolean othersRun() {
        ThreadGroup all = Thread.currentThread().getThreadGroup();
        while (all.getParent() != null) {
            all = all.getParent();
        }
        Thread[] threads = new Thread[all.activeCount() + 16];
        int count = all.enumerate(threads);
        return Arrays.stream(threads, 0, count).anyMatch(one -> one != Thread.currentThread() && !one.isDaemon());
    }

    /** Without the exit: the exit code. */
    public static int run(String... arguments) {
        try {
            return Udckpt.run(OwnCommandLine.arguments(arguments));
        } catch (OutOfMemoryError e) {
            Failure failure = Failure.of("udckpt", e);
            Messages.error(failure.getMessage(), failure);
            return failure.code().value();
        }
    }
}
