package org.udckpt.bench.application;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.udckpt.bench.workload.Answer;

/**
 * A run that nobody disturbed, kept for comparison.
 *
 * @param directory it and what is noted about it
 * @param run its working directory and what it printed
 * @param seconds that it took
 */
record Undisturbed(Path directory, Answer.Run run, double seconds) {
    private static final String PRINTED = "printed";
    private static final String NOTES = "notes"; // written last: fingerprint, seconds

    void keep(String fingerprint) throws IOException {
        Files.write(directory.resolve(PRINTED), run.printed());
        Files.write(directory.resolve(NOTES), List.of(fingerprint, Double.toString(seconds)));
    }

    /** The one in {@code directory}, when it was one of the same thing. */
    static Optional<Undisturbed> kept(Path directory, String fingerprint) throws IOException {
        if (!Files.exists(directory.resolve(NOTES))) {
            return Optional.empty();
        }
        List<String> notes = Files.readAllLines(directory.resolve(NOTES));
        if (notes.size() != 2 || !notes.getFirst().equals(fingerprint)) {
            return Optional.empty();
        }
        Answer.Run run = new Answer.Run(directory.resolve("work"), Files.readAllLines(directory.resolve(PRINTED)));
        return Optional.of(new Undisturbed(directory, run, Double.parseDouble(notes.getLast())));
    }
}
