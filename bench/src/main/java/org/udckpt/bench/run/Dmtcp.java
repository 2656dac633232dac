package org.udckpt.bench.run;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands of DMTCP (dmtcp_launch(1), dmtcp_command(1), dmtcp_restart(1)), where the user has it. Its images are
 * not compressed, as ours are not.
 */
final class Dmtcp {
    static final String PROGRAM = "dmtcp_launch";
    static final String ADVICE =
            "build DMTCP (https://github.com/dmtcp/dmtcp: ./configure && make) and put its bin directory into PATH";
    /**
     * Over TCP, and without what version 4.2 does not survive of MPI libraries here: hwloc keeps a directory of
     * /sys/block open, UCX looks for all segments of System V and patches mmap(2). The native runs that it is compared
     * with have the same.
     */
    static final Map<String, String> ENVIRONMENT = Map.of("UCX_TLS", "tcp,self", "HWLOC_COMPONENTS", "-linuxio",
            "UCX_MEM_EVENTS", "n", "DMTCP_SVIPC_PLUGIN", "0");
    /** In the working directory, as all files below. */
    static final String IMAGES = "dmtcp";
    private static final Pattern PEERS = Pattern.compile("NUM_PEERS=(\\d{1,9})");

    private Dmtcp() {}

    /** @param interval in whole seconds, as DMTCP counts; zero: no checkpoints */
    static List<String> launch(Duration interval, List<String> command) {
        List<String> words = coordinated(PROGRAM);
        words.add("--no-gzip");
        if (!interval.isZero()) {
            words.addAll(List.of("--interval", Long.toString(Math.max(1, interval.toSeconds()))));
        }
        words.addAll(command);
        return words;
    }

    static List<String> restart(List<String> images) {
        List<String> words = coordinated("dmtcp_restart");
        words.addAll(images);
        return words;
    }

    /** With a coordinator of its own, that ends with it and says in {@link #portFile} where it listens. */
    private static List<String> coordinated(String program) {
        return new ArrayList<>(List.of(program, "--new-coordinator", "--quiet", "--port-file", portFile(program),
                "--ckptdir", IMAGES));
    }

    static String portFile(String program) {
        return program + ".port";
    }

    /** @param command such as --status */
    static List<String> command(int port, String command) {
        return List.of("dmtcp_command", "--coord-port", Integer.toString(port), command);
    }

    /** How many processes run, by what --status prints; 0 while they do not. */
    static int running(List<String> status) {
        String text = String.join("\n", status);
        Matcher peers = PEERS.matcher(text);
        return text.contains("RUNNING=yes") && peers.find() ? Integer.parseInt(peers.group(1)) : 0;
    }
}
