package org.udckpt.picture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.ProcessHandleFd;
import org.udckpt.linux.Syscall;

/**
 * A picture of a process that stands still is that of a moment before; what changes is told, with both sides, but for
 * what may differ.
 */
@Timeout(60)
class PictureTest {
    private static final int SIGSTOP = 19, IDLE_NICE = 7;

    private Process sleeper;
    private int pid;

    @BeforeEach
    void start() throws Exception {
        sleeper = new ProcessBuilder("sleep", "60").start();
        pid = (int) sleeper.pid();
        try (ProcessHandleFd process = new ProcessHandleFd(pid)) {
            process.signal(SIGSTOP);
        }
        while (!org.udckpt.linux.Proc.threadState(pid, pid).equals("T")) {
            Thread.sleep(5);
        }
    }

    @AfterEach
    void end() throws Exception {
        sleeper.destroyForcibly().waitFor();
    }

    private Picture picture() {
        return Picture.of(List.of(pid), link -> false);
    }

    @Test
    void aProcessThatStandsStillIsTheSame() {
        assertEquals(List.of(), Picture.differences(picture(), picture(), KernelsWord.afterRestart()));
    }

    @Test
    void whatChangesIsToldWithBothSides() {
        Picture before = picture();
        LinuxError.check(Syscall.call(Syscall.SETPRIORITY, 0, pid, IDLE_NICE), "setpriority");
        List<String> differences = Picture.differences(before, picture(), KernelsWord.afterRestart());
        assertTrue(differences.contains("%d/%d stat nice: was 0; is %d".formatted(pid, pid, IDLE_NICE)),
                differences.toString());
        assertFalse(differences.stream().anyMatch(line -> !line.matches(".*(nice|priority|sched_getattr).*")),
                differences.toString());
    }

    @Test
    void whatMayDifferIsLeftOut() {
        Picture before = picture();
        LinuxError.check(Syscall.call(Syscall.SETPRIORITY, 0, pid, IDLE_NICE), "setpriority");
        List<MayDiffer> may = List.of(MayDiffer.line("stat (nice|priority)$", "this test"),
                MayDiffer.part("sched_getattr$", "nice \\d+", "this test"));
        assertEquals(List.of(), Picture.differences(before, picture(), may).stream()
                .filter(line -> line.matches(".*(nice|priority|sched_getattr).*")).toList());
    }

    @Test
    void eachRuleHasAReason() {
        KernelsWord.afterRestart().forEach(rule -> assertFalse(rule.reason().isBlank(), rule.about().pattern()));
    }
}
