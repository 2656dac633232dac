package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.udckpt.launch.LaunchMode;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** The commands that starters come to; NodesTest runs them. */
class StarterTest {
    private static final List<String> AGENT = List.of("/opt/udckpt", "agent");
    private static final NodeJob JOB = new NodeJob("job", 0, LaunchMode.RANKS,
            List.of(new Unit("a", "n2", 0, 2), new Unit("b", "n1", 2, 1), new Unit("c", "n2", 3, 1)), 16, "/",
            List.of("app"), Map.of(), null);

    private static List<String> commands(String starter) {
        return Starter.parse(starter, Map.of("SLURM_JOB_ID", "7")).commands(JOB, AGENT).stream()
                .map(StartCommand::shown).toList();
    }

    @Test
    void oneCommandForEachHost() {
        assertEquals(List.of("/opt/udckpt agent --unit 0", "/opt/udckpt agent --unit 1", "/opt/udckpt agent --unit 2"),
                commands("local"));
        assertEquals("ssh -T -x -o BatchMode=yes n1 /opt/udckpt agent --unit 1", commands("ssh").get(1));
        assertEquals("/opt/mpi/bin/mpiexec.hydra -n 1 -host n2 /opt/udckpt agent --unit 2",
                commands("/opt/mpi/bin/mpiexec.hydra").get(2));
        assertEquals("rsh -l me@n2 sh /opt/udckpt agent --unit 0", commands(" rsh  -l me@{host} sh ").getFirst());
        assertEquals(List.of(true, true, true),
                new Starter.Local().commands(JOB, AGENT).stream().map(StartCommand::isOfOne).toList());
    }

    /** In the units' order, whose number is the task's. */
    @Test
    void oneSrunForAll() {
        List<StartCommand> all = Starter.parse("srun", Map.of("SLURM_JOB_ID", "7")).commands(JOB, AGENT);
        assertEquals(1, all.size());
        assertEquals(List.of(0, 1, 2), all.getFirst().units());
        assertTrue(
                all.getFirst().shown().startsWith(
                        "srun --nodes=2 --ntasks=3 --distribution=arbitrary --nodelist=n2,n1,n2 --input=all "),
                all.getFirst().shown());
        assertTrue(all.getFirst().shown().endsWith(" /opt/udckpt agent --unit-in SLURM_PROCID"),
                all.getFirst().shown());
        assertEquals("the agents of units 0, 1, 2 on n2, n1", all.getFirst().agents());
    }

    @Test
    void whatIsNoStarterIsRefused() {
        assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> Starter.parse("srun", Map.of())).code());
        for (String text : new String[]{"", "loca", "rsh host", "mpiexec -n 4"}) {
            assertEquals(ExitCode.USAGE, assertThrows(Failure.class, () -> Starter.parse(text, Map.of()), text).code());
        }
    }
}
