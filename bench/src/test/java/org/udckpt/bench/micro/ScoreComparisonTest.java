package org.udckpt.bench.micro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.support.report.Failure;

class ScoreComparisonTest {
    @TempDir
    Path directory;

    private static boolean isWorse(Score now, Score before) {
        return new ScoreComparison(0.1).of(List.of(now), List.of(before)).getFirst().isWorse();
    }

    @Test
    void timesAreWorseAboveTheThresholdAndTheNoise() {
        assertTrue(isWorse(new Score("a", 120, 5, "ns"), new Score("a", 100, 5, "ns")));
        assertEquals(false, isWorse(new Score("a", 108, 1, "ns"), new Score("a", 100, 1, "ns")),
                "within the threshold");
        assertEquals(false, isWorse(new Score("a", 120, 15, "ns"), new Score("a", 100, 10, "ns")), "within the errors");
        assertEquals(false, isWorse(new Score("a", 108, 0, "ns"), new Score("a", 100, 0, "ns")),
                "errors that are not known make no count of it");
        assertEquals(false, isWorse(new Score("a", 50, 1, "ns"), new Score("a", 100, 1, "ns")), "better");
    }

    @Test
    void oneMoreInstructionIsWorse() {
        assertTrue(isWorse(new Score("a", 3, 0, Score.INSTRUCTIONS), new Score("a", 2, 0, Score.INSTRUCTIONS)));
        assertEquals(false,
                isWorse(new Score("a", 2.3, 0, Score.INSTRUCTIONS), new Score("a", 2, 0, Score.INSTRUCTIONS)),
                "what is counted in callgrind differs a little");
        assertTrue(isWorse(new Score("a", -4, 0, Score.INSTRUCTIONS), new Score("a", -5, 0, Score.INSTRUCTIONS)),
                "where virtualization saves some");
    }

    @Test
    void whatIsNewIsSaidAndWhatIsMissingIsWorse() {
        List<ScoreComparison.Line> lines = new ScoreComparison(0.1).of(List.of(new Score("new", 500, 1, "ns")),
                List.of(new Score("old", 100, 1, "ns")));
        assertEquals(List.of(new ScoreComparison.Line(new Score("new", 500, 1, "ns"), "new", false),
                new ScoreComparison.Line(new Score("old", 100, 1, "ns"), "not measured any more", true)), lines);
    }

    @Test
    void theCommittedCountsAreRead() throws Exception {
        List<Score> counts = InstructionCounts
                .of(Files.readAllLines(Path.of(System.getProperty("udckpt.root"), "results/overhead.txt")));
        assertTrue(counts.size() >= 24, counts.toString());
        assertTrue(
                counts.stream()
                        .anyMatch(score -> score.equals(
                                new Score("verbs level: one receive (poll_cq post_recv)", 2, 0, Score.INSTRUCTIONS))),
                counts.toString());
        assertTrue(
                counts.stream().anyMatch(score -> score.name().equals("reliable connections: restarted: one receive")),
                counts.toString());
        assertEquals(counts.size(), counts.stream().map(Score::name).distinct().count());
    }

    @Test
    void tablesOfTimesAreNoInstructions() {
        assertEquals(List.of(new Score("tags: one send", 2, 0, Score.INSTRUCTIONS)),
                InstructionCounts.of(List.of("tags: user-space instructions per call",
                        "                  without         with   difference     ratio",
                        "one send            10.00        12.00        +2.00   +20.00%", "",
                        "processor time, ns: the median of 15 pairs",
                        "                  without         with   difference     ratio",
                        "one send            10.00        12.00        +2.00   +20.00%")));
    }

    @Test
    void theFabricsTableIsRead() {
        assertEquals(
                List.of(new Score("UD latency of 64 bytes (plain)", 3.25, 0.5, "us"),
                        new Score("UD messages of 64 bytes (virtualized)", 1.5, 0.25, "us each")),
                FabricScores.of(List.of(
                        "by perftest, 5 rounds               fabric           median      least       most unit",
                        "UD latency of 64 bytes             plain             3.250      3.000      4.000 us",
                        "UD messages of 64 bytes            virtualized       1.500      1.250      1.750 us each")));
    }

    @Test
    void scoresComeBack() throws Exception {
        Path file = directory.resolve("micro.csv");
        List<Score> scores = List.of(new Score("AddressMapBenchmark.lookUp", 12.5, 0.25, "ns/op"));
        ScoreFile.write(file, scores);
        assertEquals(scores, ScoreFile.read(file));
        Files.writeString(file, "name,value,error,unit\nx,y,z,ns\n");
        assertTrue(assertThrows(Failure.class, () -> ScoreFile.read(file)).getMessage().contains("micro.csv:2"));
    }
}
