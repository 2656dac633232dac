package org.udckpt.cli;

import org.udckpt.launch.OwnCommandLine;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.support.report.PrintableStream;
import org.udckpt.support.report.StandardError;

/** Entry of the udckpt script. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        StandardError.install();
        PrintableStream.install();
        System.exit(run(arguments));
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
