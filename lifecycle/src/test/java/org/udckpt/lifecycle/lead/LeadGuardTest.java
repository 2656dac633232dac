package org.udckpt.lifecycle.lead;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** udckpt-guard with shell scripts in the place of a lead; what leads leave to each other. */
@Timeout(60)
class LeadGuardTest {
    private static final String KEPT =
            "printf 'name j\\nwait 50\\nlimit 2\\nnewest 7\\nbefore 3\\nlost a,b\\n' >/proc/self/fd/$UDCKPT_GUARD\n";

    @TempDir
    Path temp;

    /** @param script in which $RUN is the number of this lead, from 1 on */
    private Process start(String script) throws IOException {
        Path runs = temp.resolve("runs");
        List<String> words = new ArrayList<>(
                List.of(Path.of(System.getProperty("udckpt.native"), "udckpt-guard").toString(), "/bin/sh", "sh", "-c",
                        "echo x >>" + runs + "; RUN=$(wc -l <" + runs + "); " + script));
        return new ProcessBuilder(words).redirectErrorStream(true).redirectOutput(temp.resolve("out").toFile()).start();
    }

    private String out() throws IOException {
        return Files.readString(temp.resolve("out"));
    }

    private static int end(Process process) throws InterruptedException {
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        return process.exitValue();
    }

    private void awaitOutput(String what) throws Exception {
        while (!out().contains(what)) {
            Thread.sleep(10);
        }
    }

    @Test
    void anEndIsTheCommandsEnd() throws Exception {
        assertEquals(3, end(start(KEPT + "exit 3")));
        assertEquals(128 + 9, end(start("kill -9 $$")), "there is nothing to go on from");
        assertEquals(128 + 11, end(start("kill -11 $$")));
    }

    @Test
    void aLostLeadIsStartedAgainWithWhatItLeft() throws Exception {
        assertEquals(0,
                end(start("echo run $RUN \"[$UDCKPT_LOST_LEAD]\"\n" + KEPT + "[ $RUN = 3 ] && exit 0; kill -9 $$")));
        assertTrue(out().contains("run 1 []"), out());
        assertTrue(out().contains("run 2 [name j\nwait 50\nlimit 2\nnewest 7\nbefore 3\nlost a,b\n]")
                || out().contains("run 2 [name j\nwait 50\nlimit 2\nnewest 7\nbefore 3\nlost a,b]"), out());
        assertTrue(out().contains("killed by signal 9 (Killed); its agents end the ranks within 0.1 s"), out());
    }

    @Test
    void withoutGettingFurtherItIsGivenUp() throws Exception {
        assertEquals(128 + 9, end(start(KEPT + "kill -9 $$")));
        assertTrue(out().contains("loss 2 of at most 2") && out().contains("loss 3 without a new checkpoint"), out());
        assertEquals(3, Files.readAllLines(temp.resolve("runs")).size());
    }

    @Test
    void whoGetsFurtherIsNotGivenUp() throws Exception {
        assertEquals(0, end(start(
                "[ $RUN = 6 ] && exit 0; printf \"wait 1\\nlimit 1\\nnewest $RUN\\n\" >/proc/self/fd/$UDCKPT_GUARD; "
                        + "kill -9 $$")));
    }

    @Test
    void signalsReachTheLead() throws Exception {
        Process guard =
                start(KEPT + "trap 'exit 9' TERM; trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done");
        awaitOutput("ready");
        new ProcessBuilder("kill", "-USR1", Long.toString(guard.pid())).start().waitFor();
        awaitOutput("usr1");
        guard.destroy();
        assertEquals(9, end(guard));
    }

    @Test
    void whoAsksForTheEndGetsIt() throws Exception {
        Process killed = start(KEPT + "echo ready; exec sleep 60");
        awaitOutput("ready");
        killed.destroy();
        assertEquals(128 + 15, end(killed), "of a lead that does not catch it");
        Files.delete(temp.resolve("runs"));
        Process waiting = start("printf 'wait 60000\\nlimit 2\\nnewest 7\\n' >/proc/self/fd/$UDCKPT_GUARD; kill -9 $$");
        awaitOutput("its agents end the ranks within 60.0 s");
        waiting.destroy();
        assertEquals(128 + 15, end(waiting));
        assertTrue(out().contains("it received signal 15"), out());
    }

    @Test
    void theLeadEndsWithItsGuard() throws Exception {
        Process guard = start(KEPT + "echo pid $$; exec sleep 60");
        awaitOutput("pid");
        ProcessHandle lead =
                ProcessHandle.of(Long.parseLong(out().replaceAll("(?s).*pid (\\d+).*", "$1"))).orElseThrow();
        guard.destroyForcibly();
        end(guard);
        lead.onExit().get(10, TimeUnit.SECONDS);
        assertFalse(lead.isAlive());
    }

    @Test
    void whatIsLeftIsRead() {
        assertEquals(Optional.of(new LostLead("a b", 3, 7, Set.of("x", "y"))),
                LostLead.parse("name a b\nwait 50\nlimit 2\nnewest 7\nbefore 3\nlost x,y\n"));
        assertEquals(Optional.of(new LostLead("j", 0, 1, Set.of())),
                LostLead.parse("name j\nnewest 1\nbefore 0\nlost \n"));
        assertEquals(Optional.empty(), LostLead.parse(null));
    }
}
