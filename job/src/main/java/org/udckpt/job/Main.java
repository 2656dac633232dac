package org.udckpt.job;

import org.udckpt.job.cli.Udckpt;
import org.udckpt.job.launch.RawText;

/** Entry of the udckpt script. */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) {
        System.exit(Udckpt.run(RawText.arguments(arguments)));
    }
}
