package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What was found last of each way of each cell: a JSON file each, so that cells can be run one by one. */
final class Verdicts {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path directory;

    Verdicts(Path directory) {
        this.directory = directory;
    }

    void keep(Cell cell, Way way, Verdict verdict) throws IOException {
        Files.createDirectories(directory);
        JSON.writeValue(file(cell, way).toFile(), verdict);
    }

    Optional<Verdict> of(Cell cell, Way way) throws IOException {
        Path file = file(cell, way);
        return Files.exists(file) ? Optional.of(JSON.readValue(file.toFile(), Verdict.class)) : Optional.empty();
    }

    private Path file(Cell cell, Way way) {
        return directory.resolve(cell.id() + "." + way.word() + ".json");
    }
}
