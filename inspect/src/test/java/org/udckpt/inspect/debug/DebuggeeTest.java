package org.udckpt.inspect.debug;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What was killed is told from what ended by itself while nobody has waited for it, and from what lives. */
@Timeout(60)
class DebuggeeTest {
    /** Its child becomes what END makes of it, and is not waited for. */
    private static final String PARENT = "import os, sys, time\n"
            + "child = os.fork()\n"
            + "if child == 0:\n"
            + "    exec(sys.argv[1])\n"
            + "print(child, flush=True)\n"
            + "time.sleep(60)\n";

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "Z | true  | os.kill(os.getpid(), 9)",
            "Z | false | os._exit(9)",
            "Z | false | os._exit(0)",
            "Z | false | os.kill(os.getpid(), 15)",
            "Z | false | import threading; threading.Thread(target=time.sleep, args=[60]).start(); os._exit(0)",
            "T | false | os.kill(os.getpid(), 19)",
            "S | false | time.sleep(60)",
    })
    void howItEnded(String state, boolean killed, String end) throws Exception {
        Process parent = new ProcessBuilder("python3", "-c", PARENT, end).start();
        int child = Integer.parseInt(parent.inputReader().readLine());
        try {
            while (!state(child).equals(state)) {
                Thread.sleep(5);
            }
            assertEquals(killed, new Debuggee(null, end, child).killed(), end);
        } finally {
            ProcessHandle.of(child).ifPresent(ProcessHandle::destroyForcibly); // while its number is its own
            parent.destroyForcibly().waitFor();
        }
    }

    private static String state(int pid) throws Exception {
        String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ")[0];
    }

    /** Killed where it stands, with no processor for it before it is looked at: told at once. */
    @Test
    void atOnce() throws Exception {
        for (int round = 0; round < 200; round++) {
            Process sleeper = new ProcessBuilder("sleep", "60").start();
            Debuggee debuggee = new Debuggee(null, "sleep", (int) sleeper.pid());
            assertFalse(debuggee.killed());
            sleeper.destroyForcibly();
            assertTrue(debuggee.killed(), "round " + round);
            assertTrue(sleeper.waitFor(10, TimeUnit.SECONDS));
        }
    }
}
