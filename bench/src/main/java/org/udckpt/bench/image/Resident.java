package org.udckpt.bench.image;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.command.UdckptCommand;
import org.udckpt.linux.Proc;

/** A job of processes that have memory and do not poll ({@code resident.c}), and what its checkpoints cost. */
@SuppressWarnings("try") // close() waits for a program, and whoever closes may be interrupted
final class Resident implements AutoCloseable {
    private static final Duration START = Duration.ofMinutes(3);
    private static final Duration WRITE = Duration.ofMinutes(5);
    private static final int TICK_MS = 10; // USER_HZ is 100 on every Linux (proc_pid_stat(5))
    /** utime and cutime of proc_pid_stat(5), counted from the state; stime and cstime come after them. */
    private static final int OWN = 11, CHILDREN = 13;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final UdckptCommand udckpt;
    private final Path images;
    private final Path finish;
    private final Command run;
    private final List<ProcessHandle> ranks = new ArrayList<>();
    private final String name = "image-bench-" + ProcessHandle.current().pid();

    /**
     * What one checkpoint took.
     *
     * @param cpuSeconds of the agent and the snapshots;
     * @param agentSeconds of these the agent's;
     * @param ranksSeconds the ranks' own meanwhile: the forks, where they sleep
     * @param endMicroseconds by CLOCK_MONOTONIC, when it was durable
     */
    record Taken(long bytes, long storedBytes, double writeSeconds, double stopMs, double cpuSeconds,
            double agentSeconds, double ranksSeconds, long endMicroseconds) {
        /** GB/s of memory. */
        double rate() {
            return bytes / 1e9 / writeSeconds;
        }
    }

    /** What the processes are. @param busyMicroseconds 0: they sleep */
    record Shape(int ranks, int mebibytes, String content, String pages, int busyMicroseconds) {}

    /** Returns when the memory is filled. */
    Resident(Path root, Path work, Path images, Shape shape, String... options)
            throws IOException, InterruptedException {
        this.udckpt = new UdckptCommand(root, work,
                Map.of("UDCKPT_NO_BUILD", "1", "UDCKPT_RUNTIME", work.resolve("run").toString()));
        this.images = images;
        this.finish = work.resolve("finish");
        Files.deleteIfExists(finish);
        List<String> words = new ArrayList<>(
                List.of("run", "-n", Integer.toString(shape.ranks()), "--name", name, "--dir", images.toString()));
        words.addAll(List.of(options));
        words.addAll(List.of("--", udckpt.program("resident").toString(), Integer.toString(shape.mebibytes()),
                shape.content(), shape.pages(),
                finish.toString(), Integer.toString(shape.busyMicroseconds())));
        run = udckpt.start(line -> {}, words);
        if (!run.output().await("ready"::equals, shape.ranks(), START)) {
            throw new BenchFailure("the job did not start: " + run.describe());
        }
    }

    /** Takes a checkpoint and returns when it is durable. */
    Taken checkpoint() throws IOException, InterruptedException {
        double before = writersCpuSeconds(), agentBefore = cpuSeconds(agentPid(), OWN), ranksBefore = ranksSeconds();
        try (Command command = udckpt.start(line -> {}, List.of("checkpoint", name))) {
            command.awaitSuccess(WRITE);
        }
        long end = System.nanoTime() / 1000;
        double cpu = writersCpuSeconds() - before, agent = cpuSeconds(agentPid(), OWN) - agentBefore;
        double inRanks = ranksSeconds() - ranksBefore;
        JsonNode last = null;
        for (JsonNode one : JSON.readTree(String.join("\n", udckpt.call("list", images.toString(), "--json")))
                .path("checkpoints")) {
            last = one;
        }
        return new Taken(last.path("bytes").asLong(), last.path("stored_bytes").asLong(),
                last.path("write_ms").asDouble() / 1e3,
                last.path("stop_ms").path("max").asDouble(), cpu, agent, inRanks,
                end);
    }

    /** The lines that a busy process has printed. */
    List<String> lines() {
        return run.output().lines();
    }

    /** Asked once: an answer is work of the agent's. */
    List<ProcessHandle> ranks() throws IOException, InterruptedException {
        if (ranks.isEmpty()) {
            udckpt.status(name).ranks().forEach(rank -> ranks.add(ProcessHandle.of(rank.pid()).orElseThrow()));
        }
        return ranks;
    }

    /** What a fork of one of the processes takes that is no checkpoint, in ms: the median. */
    double bareForkMs() {
        return ImageBench.median(lines().stream().filter(line -> line.startsWith("fork "))
                .map(line -> Long.parseLong(line.substring(5)) / 1e3).toList());
    }

    /**
     * User and system time so far of the agent, and of the snapshots, which write themselves and are the shepherd's
     * children.
     */
    private double writersCpuSeconds() throws IOException, InterruptedException {
        return cpuSeconds(agentPid(), OWN) + cpuSeconds(ranks().getFirst().parent().orElseThrow().pid(), CHILDREN);
    }

    private double ranksSeconds() throws IOException, InterruptedException {
        double all = 0;
        for (ProcessHandle rank : ranks()) {
            all += cpuSeconds(rank.pid(), OWN);
        }
        return all;
    }

    static void signal(ProcessHandle process, String name) throws IOException, InterruptedException {
        if (new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start().waitFor() != 0) {
            throw new BenchFailure("kill -" + name + " of the process failed");
        }
    }

    /**
     * Has each of them write to its memory.
     *
     * @param signal of {@code resident.c}: HUP, one page of a hundred; ALRM, all
     * @return how long the slowest took, in ms
     */
    double write(String signal) throws IOException, InterruptedException {
        List<ProcessHandle> ranks = ranks();
        int before = wrote().size();
        for (ProcessHandle rank : ranks) {
            signal(rank, signal);
        }
        long end = System.nanoTime() + START.toNanos();
        while (wrote().size() < before + ranks.size()) {
            if (System.nanoTime() > end) {
                throw new BenchFailure("nothing was written: " + run.describe());
            }
            Thread.sleep(10);
        }
        return wrote().stream().skip(before).mapToDouble(line -> Long.parseLong(line.split(" ")[2]) / 1e3).max()
                .orElseThrow();
    }

    private List<String> wrote() {
        return lines().stream().filter(line -> line.startsWith("wrote ")).toList();
    }

    private static double cpuSeconds(long pid, int field) throws IOException {
        String stat = Proc.text("/proc/" + pid + "/stat");
        String[] words = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        return (Long.parseLong(words[field]) + Long.parseLong(words[field + 1])) * TICK_MS / 1e3;
    }

    /** The most memory that the agent has had, in MiB. */
    long agentPeakMebibytes() throws IOException {
        for (String line : Proc.text("/proc/" + agentPid() + "/status").lines().toList()) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) >> 10;
            }
        }
        throw new BenchFailure("no VmHWM of the agent");
    }

    private long agentPid() {
        return run.pid(); // the script execs the JVM
    }

    @Override
    public void close() throws IOException, InterruptedException {
        Files.createFile(finish);
        try (run) {
            run.awaitSuccess(Duration.ofMinutes(1));
        }
    }
}
