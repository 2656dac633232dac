package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.udckpt.hosts.Host;

/**
 * A real MPI job on four hosts (2 to 5; 6 to 8 are spares, the lead is on 1), which takes checkpoints by itself and
 * restarts itself, for tests that disturb it. Kept when the test fails.
 */
final class DisturbedJob implements AutoCloseable {
    static final int HOSTS = 4, SPARES = 3;
    private static final int SECONDS = 240;
    private static final String[] PROGRAM = {"--", CommandLine.artifact("programs/stencil_cg").toString(), "--grid",
            "8", "--solves", "150", "--ballast", "2"};

    final SeveralHosts hosts = new SeveralHosts(1 + HOSTS + SPARES);
    final Process lead;
    private boolean leadKilled;

    /** Its first checkpoint is there. @param what is disturbed, for messages. @param options of {@code run}, besides */
    DisturbedJob(String what, int fanOut, String... options) throws Exception {
        List<String> words = new ArrayList<>(
                List.of("--name", "job", "--dir", images(), "--hosts", hosts.hosts(1, 2, 3, 4, 5, 6, 7, 8),
                        "--spares", Integer.toString(SPARES), "--interval", "2s", "--restart-on-failure", "6",
                        "--fan-out", Integer.toString(fanOut)));
        words.addAll(List.of(options));
        words.addAll(List.of(PROGRAM));
        lead = hosts.several("job", "run", words.toArray(String[]::new));
        hosts.await("the first checkpoint, " + what, "job",
                () -> !lead.isAlive() || Files.exists(hosts.directory.resolve("images/ckpt-0001/manifest")));
    }

    /** What the program says last when nobody disturbs it. */
    static String answer() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(1)) {
            List<String> words = new ArrayList<>(List.of("run", "-n", "4"));
            words.addAll(List.of(PROGRAM));
            assertEquals(0, hosts.end("alone", hosts.command("alone", words.toArray(String[]::new)), SECONDS),
                    () -> hosts.text("alone"));
            hosts.good();
            return hosts.lines("alone").getLast();
        }
    }

    private String images() {
        return hosts.directory.resolve("images").toString();
    }

    /** All ranks end by themselves then, and {@link #ends} restarts the job. */
    void killLead() throws InterruptedException {
        leadKilled = true;
        lead.destroyForcibly().waitFor();
    }

    /**
     * The job comes to its end, with the right answer, and nothing of it runs any more.
     *
     * @param leavesFiles an agent or a host was lost, which can't remove its own
     */
    void ends(String what, String answer, boolean leavesFiles) throws Exception {
        String last = leadKilled ? "again" : "job";
        Process run = leadKilled ? restarted(what, last) : lead;
        if (!run.waitFor(SECONDS, TimeUnit.SECONDS)) {
            signal("QUIT", hosts.pids(1, "java")); // for the lead's threads
            Thread.sleep(1000);
            throw new AssertionError(what + " did not end in " + SECONDS + " s\n" + text());
        }
        assertEquals(0, run.exitValue(), () -> what + "\n" + text());
        assertEquals(answer, hosts.lines(last).getLast(), () -> what + "\n" + hosts.text(last));
        assertTrue(noProgramsRun(), what);
        try (var left = Files.list(hosts.directory.resolve("run"))) {
            List<Path> kept = left.toList();
            assertTrue(kept.isEmpty() || leadKilled || leavesFiles, () -> what + " left " + kept);
        }
        hosts.good();
    }

    private String text() {
        return hosts.text("job") + (leadKilled ? hosts.text("again") : "");
    }

    /** On the lead's host, when nobody is left of a job without a lead. */
    private Process restarted(String what, String name) throws Exception {
        hosts.await("the end of all agents and ranks, " + what, "job", this::nothingRuns);
        return hosts.several(name, "restart", "--hosts", hosts.hosts(0, 1), images());
    }

    /** Neither agents nor ranks. */
    boolean nothingRuns() throws IOException {
        for (Host host : hosts.lab.hosts()) {
            if (!hosts.allPids(host.number()).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    boolean noProgramsRun() throws IOException {
        for (Host host : hosts.lab.hosts()) {
            if (!hosts.programs(host.number()).isEmpty()) {
                return false;
            }
        }
        return true;
    }

    static void signal(String name, List<Long> pids) throws IOException, InterruptedException {
        if (!pids.isEmpty()) {
            String list = pids.stream().map(Object::toString).collect(Collectors.joining(" "));
            // some may have ended meanwhile
            new ProcessBuilder("sh", "-c", "kill -" + name + " " + list + " 2>/dev/null").start().waitFor();
        }
    }

    @Override
    public void close() throws Exception {
        hosts.close();
    }
}
