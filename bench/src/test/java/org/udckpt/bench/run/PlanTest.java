package org.udckpt.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.Launcher;
import org.udckpt.bench.job.UcxTransport;
import org.udckpt.bench.workload.Workload;
import org.udckpt.bench.workload.Workloads;

class PlanTest {
    private static final List<Mode> MODES = List.of(new Mode.Native(), new Mode.Preloaded(),
            new Mode.Every(Duration.ofSeconds(10)), new Mode.Restarted());

    private static Plan plan(long seed) throws Exception {
        Workload stencil =
                Workloads.of(Path.of(System.getProperty("udckpt.root"))).named(List.of("stencil")).getFirst();
        return new Plan(
                List.of(new Cell(stencil, Launcher.RUN, UcxTransport.UD, 2),
                        new Cell(stencil, Launcher.RUN, UcxTransport.RC, 2),
                        new Cell(stencil, Launcher.RUN, UcxTransport.UD, 4)),
                MODES, 1, 5, seed);
    }

    private static List<String> ids(long seed) throws Exception {
        return plan(seed).trials().stream().map(Trial::id).toList();
    }

    @Test
    void theSeedMakesTheOrder() throws Exception {
        assertEquals(ids(7), ids(7));
        assertNotEquals(ids(7), ids(8));
    }

    @Test
    void pairsAreMadeTogetherAndTheRestartLast() throws Exception {
        List<Trial> trials = plan(7).trials();
        assertEquals(3 + 3 * 5 * 4, trials.size());
        assertEquals(List.of(true, true, true), trials.subList(0, 3).stream().map(Trial::isWarmUp).toList());
        Set<List<String>> orders = new HashSet<>();
        for (int i = 3; i < trials.size(); i += 4) {
            List<Trial> pair = trials.subList(i, i + 4);
            assertEquals(1, pair.stream().map(Trial::cell).distinct().count());
            assertEquals(1, pair.stream().map(Trial::repeat).distinct().count());
            assertEquals(Set.copyOf(MODES), pair.stream().map(Trial::mode).collect(Collectors.toSet()));
            assertInstanceOf(Mode.Restarted.class, pair.getLast().mode());
            orders.add(pair.stream().map(trial -> trial.mode().word()).toList());
        }
        assertTrue(orders.size() >= 3, orders::toString);
    }

    @Test
    void withoutAWarmUpTheFirstModeIsFirst() throws Exception {
        Plan plan = plan(7);
        List<Trial> trials = new Plan(plan.cells(), MODES, 0, 2, 7).trials();
        for (Cell cell : plan.cells()) {
            assertEquals(MODES.getFirst(),
                    trials.stream().filter(trial -> trial.cell().equals(cell)).findFirst().orElseThrow().mode());
        }
        List<Trial> warm = new Plan(plan.cells(), MODES, 3, 1, 7).trials().stream().filter(Trial::isWarmUp).toList();
        assertEquals(9, warm.stream().map(Trial::id).distinct().count(),
                "a warm-up would remove what another one has left to be compared with");
    }

    @Test
    void eachTrialHasAnIdOfItsOwn() throws Exception {
        List<String> ids = ids(7).stream().filter(id -> !id.endsWith("-0")).toList();
        assertEquals(ids.size(), Set.copyOf(ids).size());
        assertEquals("stencil-run-ud-2-every-10s-1", new Trial(plan(7).cells().getFirst(), MODES.get(2), 1).id());
    }
}
