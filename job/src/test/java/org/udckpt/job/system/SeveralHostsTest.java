package org.udckpt.job.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.job.hosts.HostLab;

/** A real MPI job on several hosts: checkpointed there, killed with its hosts, restarted on others. */
@Timeout(300)
class SeveralHostsTest {
    private static final int SECONDS = 120;
    private static final String[] PROGRAM = {"--", CommandLine.artifact("programs/stencil_cg").toString(), "--grid", "8", "--solves", "25", "--ballast", "2"};

    private static final String[] LONG = {"--", CommandLine.artifact("programs/stencil_cg").toString(), "--grid", "8", "--solves", "100", "--ballast", "2"};

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
    }

    private static String[] words(String[] options, String[] more) {
        return java.util.stream.Stream.of(options, more).flatMap(java.util.Arrays::stream).toArray(String[]::new);
    }

    @Test
    void eightRanksOfFourHostsGoOnOnFourOthersAndOnOne() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(9)) {
            String images = hosts.directory.resolve("images").toString();
            assertEquals(0, hosts.end("alone", hosts.command("alone", words(new String[] {"run", "-n", "8"}, PROGRAM)), SECONDS), () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");

            Process first = hosts.several("first", "run", words(new String[] {"--name", "job", "--dir", images, "--hosts", hosts.hosts(2, 2, 3, 4, 5)}, PROGRAM));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"), () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.crash(2, 3, 4, 5);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 6, 7, 8, 9), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            for (int number : new int[] {6, 7, 8, 9}) {
                assertTrue(hosts.programs(number).contains("stencil_cg"), hosts.programs(number).toString());
            }
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"), () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertEquals(Set.of(), hosts.programs(7));

            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 3), images);
            hosts.assertEnds(0, "third", third, SECONDS);
            List<String> end = hosts.lines("third");
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
            assertTrue(end.getLast().startsWith("checksum"), end.getLast());
            try (var left = Files.list(hosts.directory.resolve("run"))) {
                assertEquals(List.of(), left.toList());
            }
            hosts.good();
        }
    }

    @Test
    void aHostThatIsLostIsReplacedByASpareOne() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            assertEquals(0, hosts.end("alone", hosts.command("alone", words(new String[] {"run", "-n", "4"}, LONG)), SECONDS), () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");
            Process job = hosts.several("job", "run", words(new String[] {"--name", "job", "--dir", hosts.directory.resolve("images").toString(), "--hosts", hosts.hosts(1, 1, 2, 3, 4),
                "--restart-on-failure", "3", "--spares", hosts.hosts(0, 5)}, LONG));
            hosts.await("the job's output", "job", () -> hosts.output("job").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"), () -> hosts.text("checkpoint") + hosts.text("job"));
            hosts.crash(3);
            hosts.assertEnds(0, "job", job, SECONDS);
            assertTrue(hosts.errors("job").contains("rank 2 moves from host " + lab(hosts, 3) + " to " + lab(hosts, 5)), () -> hosts.text("job"));
            List<String> lines = hosts.lines("job");
            assertEquals(whole.getLast(), lines.getLast());
            hosts.good();
        }
    }

    private static String lab(SeveralHosts hosts, int number) {
        return hosts.lab.host(number).namespace();
    }

    /** Each rank writes to a file of its own, and appends to one that all share. */
    private static final String WRITER = "exec 3>>shared.log 4>own.$PMI_RANK; i=0; touch ready.$PMI_RANK;"
            + " while [ ! -e finish ]; do i=$((i+1)); echo $PMI_RANK $i >&3; echo $i >&4; sleep 0.05; done";

    @Test
    void filesOfSeveralHostsAreWhatTheyWereAtTheCheckpoint() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(4)) {
            String images = hosts.directory.resolve("images").toString();
            Process first = hosts.several("first", "run", "--name", "job", "--dir", images, "--hosts", hosts.hosts(1, 1, 2), "--", "/bin/sh", "-c", WRITER);
            hosts.await("the ranks", "first", () -> Files.exists(hosts.directory.resolve("ready.0")) && Files.exists(hosts.directory.resolve("ready.1")));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"), () -> hosts.text("checkpoint") + hosts.text("first"));
            Thread.sleep(500); // they write what has to go away again
            hosts.crash(2);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 3, 4), images);
            hosts.await("more lines", "second", () -> hosts.errors("second").contains("shared.log"));
            Thread.sleep(1000);
            Files.createFile(hosts.directory.resolve("finish"));
            hosts.assertEnds(0, "second", second, SECONDS);
            List<String> shared = Files.readAllLines(hosts.directory.resolve("shared.log"));
            for (int rank = 0; rank < 2; rank++) {
                String prefix = rank + " ";
                List<String> own = Files.readAllLines(hosts.directory.resolve("own." + rank));
                List<String> counted = java.util.stream.IntStream.rangeClosed(1, own.size()).mapToObj(Integer::toString).toList();
                assertEquals(counted, own);
                assertEquals(counted, shared.stream().filter(line -> line.startsWith(prefix)).map(line -> line.substring(2)).toList());
            }
            hosts.good();
        }
    }
}
