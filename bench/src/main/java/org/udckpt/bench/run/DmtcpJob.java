package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Workplace;

/** An incarnation of a job under DMTCP, from its launch or its restart on. */
final class DmtcpJob implements AutoCloseable {
    private static final Duration STEP = Duration.ofMillis(50);
    private final Workplace workplace;
    private final Path portFile;
    private final Duration limit;
    private final Command command;

    /** @param words of {@link Dmtcp#launch} or {@link Dmtcp#restart} @param limit after which it counts as hanging */
    DmtcpJob(Workplace workplace, List<String> words, Duration limit) throws IOException {
        this.workplace = workplace;
        this.limit = limit;
        portFile = workplace.work().resolve(Dmtcp.portFile(words.getFirst()));
        command = workplace.bare(words);
    }

    /** Waits until so many processes run. */
    void awaitProcesses(int count) throws EndedTooEarly, IOException, InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (processes() < count) {
            if (System.nanoTime() > end) {
                throw new BenchFailure("no " + count + " processes run under DMTCP after " + limit.toSeconds() + " s: "
                        + command.describe());
            }
            goOn(STEP);
        }
    }

    int processes() throws IOException, InterruptedException {
        return Dmtcp.running(asked("--status"));
    }

    void goOn(Duration time) throws EndedTooEarly, InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        do {
            if (!command.isRunning()) {
                command.awaitSuccess(limit);
                throw new EndedTooEarly();
            }
            Thread.sleep(STEP);
        } while (System.nanoTime() < end);
    }

    /** Until the processes run again; their images are complete then. @return nanoseconds */
    long checkpoint() throws IOException, InterruptedException {
        long start = System.nanoTime();
        asked("--bcheckpoint");
        return System.nanoTime() - start;
    }

    /** The images in the working directory, by their names there; none before the first checkpoint. */
    List<String> images() throws IOException {
        if (!Files.isDirectory(workplace.work().resolve(Dmtcp.IMAGES))) {
            return List.of();
        }
        try (var files = Files.list(workplace.work().resolve(Dmtcp.IMAGES))) {
            return files.map(Path::getFileName).map(Path::toString)
                    .filter(name -> name.startsWith("ckpt_") && name.endsWith(".dmtcp")).sorted()
                    .map(name -> Dmtcp.IMAGES + "/" + name).toList();
        }
    }

    /** Ends all of its processes. */
    void kill() throws IOException, InterruptedException {
        asked("--kill");
        command.await(limit);
    }

    /** All that it printed: its standard output, then its errors. */
    List<String> awaitEnd() throws InterruptedException {
        List<String> printed = new ArrayList<>(command.awaitSuccess(limit));
        printed.addAll(command.errors().allLines());
        return printed;
    }

    /** What dmtcp_command printed; nothing if nobody listens, or before its coordinator has said where. */
    private List<String> asked(String question) throws IOException, InterruptedException {
        String port = Files.exists(portFile) ? Files.readString(portFile).strip() : "";
        if (!port.matches("\\d{1,5}")) {
            return List.of();
        }
        try (Command asking = workplace.bare(Dmtcp.command(Integer.parseInt(port), question))) {
            asking.await(limit);
            return asking.output().allLines();
        }
    }

    @Override
    public void close() {
        command.close();
    }
}
