package org.udckpt.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.measured.RowFile;

/** {@code udckpt bench run} and {@code report} as a user starts them, with the program of this repository. */
@Timeout(900)
class BenchRunTest {
    private static final Duration LIMIT = Duration.ofSeconds(600);

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    Path directory;

    private static Command bench(Map<String, String> environment, String... arguments) throws Exception {
        Path root = Path.of(System.getProperty("udckpt.root"));
        List<String> words = new ArrayList<>(List.of(root.resolve("udckpt").toString(), "bench"));
        words.addAll(List.of(arguments));
        return Command.start(root, environment, line -> {}, words);
    }

    private static List<String> errors(int code, Map<String, String> environment, String... arguments)
            throws Exception {
        try (Command command = bench(environment, arguments)) {
            assertEquals(code, command.await(LIMIT), command::describe);
            return command.errors().allLines();
        }
    }

    @Tag("slow")
    @Test
    void fromTheCommandToThePageAndResumed() throws Exception {
        Path out = directory.resolve("run");
        errors(0, Map.of(), "run", "stencil:600", "--quick", "--interval", "2s", "--seed", "7", "--out",
                out.toString());
        List<Row> rows = RowFile.read(out.resolve("results.arrow"));
        List<Row.Run> runs = rows.stream().filter(Row.Run.class::isInstance).map(Row.Run.class::cast).toList();
        assertEquals(Set.of("native", "preloaded", "every 2s", "restarted"),
                runs.stream().map(Row.Run::mode).collect(Collectors.toSet()));
        assertTrue(runs.stream().allMatch(Row.Run::right), runs::toString);
        assertTrue(runs.stream().allMatch(run -> run.command().contains("stencil_cg --grid 16 --solves 600")),
                runs::toString);
        assertTrue(rows.stream()
                .anyMatch(row -> row instanceof Row.Restart restart && restart.ns() > 0 && restart.bytes() > 0));
        assertTrue(rows.stream().anyMatch(row -> row instanceof Row.Phase phase && phase.phase().equals("snapshot")));
        assertTrue(rows.contains(
                new Row.Fact("command", "udckpt bench run stencil:600 --quick --interval 2s --seed 7 --out " + out)),
                rows::toString);
        assertEquals(rows.size() + 1, Files.readAllLines(out.resolve("results.csv")).size());

        Path removed = out.resolve("measurements/stencil-600-run-ud-2-preloaded-1.arrow");
        Files.delete(removed);
        String refusal = String.join("\n",
                errors(64, Map.of(), "run", "--resume", out.toString(), "--ranks", "4", "--path", "/nowhere"));
        assertTrue(refusal.contains("--resume goes on with what the run was begun with; --ranks cannot be changed"),
                refusal);
        assertFalse(Files.exists(removed));
        List<String> said = errors(0, Map.of(), "run", "--resume", out.toString(), "--limit", "10m");
        assertTrue(Files.exists(removed));
        assertEquals(1, said.stream().filter(line -> line.matches("udckpt: \\[\\d/4\\] stencil:600, .*")).count(),
                said::toString);
        assertEquals(runs.size(),
                RowFile.read(out.resolve("results.arrow")).stream().filter(Row.Run.class::isInstance).count());
        assertFalse(Files.exists(out.resolve("work")), "nothing is left of runs that are right");

        List<String> facts = RowFile.read(out.resolve("results.arrow")).stream().filter(Row.Fact.class::isInstance)
                .map(row -> ((Row.Fact) row).name()).toList();
        assertTrue(facts.containsAll(List.of("begun", "resumed", "ended")), facts::toString);

        errors(0, Map.of(), "report", out.toString());
        String page = Files.readString(out.resolve("report.md"));
        assertTrue(page.contains("All 4 runs came to the right result.") && page.contains("## Restarts")
                && page.contains("(stop-phases.svg)"), page);
        assertTrue(Files.readString(out.resolve("report.html")).contains("<svg"));
    }

    @Test
    void workloadsSayWhatTheyAre() throws Exception {
        try (Command command = bench(Map.of("UDCKPT_COMD", "/bin/true"), "run", "--list", "stencil", "comd", "hpcg")) {
            assertEquals(0, command.await(LIMIT), command::describe);
            String said = String.join("\n", command.output().allLines());
            assertTrue(said.matches(
                    "(?s)stencil: conjugate gradients .*; 2 ranks \\(possible: 1-64\\).*stencil_cg --grid 16 .*is "
                            + "here\ncomd: .*; long\n.*/bin/true -i .*is here\nhpcg: .*set UDCKPT_HPCG.*https://.*"),
                    said);
        }
    }

    @Test
    void whatIsMissingIsSaidWithTheWayToGetIt() throws Exception {
        String out = directory.resolve("none").toString();
        String missing = String.join("\n", errors(66, Map.of(), "run", "hpcg", "--out", out));
        assertTrue(missing.contains("set UDCKPT_HPCG") && missing.contains("https://www.hpcg-benchmark.org"), missing);
        String wrong = String.join("\n", errors(66, Map.of("UDCKPT_NPB", "/nowhere"), "run", "npb:cg.S", "--out", out));
        assertTrue(wrong.contains("npb:cg.S: /nowhere is not there") && wrong.contains("check UDCKPT_NPB"), wrong);
        String input = String.join("\n", errors(66, Map.of(), "run", "namd", "--path", "UDCKPT_NAMD=/bin/true",
                "--path", "UDCKPT_NAMD_INPUT=none.namd/x", "--out", out));
        assertTrue(input.contains("none.namd/x is not there; check UDCKPT_NAMD and UDCKPT_NAMD_INPUT"), input);
        String peer = String.join("\n",
                errors(66, Map.of("PATH", "/usr/bin:/bin"), "run", "stencil", "--peer", "dmtcp", "--out", out));
        assertTrue(peer.contains("no dmtcp_launch in PATH"), peer);
        assertTrue(String.join("\n", errors(64, Map.of(), "run", "stencli", "--out", out))
                .contains("no application 'stencli'"));
        assertTrue(String.join("\n", errors(64, Map.of(), "run", "stencil", "--path", "/x", "--out", out))
                .contains("need no path"));
        assertTrue(String.join("\n", errors(66, Map.of(), "report", out)).contains("no results in"));
        assertFalse(Files.exists(directory.resolve("none/arguments")));
    }
}
