package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes of a job that trace others of it: a capture is refused, until the tracer is made to detach; then the
 * tracee goes on as if there had been none, and the job can be captured.
 */
@Timeout(180)
class JobTracersTest {
    private static final int CHECKED_MS = 60_000;

    /** How the tracer got hold of its child, and what it does with it. */
    @ParameterizedTest
    @ValueSource(strings = {"seized", "sleeping", "attached", "attaching", "halted", "asked", "asked-signal",
            "interrupted", "stopped",
            "listening", "threads", "followed", "watched", "chain"})
    void areDetached(String kind) throws Exception {
        try (Target target = Target.own("traced", kind)) {
            CaptureRefused refused = assertThrows(CaptureRefused.class, () -> Capture.take(target.request()).close());
            assertTrue(refused.getMessage().contains("it is traced by process"), refused.getMessage());
            List<String> said = JobTracers.detach(target.request().roots());
            assertEquals(kind.equals("chain") ? 2 : 1, said.size(), said::toString);
            assertTrue(said.getFirst().matches("process \\d+ \\(traced\\) was detached from process \\d+ \\(traced\\)"),
                    said::toString);
            assertEquals(List.of(), JobTracers.detach(target.request().roots()));
            Capture.take(target.request()).close();
            Files.createFile(target.directory.resolve("check"));
            target.await(target.directory.resolve("checked"), CHECKED_MS);
            Capture.take(target.request()).close();
            assertEquals("PASS", target.verdict());
        }
    }

    /** Nobody would take the SIGTRAP. */
    @Test
    void oneWithABreakpointInTheProgramIsRefused() throws Exception {
        try (Target target = Target.own("traced", "breakpoint")) {
            CaptureRefused refused =
                    assertThrows(CaptureRefused.class, () -> JobTracers.detach(target.request().roots()));
            assertTrue(refused.getMessage().contains("has a breakpoint in it, at 0x"), refused.getMessage());
            Files.createFile(target.directory.resolve("check"));
            target.await(target.directory.resolve("checked"), CHECKED_MS);
            assertEquals(List.of(), JobTracers.detach(target.request().roots()));
            assertEquals("PASS", target.verdict());
        }
    }

    /** The child alone is the job. */
    @Test
    void oneOutsideOfTheJobIsNamed() throws Exception {
        try (Target outside = Target.own("traced", "attached")) {
            int child = outside.processes().stream().filter(pid -> pid != outside.pid).findFirst().orElseThrow();
            CaptureRequest.Root root = new CaptureRequest.Root(0, child);
            CaptureRefused refused = assertThrows(CaptureRefused.class, () -> JobTracers.detach(List.of(root)));
            assertTrue(refused.getMessage().contains("traced by process " + outside.pid + " (traced), which is not "
                    + "part of the job"), refused.getMessage());
            String words = JobTracers.wordsOf(outside.pid, List.of(child));
            assertTrue(words.endsWith("it is not part of the job"), words);
            words = JobTracers.wordsOf(outside.pid, List.of(outside.pid));
            assertTrue(words.endsWith("(--detach-debuggers)"), words);
        }
    }
}
