package org.udckpt.job;

import org.udckpt.job.cli.Udckpt;
import org.udckpt.job.launch.RawText;
import org.udckpt.job.report.Failure;
import org.udckpt.job.report.Messages;
import org.udckpt.job.report.PrintableStream;
import org.udckpt.job.report.StandardError;

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
            return Udckpt.run(RawText.arguments(arguments));
        } catch (OutOfMemoryError e) {
            Failure failure = Failure.of("udckpt", e);
            Messages.error(failure.getMessage(), failure);
            return failure.code().value();
        }
    }
}
