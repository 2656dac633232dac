package org.udckpt.bench.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.bench.workload.Answer.Run;

class AnswerTest {
    private static final List<String> WHOLE =
            List.of("begin", "step 1 -7.25", "step 2 -7.5", "step 3 -7.75", "took 3.1 s", "done");

    @TempDir
    Path first;

    @TempDir
    Path second;

    private static Answer steps(double tolerance) {
        return new Answer(Optional.of(Pattern.compile("step .*")), Tolerance.of(tolerance), Optional.empty(), List.of(),
                List.of(Pattern.compile("^done$")),
                List.of(Pattern.compile("FAILED")));
    }

    private Judgement compared(Answer answer, String... printed) throws Exception {
        return answer.compare(new Run(first, WHOLE), new Run(second, List.of(printed)));
    }

    @Test
    void aRestartedRunPrintsTheEnd() throws Exception {
        assertEquals(Judgement.right("2 of 3 lines bit for bit"),
                compared(steps(0), "step 2 -7.5", "step 3 -7.75", "took 9.9 s", "done"));
        assertFalse(compared(steps(0), "step 1 -7.25", "step 2 -7.5", "done").isRight(), "that is not the end");
        assertFalse(compared(steps(0), "step 3 -7.751", "done").isRight());
        assertFalse(compared(steps(0), "step 0 1.5", "step 1 -7.25", "step 2 -7.5", "step 3 -7.75", "done").isRight(),
                "more than there are");
        assertFalse(compared(steps(0), "done").isRight(), "no answer at all");
    }

    @Test
    void aToleranceIsForDecimalNumbersOnly() throws Exception {
        assertEquals(Judgement.right("1 of 3 lines within 0.01"), compared(steps(0.01), "step 3 -7.751", "done"));
        assertFalse(compared(steps(0.01), "step 3 -7.8", "done").isRight());
        assertFalse(compared(steps(0.01), "step 4 -7.75", "done").isRight());
        assertFalse(compared(steps(0.01), "step 3 nan", "done").isRight());
        assertTrue(
                new LineComparison(Tolerance.of(1e-9)).of(List.of("e 0.12500000001D+01"), List.of("e 1.25")).isRight(),
                "Fortran's exponents");
    }

    /** As NAMD's energies: large ones, temperatures, pressures. */
    @Test
    void aToleranceMayBeOfEachColumn() {
        Tolerance tolerance = new Tolerance(
                List.of(Tolerance.Rule.of("0.2 1e-6"), Tolerance.Rule.of("0.02 0 2"), Tolerance.Rule.of("2 0.01 3 4")));
        LineComparison comparison = new LineComparison(tolerance);
        String expected = "100 -300000.0 298.15 -12.5 0.0";
        assertTrue(comparison.of(List.of(expected), List.of("100 -300000.4 298.16 -13.07 1.9")).isRight());
        assertFalse(comparison.of(List.of(expected), List.of("100 -300000.6 298.15 -12.5 0.0")).isRight(), "the first");
        assertFalse(comparison.of(List.of(expected), List.of("100 -300000.0 298.18 -12.5 0.0")).isRight(),
                "the second");
        assertFalse(comparison.of(List.of(expected), List.of("100 -300000.0 298.15 -14.7 0.0")).isRight(), "the third");
        assertEquals("0.2 and 1.0E-6 of each number, 0.02 in columns 2, 2.0 and 0.01 of each number in columns 3, 4",
                tolerance.toString());
        for (String wrong : List.of("", "x", "0", "-1", "1 -1", "1 0 0", "1 0 x", "nan", "Infinity")) {
            assertNull(Tolerance.Rule.of(wrong), wrong);
        }
    }

    @Test
    void proofsAndFlaws() throws Exception {
        assertTrue(compared(steps(0), "step 3 -7.75").words().contains("does not show '^done$'"));
        assertTrue(
                compared(steps(0), "step 3 -7.75", "1 test FAILED", "done").words().contains("shows '1 test FAILED'"));
    }

    @Test
    void filesAreComparedByteByByte() throws Exception {
        Answer files =
                new Answer(Optional.empty(), Tolerance.NONE, Optional.empty(), List.of("out"), List.of(), List.of());
        Run undisturbed = new Run(first, List.of());
        Run later = new Run(second, List.of());
        Files.writeString(first.resolve("out"), "abcdef");
        assertTrue(files.compare(undisturbed, later).words().contains("has not written out"));
        Files.writeString(second.resolve("out"), "abcxef");
        assertTrue(
                files.compare(undisturbed, later).words().contains("out differs from the undisturbed run's at byte 3"));
        Files.writeString(second.resolve("out"), "abcdef");
        assertEquals(Judgement.right("out bit for bit"), files.compare(undisturbed, later));
    }

    @Test
    void theOutputMayBeAFile() throws Exception {
        Answer answer = new Answer(Optional.of(Pattern.compile("step .*")), Tolerance.NONE, Optional.of("log"),
                List.of(), List.of(), List.of());
        assertFalse(answer.alone(new Run(first, WHOLE)).isRight(), "what is printed does not count");
        Files.write(first.resolve("log"), WHOLE);
        assertTrue(answer.alone(new Run(first, List.of())).isRight());
    }

    @Test
    void ofALineAPartMayCount() throws Exception {
        Answer answer = new Answer(Optional.of(Pattern.compile("step (?<answer>\\d+ \\S+) took .*")), Tolerance.NONE,
                Optional.empty(), List.of(), List.of(), List.of());
        assertTrue(answer.compare(new Run(first, List.of("step 1 7.5 took 3 s")),
                new Run(second, List.of("step 1 7.5 took 9 s"))).isRight());
        assertFalse(answer.compare(new Run(first, List.of("step 1 7.5 took 3 s")),
                new Run(second, List.of("step 1 7.6 took 3 s"))).isRight());
    }

    @Test
    void theNewestOfSeveralFilesIsTheOutput() throws Exception {
        Answer answer = new Answer(Optional.empty(), Tolerance.NONE, Optional.of("log_*.txt"), List.of(),
                List.of(Pattern.compile("good")), List.of());
        assertFalse(answer.alone(new Run(first, List.of("good"))).isRight());
        Files.writeString(first.resolve("log_1.txt"), "bad");
        Files.setLastModifiedTime(first.resolve("log_1.txt"), FileTime.fromMillis(1000));
        Files.writeString(first.resolve("log_2.txt"), "good");
        assertTrue(answer.alone(new Run(first, List.of())).isRight());
    }
}
