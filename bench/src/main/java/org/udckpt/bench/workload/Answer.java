package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What an application's result is, and when two runs have the same one. A restarted run goes on in the middle, so the
 * lines that it prints have to be the last of an undisturbed run's; files are whole in both.
 *
 * @param lines those lines of the output that match as a whole are the answer; with a group called {@code answer}, what
 *     it has of them
 * @param tolerance by which each decimal number in these lines may be off, because the application itself does not add
 *     in a fixed order; none: they have to be the same characters
 * @param file of the working directory that holds the output; with a star in its name the newest that it fits; empty:
 *     standard output does
 * @param sameFiles files of the working directory that have to be the same bytes
 * @param proofs each has to match somewhere in the output
 * @param flaws none may match anywhere in it
 */
public record Answer(
        Optional<Pattern> lines, Tolerance tolerance, Optional<String> file, List<String> sameFiles,
        List<Pattern> proofs, List<Pattern> flaws) {
    private static final String PART = "answer";

    /**
     * What a run has left: {@code directory} in which it worked and what it printed.
     *
     * @param printed lines of its standard output
     */
    public record Run(Path directory, List<String> printed) {}

    /** Whether a run by itself came to a good end. */
    public Judgement alone(Run run) throws IOException {
        List<String> output = output(run);
        for (Pattern proof : proofs) {
            if (output.stream().noneMatch(proof.asPredicate())) {
                return Judgement.wrong("its output does not show '" + proof + "'");
            }
        }
        for (Pattern flaw : flaws) {
            Optional<String> bad = output.stream().filter(flaw.asPredicate()).findFirst();
            if (bad.isPresent()) {
                return Judgement.wrong("its output shows '" + bad.get().strip() + "'");
            }
        }
        for (String name : sameFiles) {
            if (!Files.isRegularFile(run.directory().resolve(name))) {
                return Judgement.wrong("it has not written " + name);
            }
        }
        if (lines.isPresent() && answerLines(run).isEmpty()) {
            return Judgement.wrong("no line of its output is an answer ('" + lines.get() + "')");
        }
        return Judgement.right(proofs.isEmpty() ? "ended well" : "its own checks passed");
    }

    /** Whether {@code later}, which may have been restarted on the way, has the answer of {@code undisturbed}. */
    public Judgement compare(Run undisturbed, Run later) throws IOException {
        Judgement alone = alone(later);
        if (!alone.isRight()) {
            return alone;
        }
        Judgement sameBytes = new FileComparison(sameFiles).of(undisturbed.directory(), later.directory());
        if (!sameBytes.isRight() || lines.isEmpty()) {
            return sameFiles.isEmpty() ? alone : sameBytes;
        }
        Judgement sameLines = new LineComparison(tolerance).of(answerLines(undisturbed), answerLines(later));
        return sameFiles.isEmpty() || !sameLines.isRight() ? sameLines
                : Judgement.right(sameBytes.words() + "; " + sameLines.words());
    }

    private List<String> answerLines(Run run) throws IOException {
        boolean isPart = lines.orElseThrow().namedGroups().containsKey(PART);
        return output(run).stream().map(lines.get()::matcher).filter(Matcher::matches)
                .map(found -> found.group(isPart ? found.namedGroups().get(PART) : 0)).toList();
    }

    /** The lines in which a run's result is; none when the file that has them is not there. */
    public List<String> output(Run run) throws IOException {
        if (file.isEmpty()) {
            return run.printed();
        }
        Optional<Path> path = newest(run.directory(), file.get());
        return path.isPresent() ? Files.readAllLines(path.get()) : List.of();
    }

    private static Optional<Path> newest(Path directory, String name) throws IOException {
        Path newest = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, name)) {
            for (Path one : files) {
                if (newest == null || Files.getLastModifiedTime(one).compareTo(Files.getLastModifiedTime(newest)) > 0) {
                    newest = one;
                }
            }
        }
        return Optional.ofNullable(newest);
    }
}
