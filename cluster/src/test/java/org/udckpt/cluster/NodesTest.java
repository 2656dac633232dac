package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.udckpt.hosts.Host;
import org.udckpt.hosts.HostLab;
import org.udckpt.support.report.ExitCode;

/**
 * A lead and its agents, each a process of its own: how they come up, what a failure at each point of that leads to,
 * and that nothing is left.
 */
@Timeout(180)
class NodesTest {
    @TempDir
    private Path directory;

    private LeadProcess lead(Map<String, String> environment, String... arguments) throws Exception {
        return new LeadProcess(directory, UnaryOperator.identity(), environment, arguments);
    }

    /** All have come, have answered and have ended; what rank 0 read and the last lines of all are there. */
    private static void assertWell(LeadProcess lead, int units, String input) throws Exception {
        assertEnds(lead, units, input);
        for (int unit = 0; unit < units; unit++) {
            assertEquals(1, lead.count("unit " + unit + " starts as"), lead::toString);
            assertEquals(1, lead.count("last line " + (AnsweringAgent.LAST_LINES - 1) + " of unit " + unit + "\n"),
                    lead::toString);
        }
        assertEquals(units * AnsweringAgent.LAST_LINES, lead.count("last line "), lead::toString);
    }

    private static void assertEnds(LeadProcess lead, int units, String input) throws Exception {
        assertEquals(0, lead.await(), lead::toString);
        assertTrue(lead.output().contains("started " + (units + 1) + "\n"), lead::toString);
        assertTrue(lead.output().contains("ended " + (units + 1) + "\n"), lead::toString);
        assertTrue(lead.output().contains(" and reads " + input + "\n"), lead::toString);
        assertTrue(lead.output().endsWith("closed\n"), lead::toString);
        assertEquals(List.of(), lead.running());
    }

    /**
     * As many lines as of others; where several of these starters write at the same time one's piece can come in the
     * middle of another's line.
     */
    private static void assertAllIsThere(LeadProcess lead, int units, String input) throws Exception {
        assertEnds(lead, units, input);
        assertEquals(4 + units + units * AnsweringAgent.LAST_LINES, lead.count("\n"), lead::toString);
    }

    private static void assertRefused(LeadProcess lead, ExitCode code, String... words) throws Exception {
        assertEquals(code.value(), lead.await(), lead::toString);
        for (String word : words) {
            assertTrue(lead.errors().contains(word), () -> "no '" + word + "': " + lead);
        }
        assertFalse(lead.output().contains("starts as"), lead::toString);
        assertEquals(List.of(), lead.running());
    }

    @Tag("slow")
    @Test
    void agentsOfThisMachine() throws Exception {
        try (LeadProcess lead = lead(Map.of(), "local", "2", "a", "b", "c", "d", "e")) {
            assertWell(lead, 5, "the job's input");
            assertEquals("", lead.errors());
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"mpiexec.hydra", "mpirun.openmpi"})
    void agentsByMpiexec(String mpiexec) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin", mpiexec)), () -> mpiexec + " is not installed");
        Map<String, String> root = Map.of("OMPI_ALLOW_RUN_AS_ROOT", "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        try (LeadProcess lead = lead(root, mpiexec, "16", "localhost", "localhost", "localhost")) {
            assertAllIsThere(lead, 3, "the job's input");
        }
    }

    /**
     * What srun does with standard input and numbers, and that it is one process for all. SlurmTest has the real one.
     */
    @Test
    void agentsByOneSrun() throws Exception {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        Files.writeString(bin.resolve("srun"), """
                #!/bin/bash
                echo "srun $*" >>%1$s/called
                cat >%1$s/said
                for word; do case $word in --ntasks=*) tasks=${word#*=};; --*) shift;; *) break;; esac; done
                while [ "${1#--}" != "$1" ]; do shift; done
                for ((task = 0; task < tasks; task++)); do SLURM_PROCID=$task "$@" <%1$s/said & done
                wait
                """.formatted(directory));
        assertTrue(bin.resolve("srun").toFile().setExecutable(true));
        Map<String, String> slurm = Map.of("SLURM_JOB_ID", "1", "PATH", bin + ":" + System.getenv("PATH"));
        try (LeadProcess lead = lead(slurm, "srun", "2", "localhost", "localhost", "localhost", "localhost")) {
            assertWell(lead, 4, "");
        }
        String called = Files.readString(directory.resolve("called"));
        assertEquals(1, called.lines().count(), called);
        assertTrue(called.contains(
                "--nodes=1 --ntasks=4 --distribution=arbitrary --nodelist=localhost,localhost,localhost,localhost"),
                called);
    }

    @Tag("slow")
    @Test
    void agentsOnHostsOfTheirOwn() throws Exception {
        HostLab.missing().ifPresent(reason -> assumeTrue(false, reason));
        try (HostLab lab = new HostLab(4, directory)) {
            Host first = lab.host(1);
            List<String> arguments = Stream
                    .concat(Stream.of("ip netns exec {host}", "2"), lab.hosts().stream().map(Host::namespace)).toList();
            try (LeadProcess lead = new LeadProcess(directory, builder -> first.command(builder.command()),
                    Map.of("UDCKPT_LEAD_ADDRESS", first.address()),
                    arguments.toArray(String[]::new))) {
                assertWell(lead, 4, "the job's input");
            }
        }
    }

    /** One whose hosts cannot reach the lead is named, and so is the way out. */
    @Tag("slow")
    @Test
    void anAgentThatDoesNotReachTheLead() throws Exception {
        HostLab.missing().ifPresent(reason -> assumeTrue(false, reason));
        try (HostLab lab = new HostLab(2, directory)) {
            Host first = lab.host(1);
            lab.partition(java.util.Set.of(2));
            try (LeadProcess lead = new LeadProcess(directory, builder -> first.command(builder.command()),
                    Map.of("UDCKPT_LEAD_ADDRESS", first.address(), "UDCKPT_START_TIMEOUT", "30s"),
                    "ip netns exec {host}", "2", first.namespace(), lab.host(2).namespace())) {
                assertRefused(lead, ExitCode.TIMEOUT, "the agent of unit 1 (host " + lab.host(2).namespace()
                        + ") did not connect within --start-timeout 30 s", "--lead-address");
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"MAKE", "JOINED"})
    void anAgentThatDiesBeforeItHasCome(String where) throws Exception {
        try (LeadProcess lead = lead(Map.of("TEST_DIE", where + ":1"), "local", "2", "a", "b", "c")) {
            assertRefused(lead, ExitCode.IO, "the agent of unit 1 on this host ended with exit code 9", "--unit 1");
        }
    }

    @Tag("slow")
    @Test
    void anAgentThatHangsBeforeItHasCome() throws Exception {
        try (LeadProcess lead =
                lead(Map.of("TEST_HANG", "MAKE:2", "UDCKPT_START_TIMEOUT", "30s"), "local", "2", "a", "b", "c")) {
            assertRefused(lead, ExitCode.TIMEOUT,
                    "the agent of unit 2 (host c) did not connect within --start-timeout 30 s");
        }
    }

    @Tag("slow")
    @Test
    void anAgentThatDiesWhileItStarts() throws Exception {
        try (LeadProcess lead = lead(Map.of("TEST_DIE", "START:1"), "local", "2", "a", "b", "c")) {
            assertEquals(0, lead.await(), lead::toString);
            assertTrue(lead.output().contains("failed: node 2: silent for longer than its lease"), lead::toString);
            assertTrue(
                    lead.output().contains("agents ended [1]: the agent of unit 1 on this host ended with exit code 9"),
                    lead::toString);
            assertEquals(2 * AnsweringAgent.LAST_LINES, lead.count("last line "), lead::toString);
            assertEquals(List.of(), lead.running());
        }
    }

    /** Node 1 of five has two children, which find another way. */
    @Tag("slow")
    @Test
    void anAgentThatIsKilledInTheMiddleOfTheJob() throws Exception {
        Path never = directory.resolve("never");
        try (LeadProcess lead = lead(Map.of("TEST_PAUSE", never.toString()), "local", "2", "a", "b", "c", "d", "e")) {
            lead.awaitOutput("started 6\n");
            lead.agent(0).destroyForcibly();
            assertEquals(0, lead.await(), lead::toString);
            assertTrue(
                    lead.output()
                            .contains("agents ended [0]: the agent of unit 0 on this host ended with exit code 137"),
                    lead::toString);
            assertTrue(lead.output().contains("lost node 1\n"), lead::toString);
            // Nodes below the lost one may still be connecting to another parent when the end is requested: they hear
            // it as a farewell.
            assertTrue(lead.output().matches("(?s).*ended [345]( failed:.*)?\n.*"), lead::toString);
            assertEquals(4 * AnsweringAgent.LAST_LINES, lead.count("last line "), lead::toString);
            assertEquals(List.of(), lead.running());
        }
    }

    @Tag("slow")
    @Test
    void agentsThatMisbehaveAtTheEnd() throws Exception {
        try (LeadProcess lead =
                lead(Map.of("TEST_DIE", "CLOSE:1", "TEST_HANG", "CLOSE:2"), "local", "2", "a", "b", "c")) {
            assertEquals(0, lead.await(), lead::toString);
            assertTrue(lead.output().contains("ended 4\n"), lead::toString);
            assertTrue(lead.errors().contains("the agent of unit 2 on this host did not end on request and is killed"),
                    lead::toString);
            assertEquals(AnsweringAgent.LAST_LINES, lead.count("last line "), lead::toString);
            assertEquals(List.of(), lead.running());
        }
    }

    @Tag("slow")
    @Test
    void theLeadIsKilled() throws Exception {
        try (LeadProcess lead =
                lead(Map.of("TEST_PAUSE", directory.resolve("never").toString()), "local", "2", "a", "b", "c")) {
            lead.awaitOutput("started 4\n");
            List<ProcessHandle> agents = IntStream.range(0, 3).mapToObj(unit -> agent(lead, unit)).toList();
            lead.process.destroyForcibly();
            for (ProcessHandle agent : agents) {
                agent.onExit().get();
            }
            assertEquals(3, lead.count(" is over: "), lead::toString);
            assertEquals(3 * AnsweringAgent.LAST_LINES, lead.count("last line "), lead::toString);
        }
    }

    private static ProcessHandle agent(LeadProcess lead, int unit) {
        try {
            return lead.agent(unit);
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Tag("slow")
    @Test
    void startersThatFail() throws Exception {
        Path starter = directory.resolve("starter");
        Files.writeString(starter, "#!/bin/sh\necho \"$1: Permission denied (publickey).\" >&2\nexit 255\n");
        assertTrue(starter.toFile().setExecutable(true));
        Map<String, String> known = new HashMap<>(Map.of("UDCKPT_LEAD_ADDRESS", "127.0.0.1"));
        try (LeadProcess lead = lead(known, starter + " {host}", "2", "far")) {
            assertRefused(lead, ExitCode.IO, "far: Permission denied",
                    "the agent of unit 0 on far ended with exit code 255: " + starter + " far ", "refuse the login");
        }
        try (LeadProcess lead = lead(known, "env HOST={host} nothing-of-this-name", "2", "far")) {
            assertRefused(lead, ExitCode.IO, "the agent of unit 0 on far ended with exit code 127", "UDCKPT_REMOTE");
        }
        try (LeadProcess lead = lead(known, "nothing-of-this-name {host}", "2", "far")) {
            assertRefused(lead, ExitCode.NOT_FOUND, "'nothing-of-this-name' is not a program on this machine");
        }
        Files.writeString(starter, "#!/bin/sh\nexec sleep 600\n");
        known.put("UDCKPT_START_TIMEOUT", "2s");
        try (LeadProcess lead = lead(known, starter + " {host}", "2", "far")) {
            assertRefused(lead, ExitCode.TIMEOUT,
                    "the agent of unit 0 (host far) did not connect within --start-timeout 2 s");
        }
        try (LeadProcess lead = lead(Map.of(), "ssh", "2", "no-such-host.invalid")) {
            assertRefused(lead, ExitCode.USAGE,
                    "the name of host no-such-host.invalid cannot be resolved on this machine: correct it in --hosts",
                    "--lead-address");
        }
        try (LeadProcess lead = lead(Map.of(), "carrier-pigeon", "2", "far")) {
            assertRefused(lead, ExitCode.USAGE, "--starter 'carrier-pigeon'", "{host}");
        }
        try (LeadProcess lead = lead(Map.of("UDCKPT_REMOTE", "/opt/my programs/udckpt"), "local", "2", "far")) {
            assertRefused(lead, ExitCode.UNSUPPORTED, "'/opt/my programs/udckpt'");
        }
    }
}
