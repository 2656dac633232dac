package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.JobStatus;
import org.udckpt.bench.Remapping;
import org.udckpt.bench.application.Verdict.Taken;
import org.udckpt.bench.life.Cell;
import org.udckpt.bench.life.Ended;
import org.udckpt.bench.life.Life;
import org.udckpt.bench.life.Place;
import org.udckpt.bench.life.Workplace;
import org.udckpt.bench.workload.Judgement;

/** One run of a cell in one way, in a directory of its own. */
final class CellRun implements AutoCloseable {
    private static final Duration LOST_WORK = Duration.ofSeconds(1); // at most, between a checkpoint and the kill; to be done again, files are to be cut back
    private final Cell cell;
    private final Path directory;
    private final Workplace workplace;
    private final List<String> ids = new ArrayList<>();

    /** @param directory in which there is nothing yet */
    CellRun(Cell cell, Place place, Path directory) throws IOException {
        this.cell = cell;
        this.directory = directory;
        workplace = new Workplace(cell, place, directory, Map.of());
    }

    /** Runs to the end without a checkpoint; gives what the others are compared with. */
    Undisturbed undisturbed() throws IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        try (Life life = workplace.first(List.of())) {
            List<String> printed = life.awaitEnd();
            return new Undisturbed(directory, workplace.left(printed), (System.nanoTime() - start) / 1e9);
        }
    }

    /** Two checkpoints, {@code patience} and twice {@code patience} after the start. */
    Verdict checkpoints(Undisturbed undisturbed, Duration patience) throws Ended, IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        try (Life life = workplace.first(List.of())) {
            life.busy(cell.ranks());
            for (int i = 0; i < 2; i++) {
                life.goOn(patience);
                ids.add(life.checkpoint());
            }
            return verdict(undisturbed, life.awaitEnd(), start);
        }
    }

    /** Two checkpoints as well, each followed by the end of everything and a restart on other addresses. */
    Verdict restarts(Undisturbed undisturbed, Duration patience) throws Ended, IOException, InterruptedException {
        workplace.prepare();
        long start = System.nanoTime();
        Life life = workplace.first(List.of());
        try {
            JobStatus before = life.busy(cell.ranks());
            for (int number = 2; number <= 3; number++) {
                life.goOn(patience);
                before = life.busyAgain(before);
                String id = life.checkpoint();
                ids.add(id);
                life.goOn(patience.compareTo(LOST_WORK) < 0 ? patience : LOST_WORK);
                life.kill();
                life.close();
                workplace.log().println("killed after " + id);
                life = workplace.later(number, id, List.of());
                JobStatus after = life.busyAgain(before);
                new Remapping(before, after).print(workplace.log());
            }
            return verdict(undisturbed, life.awaitEnd(), start);
        } finally {
            life.close();
        }
    }

    private Verdict verdict(Undisturbed undisturbed, List<String> printed, long start) throws IOException, InterruptedException {
        double seconds = (System.nanoTime() - start) / 1e9;
        Judgement judgement = cell.workload().answer().compare(undisturbed.run(), workplace.left(printed));
        List<Taken> taken = new ArrayList<>();
        for (String id : ids) { // not while the application runs on towards its end
            taken.add(taken(id));
        }
        return new Verdict(judgement.isRight(), judgement.words(), seconds, taken);
    }

    private Taken taken(String id) throws IOException, InterruptedException {
        JsonNode checkpoint = workplace.complete(id);
        return new Taken(checkpoint.path("stop_ms").path("max").asDouble(), checkpoint.path("bytes").asLong(), checkpoint.path("processes").size());
    }

    @Override
    public void close() {
        workplace.close();
    }
}
