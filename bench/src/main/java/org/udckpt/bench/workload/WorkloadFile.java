package org.udckpt.bench.workload;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.udckpt.bench.workload.DescriptionSection.Value;
import org.udckpt.bench.workload.Workload.Supply;

/**
 * Reads a description: lines {@code key = value}, first those of the application, then those of each build below
 * {@code [mpich]} or {@code [openmpi]}. Lines that begin with # and empty ones say nothing. What is not known is
 * refused.
 */
final class WorkloadFile {
    private static final List<String> TRANSPORTS = List.of("ud", "rc");
    static final String NAME = "workload";
    private static final String PARAMETER = "{parameter}";
    private static final Pattern FIGURE = Pattern.compile("(rate|time) (\\S+) (.*)");
    private final Path file;
    private final Substitutions given;
    private final DescriptionSection head;
    private final Map<Mpi, DescriptionSection> sections = new EnumMap<>(Mpi.class);

    private WorkloadFile(Path file, Substitutions given) throws IOException {
        this.file = file;
        this.given = given;
        head = new DescriptionSection(file, Key.OF_APPLICATION);
        read();
    }

    /**
     * @param parameter behind the colon of the name; empty: none was named
     * @throws WorkloadError when it is not right, with file and line, or has no such parameter
     */
    static Workload read(Path directory, String parameter, Substitutions given) throws IOException {
        return new WorkloadFile(directory.resolve(NAME), given).workload(directory, parameter);
    }

    private void read() throws IOException {
        DescriptionSection current = head;
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

    private DescriptionSection begin(String text, int line) {
        for (Mpi mpi : Mpi.values()) {
            if (text.equals("[" + mpi.word() + "]")) {
                if (sections.containsKey(mpi)) {
                    throw WorkloadError.at(file, line, "a second " + text);
                }
                sections.put(mpi, new DescriptionSection(file, Key.OF_BUILD));
                return sections.get(mpi);
            }
        }
        throw WorkloadError.at(file, line, "no section " + text + "; sections are " + Mpi.words());
    }

    private Workload workload(Path directory, String wanted) {
        if (sections.isEmpty()) {
            throw WorkloadError.in(file, "no build is described: it needs a section [mpich] or [openmpi]");
        }
        List<String> inputs = head.words(Key.INPUTS);
        for (String input : inputs) {
            if (!Files.isRegularFile(directory.resolve(input))) {
                throw WorkloadError.in(file, "its input " + input + " is not in " + directory);
            }
        }
        String name = directory.getFileName().toString();
        String parameter = parameter(name, wanted);
        AllowedRanks allowed = allowed(parameter);
        Value usual = head.one(Key.RANKS);
        int ranks = allowed.from(number(usual)).orElseThrow(
                () -> WorkloadError.in(file, "ranks = " + usual.text() + " is not within allowed-ranks = " + allowed));
        Supply supply = supply();
        Map<Mpi, Build> builds = new EnumMap<>(Mpi.class);
        sections.forEach((mpi, section) -> builds.put(mpi, build(section, parameter, supply)));
        return new Workload(directory, wanted.isEmpty() ? name : name + ":" + wanted,
                head.one(Key.TITLE).text().replace(PARAMETER, parameter),
                head.maybe(Key.LONG).map(this::truth).orElse(false), ranks, allowed, transports(),
                inputs,
                head.all(Key.PREPARE).stream().map(Value::words).toList(), builds, answer(),
                head.maybe(Key.FIGURE).map(this::figure), supply, head.texts(Key.KNOWN));
    }

    private String parameter(String name, String wanted) {
        Optional<Value> allowed = head.maybe(Key.PARAMETER);
        if (allowed.isEmpty() && !wanted.isEmpty()) {
            throw new WorkloadError(name + " has no parameter: '" + name + "', not '" + name + ":" + wanted + "'");
        }
        String parameter = wanted.isEmpty() ? head.maybe(Key.DEFAULT_PARAMETER).map(Value::text).orElse("") : wanted;
        if (allowed.isPresent() && !pattern(allowed.get()).matcher(parameter).matches()) {
            throw new WorkloadError(
                    name + ":" + parameter + ": what is behind the colon has to match '" + allowed.get().text() + "'");
        }
        return parameter;
    }

    private Supply supply() {
        List<UserProgram> brought = head.all(Key.BROUGHT).stream().map(this::brought).toList();
        List<String> writesBeside = head.words(Key.WRITES_BESIDE);
        for (String word : writesBeside) {
            if (brought.stream().noneMatch(one -> one.word().equals(word))) {
                throw WorkloadError.in(file,
                        "writes-beside names '" + word + "', which is nothing that the user brings");
            }
        }
        return new Supply(brought, writesBeside, head.texts(Key.ADVICE));
    }

    private UserProgram brought(Value value) {
        if (!value.text().matches("[a-z]+ [A-Z_]+")) {
            throw WorkloadError.at(file, value.line(),
                    "what the user brings is written WORD VARIABLE, such as 'path UDCKPT_HPCG', not '" + value.text()
                            + "'");
        }
        String variable = value.words().getLast();
        return new UserProgram(value.words().getFirst(), variable, Optional.ofNullable(given.places().get(variable))
                .filter(place -> !place.isEmpty()).map(WorkloadFile::absolute));
    }

    /** A run has a working directory of its own. What is no path stays as it is. */
    private static String absolute(String place) {
        Path path = Path.of(place);
        return Files.exists(path) ? path.toAbsolutePath().normalize().toString() : place;
    }

    private Build build(DescriptionSection section, String parameter, Supply supply) {
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
        List<String> command =
                section.one(Key.COMMAND).words().stream().map(word -> filled(word, parameter, supply)).toList();
        return new Build(section.words(Key.PACKAGES), command, environment, section.words(Key.LAUNCHER_OPTIONS));
    }

    /** A word of a command with what its words in braces stand for; of what is missing the braces stay. */
    private String filled(String word, String parameter, Supply supply) {
        String filled = word.replace("{programs}", given.programs().toString()).replace(PARAMETER, parameter);
        for (UserProgram one : supply.brought()) {
            filled = filled.replace("{" + one.word() + "}", one.place().orElse("{" + one.word() + "}"));
        }
        return filled;
    }

    private Answer answer() {
        Optional<Pattern> lines = head.maybe(Key.ANSWER).map(this::pattern);
        Tolerance tolerance = new Tolerance(head.all(Key.TOLERANCE).stream().map(this::tolerance).toList());
        List<String> sameFiles = head.words(Key.SAME_FILES);
        List<Pattern> proofs = head.all(Key.PROOF).stream().map(this::pattern).toList();
        if (lines.isEmpty() && sameFiles.isEmpty() && proofs.isEmpty()) {
            throw WorkloadError.in(file, "nothing says what its result is: it needs answer, same-files or proof");
        }
        if (lines.isEmpty() && !tolerance.isNone()) {
            throw WorkloadError.in(file, "a tolerance is one of the numbers in an answer, and there is no answer");
        }
        return new Answer(lines, tolerance, head.maybe(Key.ANSWER_FILE).map(Value::text), sameFiles, proofs,
                head.all(Key.FLAW).stream().map(this::pattern).toList());
    }

    private Figure figure(Value value) {
        Matcher parts = FIGURE.matcher(value.text());
        if (!parts.matches()) {
            throw WorkloadError.at(file, value.line(),
                    "a figure is written 'rate UNIT REGEX' or 'time UNIT REGEX', not '" + value.text() + "'");
        }
        Pattern pattern = pattern(new Value(parts.group(3), value.line()));
        if (pattern.matcher("").groupCount() == 0) {
            throw WorkloadError.at(file, value.line(),
                    "the number of a figure is the first group of its regular expression, and it has none");
        }
        return new Figure(parts.group(1).equals("rate"), parts.group(2), pattern);
    }

    private Pattern pattern(Value value) {
        try {
            return Pattern.compile(value.text());
        } catch (PatternSyntaxException e) {
            throw WorkloadError.at(file, value.line(),
                    "not a regular expression: " + e.getDescription() + " in '" + value.text() + "'");
        }
    }

    private Tolerance.Rule tolerance(Value value) {
        Tolerance.Rule rule = Tolerance.Rule.of(value.text());
        if (rule == null) {
            throw WorkloadError.at(file, value.line(),
                    "a tolerance is written ABSOLUTE [RELATIVE [COLUMN...]], with numbers of which one is above 0, "
                            + "not '"
                            + value.text() + "'");
        }
        return rule;
    }

    private boolean truth(Value value) {
        if (!value.text().matches("yes|no")) {
            throw WorkloadError.at(file, value.line(), "neither yes nor no: '" + value.text() + "'");
        }
        return value.text().equals("yes");
    }

    private int number(Value value) {
        if (!value.text().matches("[1-9]\\d{0,5}")) {
            throw WorkloadError.at(file, value.line(), "not a number of ranks: '" + value.text() + "'");
        }
        return Integer.parseInt(value.text());
    }

    /** What the first line says that is for such a parameter, else the line that is for all. */
    private List<String> transports() {
        List<String> named = head.words(Key.TRANSPORTS);
        for (String one : named) {
            if (!TRANSPORTS.contains(one)) {
                throw WorkloadError.in(file, "transports names '" + one + "', which is none of "
                        + String.join(", ", TRANSPORTS));
            }
        }
        return named.isEmpty() ? TRANSPORTS : named;
    }

    private AllowedRanks allowed(String parameter) {
        Value usual = head.one(Key.ALLOWED_RANKS);
        AllowedRanks allowed = ranks(usual.text(), usual.line());
        for (Value value : head.all(Key.ALLOWED_RANKS_OF).reversed()) {
            // all are read, so that what is wrong in any of them is said
            List<String> words = value.words();
            AllowedRanks special = ranks(String.join(" ", words.subList(1, words.size())), value.line());
            allowed =
                    pattern(new Value(words.getFirst(), value.line())).matcher(parameter).matches() ? special : allowed;
        }
        return allowed;
    }

    private AllowedRanks ranks(String text, int line) {
        return AllowedRanks.of(text).orElseThrow(() -> WorkloadError.at(file, line,
                "not a range like 1-16, which may be followed by " + AllowedRanks.shapes() + ": '" + text + "'"));
    }
}
