package org.udckpt.process.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Proc;

/**
 * kill -9 of an agent in the middle of captures: the job runs on, unhurt, with its own signal masks, and no snapshot is
 * left.
 */
@Tag("slow")
@Timeout(900)
class TracerDeathTest {
    private static final int DEATHS = Integer.getInteger("udckpt.deaths", 10);
    /** Of 10 ms: a bound for a loaded machine. */
    private static final int ROUNDS = 3000;

    @Test
    void theJobOutlivesItsTracer() throws Exception {
        long seed = System.nanoTime();
        System.out.println("TracerDeathTest seed " + seed);
        Random random = new Random(seed);
        try (Target threads = Target.feature("threads", Target.LIBRARY);
                Target signals = Target.feature("nanosleep", Target.LIBRARY)) {
            Map<Integer, String> masks = masks(threads, signals);
            for (int death = 0; death < DEATHS; death++) {
                Process tracer = tracer(threads.pid, signals.pid);
                try {
                    assertEquals("warm", tracer.inputReader().readLine());
                    Thread.sleep(random.nextInt(60), random.nextInt(1_000_000));
                } finally {
                    tracer.destroyForcibly().waitFor();
                }
                settled(threads);
                settled(signals);
                Map<Integer, String> now = look(threads, signals);
                for (int round = 0; round < ROUNDS && !now.entrySet().containsAll(masks.entrySet()); round++) {
                    Thread.sleep(10); // a thread that makes another one blocks its signals meanwhile
                    now = look(threads, signals);
                }
                now.keySet().retainAll(masks.keySet());
                assertEquals(masks, now, "signal masks after death " + death + ", seed " + seed);
            }
            assertEquals("PASS", threads.verdict().split(" ")[0], "seed " + seed);
            assertEquals("PASS", signals.verdict().split(" ")[0], "seed " + seed);
        }
    }

    private static Process tracer(int... pids) throws Exception {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-cp",
                System.getProperty("java.class.path"), CaptureLoop.class.getName()));
        for (int pid : pids) {
            command.add(Integer.toString(pid));
        }
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    /** Soon: no thread stopped or traced, and no second process with this program. */
    private static void settled(Target target) throws Exception {
        String seen = "";
        for (int round = 0; round < ROUNDS; round++) {
            target.reapAdopted();
            seen = states(target) + target.processes();
            if (!seen.matches(".*[tT].*") && target.processes().equals(List.of(target.pid))) {
                return;
            }
            Thread.sleep(10);
        }
        assertTrue(target.alive(), "the target has ended");
        assertEquals("no thread stopped, no snapshot", seen);
    }

    private static String states(Target target) {
        return threadFields(target, "State:").values().stream().map(state -> state.substring(0, 1))
                .collect(Collectors.joining());
    }

    /**
     * Of the threads that last: those with the same mask at ten looks. (libc blocks all signals in a thread that is
     * being made.)
     */
    private static Map<Integer, String> masks(Target... targets) throws InterruptedException {
        Map<Integer, String> masks = look(targets);
        for (int again = 0; again < 10; again++) {
            Thread.sleep(10);
            masks.entrySet().retainAll(look(targets).entrySet());
        }
        return masks;
    }

    private static Map<Integer, String> look(Target... targets) {
        Map<Integer, String> masks = new TreeMap<>();
        for (Target target : targets) {
            masks.putAll(threadFields(target, "SigBlk:"));
        }
        return masks;
    }

    /**
     * One field of each thread's status; the programs make short-lived threads, and one that has ended meanwhile has
     * none.
     */
    private static Map<Integer, String> threadFields(Target target, String key) {
        Map<Integer, String> fields = new TreeMap<>();
        for (int tid : Proc.threads(target.pid)) {
            try {
                fields.put(tid, Proc.field(Proc.text("/proc/" + target.pid + "/task/" + tid + "/status"), key));
            } catch (LinuxError gone) {
                if (gone.errno() != LinuxError.ENOENT && gone.errno() != LinuxError.ESRCH) {
                    throw gone;
                }
            }
        }
        return fields;
    }
}
