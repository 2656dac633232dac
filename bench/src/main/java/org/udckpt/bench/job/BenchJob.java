package org.udckpt.bench.job;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.command.JobStatus;
import org.udckpt.bench.command.UdckptCommand;

/** A running job, from {@code udckpt run} or {@code restart} to its end. */
public final class BenchJob implements AutoCloseable {
    private static final Duration STEP = Duration.ofMillis(200);
    private static final String RUNS = "udckpt: the ranks run:"; // Restart of lifecycle says it
    private final UdckptCommand udckpt;
    private final String job;
    private final Duration limit;
    private final PrintStream log;
    private final Path commandSocket;
    private final long began = System.nanoTime();
    private final Command command;

    /**
     * @param place of its runtime directory, and the time after which it counts as hanging
     * @param words of {@code udckpt}, which give the job this name
     * @param log gets the words now, and in the end what it printed
     */
    public BenchJob(UdckptCommand udckpt, BenchPaths place, String job, List<String> words, PrintStream log)
            throws IOException {
        this.udckpt = udckpt;
        this.job = job;
        this.log = log;
        limit = place.limit();
        log.println(job + ": udckpt " + String.join(" ", words));
        commandSocket = place.runtime().resolve(job).resolve("command.sock"); // docs/reference/control-protocol.md
        command = udckpt.start(line -> {}, words);
    }

    /** Lets it run for so long. */
    public void goOn(Duration time) throws EndedTooEarly, InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() < end) {
            goOnABit();
        }
    }

    private void goOnABit() throws EndedTooEarly, InterruptedException {
        Thread.sleep(STEP);
        if (!command.isRunning()) {
            checkEnd(command.await(limit));
            throw new EndedTooEarly();
        }
    }

    private void checkEnd(int code) throws InterruptedException {
        if (code != 0) {
            command.output().allLines();
            command.errors().allLines();
            throw new BenchFailure("exit code " + code + " from " + command.describe());
        }
    }

    /**
     * Its addresses, as soon as there are so many; below a launcher all of them are those of one rank, the launcher.
     */
    public JobStatus busy(int queuePairs) throws EndedTooEarly, IOException, InterruptedException {
        return status(status -> virtualAddresses(status).size() >= queuePairs);
    }

    /** Its addresses, as soon as all that are in {@code before} are there again. */
    public JobStatus busyAgain(JobStatus before) throws EndedTooEarly, IOException, InterruptedException {
        List<JobStatus.Address> wanted = virtualAddresses(before);
        return status(status -> virtualAddresses(status).containsAll(wanted));
    }

    /**
     * Waits until a job that is restarted runs again.
     *
     * @return nanoseconds from before the start of {@code udckpt restart}
     */
    public long awaitRunning() throws InterruptedException {
        if (!command.errors().await(line -> line.startsWith(RUNS), 1, limit)) {
            throw new BenchFailure("it does not run again: " + command.describe());
        }
        return System.nanoTime() - began;
    }

    private JobStatus status(Predicate<JobStatus> wanted) throws EndedTooEarly, IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        JobStatus last = null;
        while (System.nanoTime() < end) {
            if (Files.exists(commandSocket)) {
                last = answered(() -> udckpt.status(job));
                if (wanted.test(last)) {
                    return last;
                }
            }
            goOnABit();
        }
        throw new BenchFailure("it does not have its queue pairs after " + limit.toSeconds() + " s (" + last + "): "
                + command.describe());
    }

    private static List<JobStatus.Address> virtualAddresses(JobStatus status) {
        return status.ranks().stream().flatMap(rank -> rank.endpoints().stream()).map(JobStatus.Endpoint::virtual)
                .toList();
    }

    /** Gives the id of a checkpoint that is durable. */
    public String checkpoint() throws EndedTooEarly, IOException, InterruptedException {
        return answered(() -> udckpt.checkpoint(job));
    }

    private <T> T answered(Question<T> question) throws EndedTooEarly, IOException, InterruptedException {
        try {
            return question.ask();
        } catch (BenchFailure refused) {
            goOn(Duration.ofSeconds(2)); // the reason may be that it was about to end
            throw refused;
        }
    }

    private interface Question<T> {
        T ask() throws IOException, InterruptedException;
    }

    /** {@code kill -9} of all of its processes; udckpt itself has to notice. */
    public void kill() throws EndedTooEarly, InterruptedException {
        ProcessHandle agent = ProcessHandle.of(command.pid()).orElseThrow(EndedTooEarly::new);
        List<ProcessHandle> shepherds = agent.children().toList();
        List<ProcessHandle> all = shepherds.stream().flatMap(ProcessHandle::descendants).toList();
        if (all.isEmpty()) {
            goOn(Duration.ofSeconds(10));
        }
        all.forEach(ProcessHandle::destroyForcibly);
        if (command.await(limit) == 0) {
            throw new EndedTooEarly();
        }
    }

    /** All that it printed: its standard output, then its errors. */
    public List<String> awaitEnd() throws InterruptedException {
        checkEnd(command.await(limit));
        List<String> lines = new ArrayList<>(command.output().allLines());
        lines.addAll(command.errors().allLines());
        return lines;
    }

    @Override
    public void close() {
        command.close();
        log.println(job + " printed:");
        command.output().lines().forEach(log::println);
        log.println(job + " printed to standard error:");
        command.errors().lines().forEach(log::println);
    }
}
