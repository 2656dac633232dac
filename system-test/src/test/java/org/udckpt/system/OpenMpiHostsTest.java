package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.udckpt.hosts.HostLab;

/** Open MPI's ranks on several hosts, each of which has a launcher of udckpt's for them ({@code --mpi pmix}). */
@Timeout(300)
class OpenMpiHostsTest {
    private static final int SECONDS = 120;

    @BeforeEach
    void possible() {
        assumeTrue(HostLab.missing().isEmpty(), HostLab.missing().orElse(""));
        // which the test command installs
        assertTrue(Files.isExecutable(CommandLine.artifact("udckpt-pmix")), "not built for want of libpmix-dev");
    }

    private static Path program(String name) {
        return CommandLine.artifact("programs/openmpi/" + name);
    }

    private static String[] words(String[] options, String... more) {
        return Stream.concat(Stream.of(options), Stream.of(more)).toArray(String[]::new);
    }

    private static String[] solver(SeveralHosts hosts, String... options) {
        return words(words(options, "--mpi", "pmix"),
                hosts.solver("programs/openmpi/stencil_cg").toArray(String[]::new));
    }

    private static Process local(SeveralHosts hosts, String name, String... program) throws Exception {
        return hosts.command(name,
                words(new String[]{"run", "--starter", "local", "--hosts", "a:2,b:2", "--mpi", "pmix", "--"}, program));
    }

    @Tag("slow")
    @Test
    void fourRanksOfTwoHostsGoOnOnTwoOthersAndOnOne() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(5)) {
            String images = hosts.directory.resolve("images").toString();
            assertEquals(0, hosts.end("alone",
                    hosts.command("alone", solver(hosts, "run", "--starter", "local", "--hosts", "a:2,b:2")), SECONDS),
                    () -> hosts.text("alone"));
            List<String> whole = hosts.lines("alone");

            hosts.hold();
            Process first = hosts.several("first", "run",
                    solver(hosts, "--name", "job", "--dir", images, "--hosts", hosts.hosts(2, 2, 3)));
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(2, hosts.pids(2, "stencil_cg").size());
            assertEquals(1, hosts.pids(3, "udckpt-pmix").size());
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.crash(2, 3);
            assertEquals(74, hosts.end("first", first, SECONDS), () -> hosts.text("first"));
            assertEquals(0, hosts.run("inspect", SECONDS, "inspect", images), () -> hosts.text("inspect"));
            assertTrue(hosts.output("inspect").contains("rank 3") && !hosts.output("inspect").contains("MPI rank"),
                    () -> hosts.text("inspect"));

            Process second = hosts.several("second", "restart", "--hosts", hosts.hosts(0, 4, 5), images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            assertEquals(2, hosts.pids(5, "stencil_cg").size());
            assertEquals(0, hosts.run("again", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("again") + hosts.text("second"));
            hosts.assertEnds(0, "second", second, SECONDS);
            assertEquals(Set.of(), hosts.programs(5));

            hosts.release();
            Process third = hosts.several("third", "restart", "--hosts", hosts.hosts(0, 3), images);
            hosts.assertEnds(0, "third", third, SECONDS);
            List<String> end = hosts.lines("third");
            assertEquals(whole.subList(whole.size() - end.size(), whole.size()), end);
            assertTrue(end.getLast().startsWith("checksum"), end.getLast());
            hosts.good();
        }
    }

    /**
     * Host a's launcher is in the barrier of MPI_Init's fence, in which host b's ranks, one of which has not come yet,
     * end up in the next incarnation.
     */
    @Tag("slow")
    @Test
    void aCheckpointInMpiInit() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(1)) {
            String images = hosts.directory.resolve("images").toString();
            Path go = hosts.directory.resolve("go");
            String late = "if [ $OMPI_COMM_WORLD_RANK = 3 ]; then while [ ! -e " + go
                    + " ]; do sleep 0.1; done; fi; exec " + program("endings") + " codes";
            Process first = hosts.command("first", "run", "--starter", "local", "--hosts", "a:2,b:2", "--name", "job",
                    "--dir", images, "--mpi", "pmix", "--",
                    "/bin/sh", "-c", late);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (hosts.run("status", SECONDS, "status", "job.a", "--json") != 0
                    || !hosts.output("status").contains("\"lid\"")) {
                assertTrue(System.nanoTime() < end,
                        () -> "no rank has opened a device; " + hosts.text("first") + hosts.text("status"));
            }
            Thread.sleep(2000); // the fence comes soon after them
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.assertEnds(0, "first", first, SECONDS);
            assertEquals("", hosts.output("first"));
            Files.createFile(go);
            hosts.assertEnds(7, "second", hosts.command("second", "restart", "--starter", "local", images), SECONDS);
            assertEquals(4, hosts.lines("second").stream().filter(line -> line.endsWith("of 4, sum 6")).count(),
                    () -> hosts.text("second"));
            hosts.good();
        }
    }

    /**
     * Windows by MPI_Win_create and MPI_Win_allocate, whose memory ranks of other hosts put into, add to and lock:
     * Debian's configuration of Open MPI has none across hosts.
     */
    @Tag("slow")
    @Test
    void windowsOfTwoHostsGoOn() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(1)) {
            String images = hosts.directory.resolve("images").toString();
            Path finish = hosts.directory.resolve("finish");
            Process first = hosts.command("first", "run", "--starter", "local", "--hosts", "a:2,b:2", "--name", "job",
                    "--dir", images, "--mpi", "pmix", "--",
                    program("mpi_stress").toString(), "--finish-file", finish.toString(), "--progress", "5");
            hosts.await("the job's output", "first", () -> hosts.output("first").contains("iteration"));
            assertEquals(0, hosts.run("checkpoint", SECONDS, "checkpoint", "job", "--then", "kill"),
                    () -> hosts.text("checkpoint") + hosts.text("first"));
            hosts.assertEnds(0, "first", first, SECONDS);
            Process second = hosts.command("second", "restart", "--starter", "local", images);
            hosts.await("the job's output", "second", () -> hosts.output("second").contains("iteration"));
            Files.createFile(finish);
            hosts.assertEnds(0, "second", second, SECONDS);
            assertTrue(hosts.output("second").contains("PASS 4 ranks"), () -> hosts.text("second"));
            hosts.good();
        }
    }

    /**
     * As MPICH's ranks, which EndingsTest compares with mpiexec; Open MPI's MPI_Abort and exit without MPI_Finalize
     * come by other ways.
     */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"well,0", "codes,7", "abort,7", "leave,3", "segv,11"})
    void endsAsMpichsRanks(String how, int code) throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(1)) {
            hosts.assertEnds(code, how, local(hosts, how, program("endings").toString(), how), SECONDS);
            List<String> ranks = Stream.of(0, 1, 2, 3).map(rank -> "rank " + rank + " of 4, sum 6").toList();
            assertEquals(ranks, hosts.lines(how).stream().filter(line -> line.startsWith("rank ")).sorted().toList());
            assertTrue(
                    Set.of("well", "codes").contains(how)
                            || hosts.errors(how).contains("rank 1 aborted the job with code " + code),
                    () -> hosts.text(how));
            hosts.good();
        }
    }

    @Test
    void eachProgramByItsOwnInterface() throws Exception {
        try (SeveralHosts hosts = new SeveralHosts(1)) {
            hosts.assertEnds(69, "mpich", local(hosts, "mpich", CommandLine.artifact("programs/stencil_cg").toString()),
                    SECONDS);
            assertTrue(hosts.errors("mpich").contains("leave --mpi pmix out"), () -> hosts.text("mpich"));
            hosts.assertEnds(69, "open",
                    hosts.command("open", "run", "-n", "2", "--", program("stencil_cg").toString()), SECONDS);
            assertTrue(hosts.errors("open").contains("--mpi pmix"), () -> hosts.text("open"));
            hosts.good();
        }
    }
}
