package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.udckpt.bench.DemoFailure;
import org.udckpt.bench.life.Cell;

/** What was found last of each way of each cell: a JSON file each, so that cells can be run one by one; and the cells' directories. */
final class Verdicts {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path directory;

    Verdicts(Path directory) {
        this.directory = directory;
    }

    void keep(Cell cell, Way way, Verdict verdict) throws IOException {
        JSON.writeValue(file(cell, way).toFile(), verdict);
    }

    /** Nothing, too, when it passed and the application's description, its inputs or the command have changed since. */
    Optional<Verdict> of(Cell cell, Way way) throws IOException {
        Path file = file(cell, way);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        Verdict verdict = JSON.readValue(file.toFile(), Verdict.class);
        return verdict.passed() && undisturbed(cell).isEmpty() ? Optional.empty() : Optional.of(verdict);
    }

    /** The run that the cell's verdicts are about, while it is one of what the cell is now. */
    Optional<Undisturbed> undisturbed(Cell cell) throws IOException {
        return Undisturbed.kept(run(cell, Way.PLAIN), Fingerprint.of(cell));
    }

    /** There is to be a new undisturbed run: what was compared with the one before counts no more. */
    void forget(Cell cell) throws IOException {
        for (Way way : Way.values()) {
            Files.deleteIfExists(file(cell, way));
        }
    }

    /** The directory of the last run. */
    Path run(Cell cell, Way way) {
        return directory.resolve(cell.id() + "." + way.word());
    }

    /**
     * Keeps others from the cell, until it is closed.
     *
     * @throws DemoFailure when another bench/applications runs it
     */
    FileChannel lock(Cell cell) throws IOException {
        Files.createDirectories(directory);
        FileChannel channel = FileChannel.open(directory.resolve(cell.id() + ".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            throw new DemoFailure("another bench/applications runs " + cell.id() + " in " + directory + ": wait for it, or choose another directory with --results");
        }
        return channel;
    }

    private Path file(Cell cell, Way way) {
        return directory.resolve(cell.id() + "." + way.word() + ".json");
    }
}
