package org.udckpt.launch.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** What an allocation's variables mean; SlurmHostsTest has real ones. */
class SlurmNodesTest {
    private static final List<String> NODES = List.of("n1", "n2", "n5");

    @Test
    void tasksOfEachNode() {
        assertEquals("n1:4,n2:4,n5:3", SlurmNodes.of("7", NODES, "4(x2),3").tasks().format());
        assertEquals("n1:1,n2:2,n5:1", SlurmNodes.of("7", NODES, "1,2,1").tasks().format());
        for (String tasks : new String[]{"", "4", "4(x4)", "4(x2)", "four(x3)", "1,2,1,1", "2(x99999999)"}) {
            Failure failure = assertThrows(Failure.class, () -> SlurmNodes.of("7", NODES, tasks), tasks);
            assertEquals(ExitCode.UNSUPPORTED, failure.code());
        }
    }

    @Test
    void ranksFillTheNodesInTheirOrder() {
        SlurmNodes nodes = SlurmNodes.of("7", NODES, "4(x2),3");
        assertEquals("n1:4,n2:4,n5:3", nodes.holding(11).format());
        assertEquals("n1:4,n2:1", nodes.holding(5).format());
        Failure many = assertThrows(Failure.class, () -> nodes.holding(12));
        assertEquals(ExitCode.USAGE, many.code());
        assertTrue(many.getMessage().contains("--ntasks=12"), many.getMessage());
    }

    @Test
    void whoIsInAnAllocation() {
        Map<String, String> one = Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NODELIST", "n1", "SLURM_TASKS_PER_NODE", "2");
        assertEquals("n1:2", SlurmNodes.of(one).orElseThrow().tasks().format());
        assertEquals(Optional.empty(), SlurmNodes.of(Map.of()));
        assertEquals(Optional.empty(), SlurmNodes.of(Map.of("SLURM_JOB_ID", "7")));
    }

    /**
     * In a task of srun the allocation is not used: the user has placed the tasks. A batch script, and the shell that
     * salloc starts on a node, have reserved step numbers.
     */
    @Test
    void tasksOfAStepAreWhereTheyAre() {
        Map<String, String> task = Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NODELIST", "n1", "SLURM_TASKS_PER_NODE", "2",
                "SLURM_STEP_ID", "0");
        assertEquals(Optional.empty(), SlurmNodes.of(task));
        Map<String, String> shell = Map.of("SLURM_JOB_ID", "7", "SLURM_JOB_NODELIST", "n1", "SLURM_TASKS_PER_NODE", "2",
                "SLURM_STEP_ID", "4294967290");
        assertTrue(SlurmNodes.of(shell).isPresent());
    }
}
