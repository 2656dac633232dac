package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.application.TrialVerdict.Taken;
import org.udckpt.bench.command.JobStatus;
import org.udckpt.bench.command.Remapping;
import org.udckpt.bench.job.BenchJob;
import org.udckpt.bench.job.BenchPaths;
import org.udckpt.bench.job.Cell;
import org.udckpt.bench.job.EndedTooEarly;
import org.udckpt.bench.job.Workplace;
import org.udckpt.bench.workload.Judgement;

/** One run of a cell in one way, in a directory of its own. */
final class CellRun implements AutoCloseable {
    // at most, between a checkpoint and the kill; to be done again, files are to be cut back
    private static final Duration LOST_WORK = Duration.ofSeconds(1);
    private final Cell cell;
    private final Path directory;
    private final Workplace workplace;
    private final List<String> ids = new ArrayList<>();

    /** @param directory in which there is nothing yet */
    CellRun(Cell cell, BenchPaths place, Path directory) throws IOException {
        this.cell = cell;
        this.directory = directory;
        workplace = new Workplace(cell, place, directory, Map.of());
    }

    /** Runs to the end without a checkpoint; gives what the others are compared with. */
    Undisturbed undisturbed() throws IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        try (BenchJob job = workplace.first(List.of())) {
            List<String> printed = job.awaitEnd();
            return new Undisturbed(directory, workplace.left(printed), (System.nanoTime() - start) / 1e9);
        }
    }

    /** Two checkpoints, {@code delay} and twice {@code delay} after the start. */
    TrialVerdict checkpoints(Undisturbed undisturbed, Duration delay)
            throws EndedTooEarly, IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        try (BenchJob job = workplace.first(List.of())) {
            job.busy(cell.ranks());
            for (int i = 0; i < 2; i++) {
                job.goOn(delay);
                ids.add(job.checkpoint());
            }
            return verdict(undisturbed, job.awaitEnd(), start);
        }
    }

    /** Two checkpoints as well, each followed by the end of everything and a restart on other addresses. */
    TrialVerdict restarts(Undisturbed undisturbed, Duration delay)
            throws EndedTooEarly, IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        BenchJob job = workplace.first(List.of());
        try {
            JobStatus before = job.busy(cell.ranks());
            for (int number = 2; number <= 3; number++) {
                job.goOn(delay);
                before = job.busyAgain(before);
                String id = job.checkpoint();
                ids.add(id);
                job.goOn(delay.compareTo(LOST_WORK) < 0 ? delay : LOST_WORK);
                job.kill();
                job.close();
                workplace.log().println("killed after " + id);
                job = workplace.later(number, id, List.of());
                JobStatus after = job.busyAgain(before);
                new Remapping(before, after).print(workplace.log());
            }
            return verdict(undisturbed, job.awaitEnd(), start);
        } finally {
            job.close();
        }
    }

    private TrialVerdict verdict(Undisturbed undisturbed, List<String> printed, long start)
            throws IOException, InterruptedException {
        double seconds = (System.nanoTime() - start) / 1e9;
        Judgement judgement = cell.workload().answer().compare(undisturbed.run(), workplace.left(printed));
        List<Taken> taken = new ArrayList<>();
        for (String id : ids) { // not while the application runs on towards its end
            taken.add(taken(id));
        }
        return new TrialVerdict(judgement.isRight(), judgement.words(), seconds, taken);
    }

    private Taken taken(String id) throws IOException, InterruptedException {
        JsonNode checkpoint = workplace.complete(id);
        return new Taken(checkpoint.path("stop_ms").path("max").asDouble(), checkpoint.path("bytes").asLong(),
                checkpoint.path("processes").size());
    }

    @Override
    public void close() {
        workplace.close();
    }
}
