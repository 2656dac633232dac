package org.udckpt.bench.application;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.udckpt.bench.command.BenchFailure;
import org.udckpt.bench.job.Cell;

/**
 * What was found last of each way of each cell: a JSON file each, so that cells can be run one by one; and the cells'
 * directories.
 */
final class TrialVerdicts {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final Path directory;

    TrialVerdicts(Path directory) {
        this.directory = directory;
    }

    void keep(Cell cell, TrialMode way, TrialVerdict verdict) throws IOException {
        JSON.writeValue(file(cell, way).toFile(), verdict);
    }

    /** A verdict; empty also if it passed and the application's description, inputs or command have changed since. */
    Optional<TrialVerdict> of(Cell cell, TrialMode way) throws IOException {
        Path file = file(cell, way);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        TrialVerdict verdict = JSON.readValue(file.toFile(), TrialVerdict.class);
        return verdict.passed() && undisturbed(cell).isEmpty() ? Optional.empty() : Optional.of(verdict);
    }

    /** The run that the cell's verdicts are about, while it is one of what the cell is now. */
    Optional<Undisturbed> undisturbed(Cell cell) throws IOException {
        return Undisturbed.kept(run(cell, TrialMode.PLAIN), Fingerprint.of(cell));
    }

    /** There is to be a new undisturbed run: what was compared with the one before counts no more. */
    void forget(Cell cell) throws IOException {
        for (TrialMode way : TrialMode.values()) {
            Files.deleteIfExists(file(cell, way));
        }
    }

    /** The directory of the last run. */
    Path run(Cell cell, TrialMode way) {
        return directory.resolve(cell.id() + "." + way.word());
    }

    /**
     * Keeps others from the cell, until it is closed.
     *
     * @throws BenchFailure when another bench/applications runs it
     */
    FileChannel lock(Cell cell) throws IOException {
        Files.createDirectories(directory);
        FileChannel channel = FileChannel.open(directory.resolve(cell.id() + ".lock"), StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        if (channel.tryLock() == null) {
            channel.close();
            throw new BenchFailure("another bench/applications runs " + cell.id() + " in " + directory
                    + ": wait for it, or choose another directory with --results");
        }
        return channel;
    }

    private Path file(Cell cell, TrialMode way) {
        return directory.resolve(cell.id() + "." + way.word() + ".json");
    }
}
