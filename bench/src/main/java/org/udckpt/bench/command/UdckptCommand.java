package org.udckpt.bench.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The {@code udckpt} command, used as a user would: through its script, its JSON and its exit codes. */
public final class UdckptCommand {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration LIMIT = Duration.ofSeconds(300);
    private final Path root;
    private final Path directory;
    private final Map<String, String> environment;

    /**
     * @param root of the repository
     * @param directory in which commands (and so the ranks) run
     * @param environment additional variables of every command
     */
    public UdckptCommand(Path root, Path directory, Map<String, String> environment) {
        this.root = root;
        this.directory = directory;
        this.environment = environment;
    }

    /** The path of one of the MPI programs of {@code bench/src/main/c}. */
    public Path program(String name) {
        return root.resolve("native/target/cmake/programs").resolve(name);
    }

    /** Starts a verb that stays in the foreground: {@code run} or {@code restart}. */
    public Command start(Consumer<String> echo, List<String> arguments) throws IOException {
        var words = new ArrayList<>(List.of(root.resolve("udckpt").toString()));
        words.addAll(arguments);
        return Command.start(directory, environment, echo, words);
    }

    /** Runs a short verb to its end and gives its standard output; it has to succeed. */
    public List<String> call(String... arguments) throws IOException, InterruptedException {
        try (Command command = start(line -> {}, List.of(arguments))) {
            return command.awaitSuccess(LIMIT);
        }
    }

    private JsonNode json(String... arguments) throws IOException, InterruptedException {
        String text = String.join("\n", call(arguments));
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new BenchFailure("udckpt " + String.join(" ", arguments) + " printed no JSON but: " + text);
        }
    }

    /** Takes a checkpoint of a running job and returns its id when it is durable. */
    public String checkpoint(String job) throws IOException, InterruptedException {
        return call("checkpoint", job).getLast();
    }

    /** The running job of that name, as {@code status --json} shows it. */
    public JobStatus status(String job) throws IOException, InterruptedException {
        return JobStatus.from(json("status", job, "--json"), job);
    }

    /** The ids of the complete checkpoints of a directory, oldest first. */
    public List<String> complete(Path images) throws IOException, InterruptedException {
        List<String> ids = new ArrayList<>();
        for (JsonNode one : json("list", images.toString(), "--json").path("checkpoints")) {
            if (one.path("state").asText().equals("complete")) {
                ids.add(one.path("id").asText());
            }
        }
        return ids;
    }

    /** What {@code inspect --json} says of one checkpoint. */
    public JsonNode inspected(Path images, String id) throws IOException, InterruptedException {
        return json("inspect", images.resolve(id).toString(), "--json");
    }
}
