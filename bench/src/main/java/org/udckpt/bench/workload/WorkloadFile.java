package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.udckpt.bench.workload.Workload.Range;

/**
 * Reads a description: lines {@code key = value}, first those of the application, then those of each build below {@code [mpich]} or
 * {@code [openmpi]}. Lines that begin with # and empty ones say nothing. What is not known is refused.
 */
final class WorkloadFile {
    static final String NAME = "workload";
    private final Path file;
    private final Path programs;
    private final Section head;
    private final Map<Mpi, Section> sections = new EnumMap<>(Mpi.class);

    private WorkloadFile(Path file, Path programs) throws IOException {
        this.file = file;
        this.programs = programs;
        head = new Section(file, Key.OF_APPLICATION);
        read();
    }

    /** @throws WorkloadError when it is not right, with file and line */
    static Workload read(Path directory, Path programs) throws IOException {
        return new WorkloadFile(directory.resolve(NAME), programs).workload(directory);
    }

    private void read() throws IOException {
        Section current = head;
        int number = 0;
        for (String line : Files.readAllLines(file)) {
            number++;
            String text = line.strip();
            if (text.startsWith("[")) {
                current = begin(text, number);
            } else if (!text.isEmpty() && !text.startsWith("#")) {
                current.add(text, number);
            }
        }
    }

    private Section begin(String text, int line) {
        for (Mpi mpi : Mpi.values()) {
            if (text.equals("[" + mpi.word() + "]")) {
                if (sections.containsKey(mpi)) {
                    throw WorkloadError.at(file, line, "a second " + text);
                }
                sections.put(mpi, new Section(file, Key.OF_BUILD));
                return sections.get(mpi);
            }
        }
        throw WorkloadError.at(file, line, "no section " + text + "; sections are " + Mpi.words());
    }

    private Workload workload(Path directory) {
        if (sections.isEmpty()) {
            throw WorkloadError.in(file, "no build is described: it needs a section [mpich] or [openmpi]");
        }
        Range allowed = range(head.one(Key.ALLOWED_RANKS));
        int ranks = number(head.one(Key.RANKS));
        if (!allowed.holds(ranks)) {
            throw WorkloadError.in(file, "ranks = " + ranks + " is not within allowed-ranks = " + allowed);
        }
        List<String> inputs = head.words(Key.INPUTS);
        for (String input : inputs) {
            if (!Files.isRegularFile(directory.resolve(input))) {
                throw WorkloadError.in(file, "its input " + input + " is not in " + directory);
            }
        }
        Map<Mpi, Build> builds = new EnumMap<>(Mpi.class);
        sections.forEach((mpi, section) -> builds.put(mpi, build(section)));
        return new Workload(directory, directory.getFileName().toString(), head.one(Key.TITLE).text(), ranks, allowed, inputs,
                head.all(Key.PREPARE).stream().map(Value::words).toList(), builds, answer());
    }

    private Build build(Section section) {
        Map<String, String> environment = new LinkedHashMap<>();
        List<Value> variables = new ArrayList<>(head.all(Key.ENVIRONMENT));
        variables.addAll(section.all(Key.ENVIRONMENT));
        for (Value variable : variables) {
            int equals = variable.text().indexOf('=');
            if (equals <= 0) {
                throw WorkloadError.at(file, variable.line(), "an environment variable is written NAME=VALUE");
            }
            environment.put(variable.text().substring(0, equals), variable.text().substring(equals + 1));
        }
        List<String> command = section.one(Key.COMMAND).words().stream().map(word -> word.replace("{programs}", programs.toString())).toList();
        return new Build(section.words(Key.PACKAGES), command, environment, section.words(Key.LAUNCHER_OPTIONS));
    }

    private Answer answer() {
        Optional<Pattern> lines = head.maybe(Key.ANSWER).map(this::pattern);
        double tolerance = head.maybe(Key.TOLERANCE).map(this::tolerance).orElse(0.0);
        List<String> sameFiles = head.words(Key.SAME_FILES);
        List<Pattern> proofs = head.all(Key.PROOF).stream().map(this::pattern).toList();
        if (lines.isEmpty() && sameFiles.isEmpty() && proofs.isEmpty()) {
            throw WorkloadError.in(file, "nothing says what its result is: it needs answer, same-files or proof");
        }
        if (lines.isEmpty() && head.maybe(Key.TOLERANCE).isPresent()) {
            throw WorkloadError.in(file, "a tolerance is one of the numbers in an answer, and there is no answer");
        }
        return new Answer(lines, tolerance, head.maybe(Key.ANSWER_FILE).map(Value::text), sameFiles, proofs,
                head.all(Key.FLAW).stream().map(this::pattern).toList());
    }

    private Pattern pattern(Value value) {
        try {
            return Pattern.compile(value.text());
        } catch (PatternSyntaxException e) {
            throw WorkloadError.at(file, value.line(), "not a regular expression: " + e.getDescription() + " in '" + value.text() + "'");
        }
    }

    private double tolerance(Value value) {
        try {
            double tolerance = Double.parseDouble(value.text());
            if (tolerance > 0 && tolerance < Double.POSITIVE_INFINITY) {
                return tolerance;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw WorkloadError.at(file, value.line(), "a tolerance is a number above 0, not '" + value.text() + "'");
    }

    private int number(Value value) {
        if (!value.text().matches("[1-9]\\d{0,5}")) {
            throw WorkloadError.at(file, value.line(), "not a number of ranks: '" + value.text() + "'");
        }
        return Integer.parseInt(value.text());
    }

    private Range range(Value value) {
        String[] ends = value.text().split("-", -1);
        if (ends.length == 2) {
            Range range = new Range(number(new Value(ends[0], value.line())), number(new Value(ends[1], value.line())));
            if (range.least() <= range.most()) {
                return range;
            }
        }
        throw WorkloadError.at(file, value.line(), "not a range like 1-16: '" + value.text() + "'");
    }

    /** The text after the equals sign of a line. */
    private record Value(String text, int line) {
        List<String> words() {
            return List.of(text.split(" +"));
        }
    }

    /** The lines up to the next section. */
    private static final class Section {
        private final Path file;
        private final List<Key> known;
        private final Map<Key, List<Value>> values = new HashMap<>();

        Section(Path file, List<Key> known) {
            this.file = file;
            this.known = known;
        }

        void add(String text, int line) {
            int equals = text.indexOf('=');
            if (equals < 0) {
                throw WorkloadError.at(file, line, "neither 'key = value' nor a [section] nor a # comment: " + text);
            }
            String word = text.substring(0, equals).strip();
            Key key = known.stream().filter(one -> one.word().equals(word)).findFirst().orElseThrow(() -> WorkloadError.at(file, line,
                    "no key '" + word + "' here; keys are " + String.join(", ", known.stream().map(Key::word).toList())));
            Value value = new Value(text.substring(equals + 1).strip(), line);
            if (value.text().isEmpty()) {
                throw WorkloadError.at(file, line, word + " has no value; leave the line out instead");
            }
            List<Value> before = values.computeIfAbsent(key, one -> new ArrayList<>());
            if (!before.isEmpty() && !key.mayRepeat()) {
                throw WorkloadError.at(file, line, "a second " + word);
            }
            before.add(value);
        }

        List<Value> all(Key key) {
            return values.getOrDefault(key, List.of());
        }

        Optional<Value> maybe(Key key) {
            return all(key).stream().findFirst();
        }

        Value one(Key key) {
            return maybe(key).orElseThrow(() -> WorkloadError.in(file, key.word() + " is missing"));
        }

        List<String> words(Key key) {
            return maybe(key).map(Value::words).orElse(List.of());
        }
    }
}
