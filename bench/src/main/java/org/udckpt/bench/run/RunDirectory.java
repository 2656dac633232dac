package org.udckpt.bench.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.job.Trees;
import org.udckpt.bench.measured.Row;
import org.udckpt.bench.measured.RowFile;
import org.udckpt.bench.measured.RowText;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Where a run's results go: {@code arguments}, {@code facts.arrow}, a file for each measurement that is finished, and
 * at the end {@code results.arrow} and {@code results.csv}. A run that was interrupted goes on from the measurements
 * that are there.
 */
final class RunDirectory {
    private static final String ARGUMENTS = "arguments";
    private static final String FACTS = "facts.arrow";
    private static final String MEASUREMENTS = "measurements";
    private static final String WORK = "work";
    private final Path directory;

    private RunDirectory(Path directory) {
        this.directory = directory;
    }

    /** @param arguments of the command, by which it can be resumed */
    static RunDirectory create(Path directory, List<String> arguments, List<Row> facts) throws IOException {
        if (Files.exists(directory.resolve(ARGUMENTS))) {
            throw new Failure(ExitCode.USAGE, "there are results in " + directory + " already; --resume " + directory
                    + " goes on with them, or choose another directory");
        }
        Files.createDirectories(directory.resolve(MEASUREMENTS));
        RowFile.write(directory.resolve(FACTS), facts);
        Files.write(directory.resolve(ARGUMENTS), arguments);
        return new RunDirectory(directory);
    }

    static RunDirectory resume(Path directory) throws IOException {
        if (!Files.exists(directory.resolve(ARGUMENTS))) {
            throw new Failure(ExitCode.NOT_FOUND,
                    "no run to be resumed in " + directory + "; it is the directory that 'udckpt bench run' has named");
        }
        return new RunDirectory(directory);
    }

    /** One more fact. */
    void add(Row fact) throws IOException {
        List<Row> facts = new ArrayList<>(RowFile.read(directory.resolve(FACTS)));
        facts.add(fact);
        RowFile.write(directory.resolve(FACTS), facts);
    }

    List<String> arguments() throws IOException {
        return Files.readAllLines(directory.resolve(ARGUMENTS));
    }

    /** Where runs take place. */
    Path work() {
        return directory.resolve(WORK);
    }

    /** What a measurement has shown; empty: it is still to be made. */
    Optional<List<Row>> finished(Trial trial) throws IOException {
        Path file = file(trial);
        return Files.exists(file) ? Optional.of(RowFile.read(file)) : Optional.empty();
    }

    void finish(Trial trial, List<Row> rows) throws IOException {
        RowFile.write(file(trial), rows);
    }

    private Path file(Trial trial) {
        return directory.resolve(MEASUREMENTS).resolve(trial.id() + ".arrow");
    }

    /**
     * Writes the results of measurements that are all made, in the order in which they were.
     *
     * @param isRight else what runs have left stays, to be looked at
     */
    Path collect(List<Trial> trials, boolean isRight) throws IOException {
        List<Row> rows = new ArrayList<>(RowFile.read(directory.resolve(FACTS)));
        rows.add(MachineFacts.ended());
        for (Trial trial : trials) {
            rows.addAll(finished(trial).orElseThrow());
        }
        RowFile.write(directory.resolve(RowFile.NAME), rows);
        Files.write(directory.resolve("results.csv"), RowText.csv(rows));
        if (isRight) {
            Trees.remove(work());
        }
        return directory.resolve(RowFile.NAME);
    }
}
