package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.udckpt.support.runtime.JobRecord;

/**
 * Two MPI ranks with 'device' memory on the stand-in for NVIDIA's driver (system-test/src/test/cuda), which check their
 * memory in each round, under the udckpt command, in a directory of its own that is kept when the test fails. Nothing
 * here runs on a GPU.
 */
final class GpuJob implements AutoCloseable {
    static final String FIRST = "1".repeat(32), SECOND = "2".repeat(32), THIRD = "3".repeat(32);
    private static final int SECONDS = 60;

    final Path directory, library;
    private final CommandLine commands;
    private final List<String> hosts;
    private final Map<String, String> environment;
    private Process process;
    private String name;
    private int asked;
    private boolean good;

    /** @param hosts how the command names them; none: ranks of one agent */
    GpuJob(String... hosts) throws IOException {
        this.hosts = List.of(hosts);
        directory = Files.createTempDirectory("udckpt-g");
        commands = new CommandLine(directory);
        library = Files.copy(CommandLine.artifact("standin-cuda/libcuda.so.1"), directory.resolve("libcuda.so.1"));
        environment = Map.of("STANDIN_CUDA_DIR", directory.toString(), "UDCKPT_REMOTE",
                LocalAgents.agent(directory).toString());
        gpus(FIRST + " 64 Standin A");
    }

    /** {@code GPU-8-4-4-4-12}, of 32 digits. */
    static String uuid(String digits) {
        return "GPU-" + digits.substring(0, 8) + "-" + digits.substring(8, 12) + "-" + digits.substring(12, 16) + "-"
                + digits.substring(16, 20) + "-" + digits.substring(20);
    }

    /** What is here from now on: UUID, MiB, name. */
    void gpus(String... lines) throws IOException {
        Files.write(directory.resolve("gpus"), List.of(lines));
    }

    /** What goes wrong from now on; nothing without a line. */
    void trouble(String... lines) throws IOException {
        Files.write(directory.resolve("trouble"), List.of(lines));
    }

    /** Returns when the ranks compute. */
    void run(String... options) throws Exception {
        start(List.of(options), List.of(CommandLine.artifact("programs/gpu_ranks").toString(), library.toString(),
                "1000", directory.resolve("finish").toString(), directory.resolve("chain").toString()));
        await("the ranks", () -> iteration() > 0);
    }

    /** Another program as the ranks. */
    void start(List<String> options, List<String> program) throws IOException {
        List<String> words = new ArrayList<>(List.of("run", "--name", "job", "--dir", images()));
        words.addAll(hosts.isEmpty() ? List.of("-n", "2") : hosts);
        words.addAll(options);
        words.add("--");
        words.addAll(program);
        begin("run", words);
    }

    String images() {
        return directory.resolve("images").toString();
    }

    /** Returns when the ranks compute again. */
    void restart(String as, String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("restart", images()));
        words.addAll(hosts);
        words.addAll(List.of(options));
        begin(as, words);
        await("the ranks", () -> iteration() > 0);
    }

    /** Ends with 69, having started nothing; what it says. */
    String refusedRestart(String... options) throws Exception {
        List<String> words = new ArrayList<>(List.of("restart", images()));
        words.addAll(hosts);
        words.addAll(List.of(options));
        String as = "refused" + asked++;
        Process refused = commands.start(as, environment, words.toArray(String[]::new));
        try {
            assertTrue(refused.waitFor(SECONDS, TimeUnit.SECONDS), () -> text(as));
            assertEquals(69, refused.exitValue(), () -> text(as));
        } finally {
            refused.destroyForcibly();
        }
        assertEquals("", Files.readString(commands.output(as)));
        return text(as);
    }

    private void begin(String as, List<String> words) throws IOException {
        name = as;
        process = commands.start(as, environment, words.toArray(String[]::new));
    }

    /** Takes a checkpoint that ends with this code; what it says. */
    String checkpoint(int code, String... options) throws Exception {
        String as = "checkpoint" + asked++;
        Process taken = checkpointing(as, options);
        try {
            assertTrue(taken.waitFor(SECONDS, TimeUnit.SECONDS), () -> text(as) + text());
            assertEquals(code, taken.exitValue(), () -> text(as) + text());
        } finally {
            taken.destroyForcibly();
        }
        return text(as);
    }

    Process checkpointing(String as, String... options) throws IOException {
        List<String> words = new ArrayList<>(List.of("checkpoint", "job"));
        words.addAll(List.of(options));
        return commands.start(as, words.toArray(String[]::new));
    }

    /** What {@code udckpt} says to this, with the stand-in where the dynamic linker looks. */
    String say(String... words) throws Exception {
        String as = words[0] + asked++;
        Map<String, String> with = new HashMap<>(environment);
        with.put("LD_LIBRARY_PATH", directory.toString());
        Process said = commands.start(as, with, words);
        try {
            assertTrue(said.waitFor(SECONDS, TimeUnit.SECONDS), () -> text(as));
        } finally {
            said.destroyForcibly();
        }
        return commands.printed(as);
    }

    /** What the driver was asked for, in order: RANK ACTION RESULT. */
    List<String> log() throws IOException {
        Path log = directory.resolve("log");
        return Files.exists(log) ? Files.readAllLines(log) : List.of();
    }

    /** The last one that the ranks have told of, in this incarnation. */
    long iteration() throws IOException {
        return Files.readString(commands.output(name)).lines().filter(line -> line.matches("iteration \\d+"))
                .mapToLong(line -> Long.parseLong(line.substring("iteration ".length()))).max().orElse(0);
    }

    /** The ranks compute, and have found their memory right. */
    void assertGoesOn() throws Exception {
        long before = iteration();
        await("the next rounds", () -> iteration() > before + 20);
        assertTrue(process.isAlive(), this::text);
    }

    /** The ranks end, and their memory was right in each round. */
    void finish() throws Exception {
        Files.createFile(directory.resolve("finish"));
        assertEquals(0, end(), this::text);
        String output = Files.readString(commands.output(name));
        assertTrue(output.contains("PASS") && !output.contains("FAIL"), this::text);
        good = true;
    }

    /** The exit code of the command that runs the job. */
    int end() throws Exception {
        assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS), () -> "the job does not end\n" + text());
        return process.exitValue();
    }

    /** What the present command has said. */
    String text() {
        return text(name);
    }

    String text(String as) {
        try {
            return commands.printed(as) + String.join("\n", log()) + "\n(" + directory + ")\n";
        } catch (IOException e) {
            return e.toString();
        }
    }

    /** Nothing more is to be looked at. */
    void good() {
        good = true;
    }

    void await(String what, RunningJob.Condition condition) throws Exception {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (!condition.holds()) {
            assertTrue(System.nanoTime() < end && process.isAlive(), () -> what + " did not come\n" + text());
            Thread.sleep(20);
        }
    }

    @Override
    public void close() throws Exception {
        Path runtime = commands.runtime().resolve("job");
        if (process != null) {
            Optional<ProcessHandle> shepherd = process.isAlive() && Files.exists(runtime.resolve("job.json"))
                    ? ProcessHandle.of(JobRecord.read(runtime).shepherdPid()).filter(one -> one.pid() != 0)
                    : Optional.empty();
            process.destroyForcibly().waitFor();
            if (Files.exists(runtime)) {
                RankProcesses.kill(runtime);
            }
            shepherd.ifPresent(ProcessHandle::destroyForcibly);
        }
        if (good) {
            new ProcessBuilder("rm", "-rf", directory.toString()).start().waitFor();
        }
    }
}
