package org.udckpt.bench.micro;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Scores as CSV: {@code name,value,error,unit}. */
final class ScoreFile {
    private static final String HEADER = "name,value,error,unit";

    private ScoreFile() {}

    static void write(Path file, List<Score> scores) throws IOException {
        List<String> lines = new ArrayList<>(List.of(HEADER));
        scores.forEach(score -> lines.add(String.format(Locale.ROOT, "%s,%.6g,%.6g,%s", score.name(), score.value(),
                score.error(), score.unit())));
        Files.write(file, lines);
    }

    /** @throws Failure with the line that is none */
    static List<Score> read(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        List<Score> scores = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String[] cells = lines.get(i).split(",", -1);
            try {
                if (i == 0 ? !lines.get(i).equals(HEADER) : cells.length != 4) {
                    throw new NumberFormatException();
                }
                if (i > 0) {
                    scores.add(
                            new Score(cells[0], Double.parseDouble(cells[1]), Double.parseDouble(cells[2]), cells[3]));
                }
            } catch (NumberFormatException e) {
                throw new Failure(ExitCode.CORRUPT, file + ":" + (i + 1) + ": not '" + HEADER + "': " + lines.get(i),
                        e);
            }
        }
        return scores;
    }
}
