package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.udckpt.bench.Command;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.JobStatus;
import org.udckpt.bench.Remapping;
import org.udckpt.bench.Udckpt;
import org.udckpt.bench.application.Verdict.Taken;
import org.udckpt.bench.workload.Answer;
import org.udckpt.bench.workload.Judgement;

/** One run of a cell in one way, in a directory of its own. */
final class CellRun implements AutoCloseable {
    private static final Duration LOST_WORK = Duration.ofSeconds(1); // at most, between a checkpoint and the kill; to be done again, files are to be cut back
    private static final String LOG = "log";
    private final Cell cell;
    private final Place place;
    private final Path directory;
    private final Path images;
    private final Udckpt udckpt;
    private final PrintStream log;
    private final List<String> ids = new ArrayList<>();

    /** @param directory does not exist yet */
    CellRun(Cell cell, Place place, Path directory) throws IOException {
        this.cell = cell;
        this.place = place;
        this.directory = directory;
        images = directory.resolve("images");
        Path work = Files.createDirectories(directory.resolve("work"));
        Map<String, String> environment = new HashMap<>(cell.environment());
        environment.put("UDCKPT_RUNTIME", place.runtime().toString());
        udckpt = new Udckpt(place.root(), work, environment);
        cell.workload().provide(work);
        log = new PrintStream(Files.newOutputStream(directory.resolve(LOG)), true, StandardCharsets.UTF_8);
    }

    /** Runs to the end without a checkpoint; gives what the others are compared with. */
    Undisturbed undisturbed() throws IOException, InterruptedException {
        prepare();
        long start = System.nanoTime();
        try (Life life = first()) {
            List<String> printed = life.awaitEnd();
            return new Undisturbed(directory, answerRun(printed), (System.nanoTime() - start) / 1e9);
        }
    }

    /** Two checkpoints, {@code patience} and twice {@code patience} after the start. */
    Verdict checkpoints(Undisturbed undisturbed, Duration patience) throws Ended, IOException, InterruptedException {
        prepare();
        long start = System.nanoTime();
        try (Life life = first()) {
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
        prepare();
        long start = System.nanoTime();
        Life life = first();
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
                log.println("killed after " + id);
                life = later(number, id);
                JobStatus after = life.busyAgain(before);
                new Remapping(before, after).print(log);
            }
            return verdict(undisturbed, life.awaitEnd(), start);
        } finally {
            life.close();
        }
    }

    private Verdict verdict(Undisturbed undisturbed, List<String> printed, long start) throws IOException, InterruptedException {
        double seconds = (System.nanoTime() - start) / 1e9;
        Judgement judgement = cell.workload().answer().compare(undisturbed.run(), answerRun(printed));
        List<Taken> taken = new ArrayList<>();
        for (String id : ids) { // not while the application runs on towards its end
            taken.add(taken(id));
        }
        return new Verdict(judgement.isRight(), judgement.words(), seconds, taken);
    }

    private Answer.Run answerRun(List<String> printed) {
        return new Answer.Run(directory.resolve("work"), printed);
    }

    private void prepare() throws IOException, InterruptedException {
        for (List<String> words : cell.workload().preparations()) {
            try (Command command = Command.start(directory.resolve("work"), Map.of(), log::println, words)) {
                command.awaitSuccess(place.limit());
            }
        }
    }

    private Life first() throws IOException {
        var words = new ArrayList<>(List.of("run", "--name", job(1), "--dir", images.toString(), "--files", directory.resolve("work").toString()));
        words.addAll(cell.words(place.session()));
        return life(1, words);
    }

    private Life later(int number, String id) throws IOException {
        var words = new ArrayList<>(List.of("restart", images.resolve(id).toString(), "--name", job(number)));
        words.addAll(cell.launcher().hosts(number, cell.ranks()));
        return life(number, words);
    }

    private Life life(int number, List<String> words) throws IOException {
        return new Life(udckpt, place, job(number), words, log);
    }

    private String job(int life) {
        return cell.id() + "-" + life;
    }

    private Taken taken(String id) throws IOException, InterruptedException {
        JsonNode checkpoint = udckpt.inspected(images, id);
        if (!checkpoint.path("state").asText().equals("complete")) {
            throw new DemoFailure("checkpoint " + id + " is not complete: " + checkpoint);
        }
        return new Taken(checkpoint.path("stop_ms").path("max").asDouble(), checkpoint.path("bytes").asLong(), checkpoint.path("processes").size());
    }

    @Override
    public void close() {
        log.close();
    }
}
