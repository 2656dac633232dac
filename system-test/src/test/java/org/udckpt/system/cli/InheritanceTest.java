package org.udckpt.system.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a rank has from the user's shell, although a JVM stands between them. */
@Timeout(180)
class InheritanceTest {
    private static final long GLIBC_SIGNALS = 3L << 31; // 32 and 33

    @TempDir
    Path directory;

    /**
     * As under mpiexec. This JVM's own child, the shell, ignores glibc's signals (posix_spawn), which mpiexec passes
     * on.
     */
    @Test
    void limitAndSignals() throws Exception {
        String before = "ulimit -Sn 300; trap '' HUP WINCH USR1";
        List<String> rank = List.of("/bin/sh", "-c",
                "ulimit -Sn; env | grep -E 'UDCKPT_SHELL|JAVA_SR'; exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
        try (Udckpts udckpts = new Udckpts(directory)) {
            List<String> reference =
                    new ArrayList<>(List.of("/bin/sh", "-c", before + "; exec mpiexec.hydra -n 1 \"$@\"", "sh"));
            reference.addAll(rank);
            Udckpts.Result theirs = udckpts.start(reference, Map.of(), new File("/dev/null")).await(60);
            List<String> run = new ArrayList<>(List.of("run", "--"));
            run.addAll(rank);
            Udckpts.Result ours =
                    udckpts.startLimited(before, Map.of("UDCKPT_SHELL_OPEN_FILES", "300", "_JAVA_SR_SIGNUM", "16"),
                            run.toArray(String[]::new)).await(60);
            List<String> lines = ours.output().lines().toList();
            assertEquals(List.of("300", "SigBlk:\t0000000000000000"), lines.subList(0, 2), ours.toString());
            assertEquals(ignored(theirs) & ~GLIBC_SIGNALS, ignored(ours), theirs + "\n" + ours);
            assertEquals(3, lines.size(), ours.toString());
        }
    }

    /** A restart is started with another nice value than the job was, as batch systems do; root's has the job's. */
    @Test
    void aRestartedJobHasItsNiceValue() throws Exception {
        Path go = directory.resolve("go");
        String images = directory.resolve("images").toString();
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Running job = udckpts.start("run", "--name", "nice", "--dir", images, "--", "/bin/sh", "-c",
                    "nice; until [ -e " + go + " ]; do sleep 0.1; done; nice");
            job.awaitOutput("0\n");
            Udckpts.Result checkpoint = udckpts.run("checkpoint", "nice", "--then", "kill");
            assertEquals(0, checkpoint.code(), checkpoint.toString());
            job.await(60);
            Files.createFile(go);
            Udckpts.Result again =
                    udckpts.startLimited("renice -n 5 -p $$ >&2", Map.of(), "restart", images).await(60);
            assertEquals("0\n", again.output(), again.toString());
        }
    }

    private static long ignored(Udckpts.Result result) {
        String line = result.output().lines().filter(one -> one.startsWith("SigIgn:")).findFirst()
                .orElseThrow(() -> new AssertionError(result.toString()));
        return Long.parseUnsignedLong(line.substring("SigIgn:".length()).strip(), 16);
    }

    /** The udckpt script writes the limit down, once: the demonstration runs it a second time under a JVM. */
    @Test
    void theScriptRemembersTheLimit() throws Exception {
        String script =
                "ulimit -Sn 300; . \"$0\"; remember_limits; ulimit -Sn 400; remember_limits; exec printenv "
                        + "UDCKPT_SHELL_OPEN_FILES";
        try (Udckpts udckpts = new Udckpts(directory)) {
            List<String> command = List.of("bash", "-c", script,
                    Path.of(System.getProperty("udckpt.root"), "scripts/java.sh").toString());
            assertEquals("300\n", udckpts.start(command, Map.of(), new File("/dev/null")).await(60).output());
        }
    }

    /** A profiler stops the agent's threads by a signal, which is not one that goes to the job. */
    @Test
    void anAgentUnderAProfiler() throws Exception {
        String script = ". \"$0\"; set_thread_signal; exec printenv _JAVA_SR_SIGNUM";
        try (Udckpts udckpts = new Udckpts(directory)) {
            List<String> command = List.of("bash", "-c", script,
                    Path.of(System.getProperty("udckpt.root"), "scripts/java.sh").toString());
            String signal = udckpts.start(command, Map.of(), new File("/dev/null")).await(60).output().strip();
            Map<String, String> environment =
                    Map.of("_JAVA_SR_SIGNUM", signal, "JDK_JAVA_OPTIONS", "-XX:StartFlightRecording:settings=profile");
            Udckpts.Result job =
                    udckpts.startLimited("true", environment, "run", "-n", "2", "--", "/bin/sleep", "3").await(60);
            assertEquals(0, job.code(), job.toString());
        }
    }

    @Test
    void bytesThatAreNotUtf8() throws Exception {
        String before =
                "export BAD=\"$(printf 'V\\376')\"; set -- \"$@\" \"$(printf 'a\\377\\303')\" '@file' '\u00e9\u20ac' "
                        + "'' --";
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result ours = udckpts.startLimited(before, Map.of("LC_ALL", "C.UTF-8"),
                    "run", "--", "/bin/sh", "-c", "printf '%s|' \"$@\" \"$BAD\" | od -An -v -tx1 | tr -d ' \\n'", "sh")
                    .await(60);
            assertEquals(0, ours.code(), ours.toString());
            assertEquals(
                    "61ffc3" + "7c" + "4066696c65" + "7c" + "c3a9e282ac" + "7c" + "7c" + "2d2d" + "7c" + "56fe" + "7c",
                    ours.output());
        }
    }

    /** The dynamic linker would ignore the library with a warning, and the job would run without checkpoints. */
    @Test
    void aLibraryThatCannotBePreloadedIsRefused() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("a link"), Path.of(System.getProperty("udckpt.native")));
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result ours = udckpts
                    .start(Map.of("UDCKPT_NATIVE", link.toString()), new File("/dev/null"), "run", "--", "/bin/true")
                    .await(60);
            assertEquals(69, ours.code(), ours.toString());
            assertTrue(ours.errors().contains("symbolic link"), ours.toString());
        }
    }

    @Test
    void aPathThatIsNotUtf8IsRefused() throws Exception {
        try (Udckpts udckpts = new Udckpts(directory)) {
            Udckpts.Result ours = udckpts
                    .startLimited("set -- \"$@\" \"$(printf './a\\377')\"", Map.of("LC_ALL", "C.UTF-8"), "run", "--")
                    .await(60);
            assertEquals(64, ours.code(), ours.toString());
            assertTrue(ours.errors().contains("is not UTF-8"), ours.toString());
        }
    }
}
