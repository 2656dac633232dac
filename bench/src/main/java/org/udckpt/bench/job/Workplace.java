package org.udckpt.bench.job;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.command.Command;
import org.udckpt.bench.command.UdckptCommand;
import org.udckpt.bench.workload.Answer;

/** A directory in which a cell is run: what it works in, its images, its log. */
public final class Workplace implements AutoCloseable {
    private static final String LOG = "log";
    private final Cell cell;
    private final BenchPaths place;
    private final Path work;
    private final Path images;
    private final Map<String, String> environment;
    private final UdckptCommand udckpt;
    private final PrintStream log;

    /**
     * @param directory in which there is nothing yet
     * @param environment of the job, besides that of the cell
     */
    public Workplace(Cell cell, BenchPaths place, Path directory, Map<String, String> environment) throws IOException {
        this.cell = cell;
        this.place = place;
        work = Files.createDirectories(directory.resolve("work"));
        images = directory.resolve("images");
        this.environment = new TreeMap<>(cell.environment());
        this.environment.putAll(environment);
        Map<String, String> own = new HashMap<>(this.environment);
        own.put("UDCKPT_RUNTIME", place.runtime().toString());
        udckpt = new UdckptCommand(place.root(), work, own);
        cell.workload().provide(work);
        log = new PrintStream(Files.newOutputStream(directory.resolve(LOG)), true, StandardCharsets.UTF_8);
    }

    /** Runs what has to be run before the application. */
    public void prepare() throws IOException, InterruptedException {
        for (List<String> words : cell.workload().preparations()) {
            try (Command command = Command.start(work, Map.of(), log::println, words)) {
                command.awaitSuccess(place.limit());
            }
        }
    }

    /** The first incarnation; its files are part of its checkpoints. @param options of {@code udckpt run} */
    public BenchJob first(List<String> options) throws IOException {
        return new BenchJob(udckpt, place, job(1), firstWords(options), log);
    }

    private List<String> firstWords(List<String> options) {
        var words = new ArrayList<>(
                List.of("run", "--name", job(1), "--dir", images.toString(), "--files", work.toString()));
        cell.workload().supply().writtenDirectories()
                .forEach(written -> words.addAll(List.of("--files", written.toString())));
        words.addAll(options);
        words.addAll(cell.words(place.session()));
        return words;
    }

    /** Starts {@code words} as they are, without udckpt. */
    public Command bare(List<String> words) throws IOException {
        log.println(String.join(" ", words));
        return Command.start(work, environment, _ -> {}, words);
    }

    /** What {@link #first} runs, with its environment before it, and without the paths of this machine. */
    public String command(List<String> options) {
        var words = new ArrayList<>(List.of("udckpt"));
        words.addAll(firstWords(options));
        return bareCommand(words);
    }

    /** What {@link #bare} runs, likewise. */
    public String bareCommand(List<String> words) {
        String variables = environment.entrySet().stream().map(Object::toString).collect(Collectors.joining(" "));
        String whole = (variables + " " + String.join(" ", words)).strip();
        String here = whole.replace(place.session().toString(), "SESSION").replace(work.getParent().toString(), "DIR");
        return cell.workload().supply().withoutPlaces(here).replace(place.root() + "/", "");
    }

    /** An incarnation from a checkpoint, on other hosts. @param number of it, at least 2 */
    public BenchJob later(int number, String id, List<String> options) throws IOException {
        var words = new ArrayList<>(List.of("restart", images.resolve(id).toString(), "--name", job(number)));
        words.addAll(cell.launcher().hosts(number, cell.ranks()));
        words.addAll(options);
        return new BenchJob(udckpt, place, job(number), words, log);
    }

    private String job(int incarnation) {
        return cell.id() + "-" + incarnation;
    }

    /** The directory that the application runs in. */
    public Path work() {
        return work;
    }

    /** The directory's name. */
    public String name() {
        return work.getParent().getFileName().toString();
    }

    /** What a run that worked here has left. */
    public Answer.Run left(List<String> printed) {
        return new Answer.Run(work, printed);
    }

    /** What {@code inspect --json} says of a checkpoint; it has to be complete. */
    public JsonNode complete(String id) throws IOException, InterruptedException {
        JsonNode checkpoint = udckpt.inspected(images, id);
        if (!checkpoint.path("state").asText().equals("complete")) {
            throw new BenchFailure("checkpoint " + id + " is not complete: " + checkpoint);
        }
        return checkpoint;
    }

    /** The names of all checkpoints that are complete, oldest first. */
    public List<String> checkpoints() throws IOException, InterruptedException {
        return Files.exists(images) ? udckpt.complete(images) : List.of();
    }

    public PrintStream log() {
        return log;
    }

    @Override
    public void close() {
        log.close();
    }
}
