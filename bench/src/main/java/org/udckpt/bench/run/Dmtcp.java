package org.udckpt.bench.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The commands of DMTCP (dmtcp_launch(1)), where the user has it. */
final class Dmtcp {
    static final String PROGRAM = "dmtcp_launch";
    static final String ADVICE = "build DMTCP (https://github.com/dmtcp/dmtcp: ./configure && make) and put its bin directory into PATH";

    private Dmtcp() {}

    /** @param interval in whole seconds, as DMTCP counts; zero: no checkpoints */
    static List<String> launch(Duration interval, List<String> command) {
        List<String> words = new ArrayList<>(List.of(PROGRAM, "--new-coordinator", "--quiet"));
        if (!interval.isZero()) {
            words.addAll(List.of("--interval", Long.toString(Math.max(1, interval.toSeconds()))));
        }
        words.addAll(command);
        return words;
    }
}
