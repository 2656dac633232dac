package org.udckpt.support.config;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * The settings in force, each with where it came from: default, site file, user file, environment, flag (the later
 * wins).
 */
public final class Settings {
    /** @param origin "default", the file's path, the variable's name, or the flag */
    public record Value(String text, String origin) {}

    static final String DEFAULT = "default";

    /** The least {@link Option#BUFFER} that the image writer accepts. */
    public static final long SMALLEST_BUFFER = 4 << 20;
    private static final Duration LEAST_LOCK = Duration.ofMillis(100), MOST_LOCK = Duration.ofSeconds(40);
    private static final long SMALLEST_RATE = 64 << 10;

    private static final Pattern DURATION = Pattern.compile("(\\d+)\\s*(ms|s|m|h|d)?");
    private static final Pattern BYTES = Pattern.compile("(\\d+)\\s*([KMGT])?");
    private static final Path SITE_FILE = Path.of("/etc/udckpt/udckpt.conf");

    private final Map<Option, Value> values = new EnumMap<>(Option.class);
    private final List<String> warnings = new ArrayList<>();

    private Settings() {
        for (Option option : Option.values()) {
            values.put(option, new Value(option.fallback(), DEFAULT));
        }
    }

    /** Reads the files and the environment of this process. */
    public static Settings load() {
        Map<String, String> environment = System.getenv();
        String home = environment.getOrDefault("XDG_CONFIG_HOME", environment.getOrDefault("HOME", "/") + "/.config");
        return load(SITE_FILE, Path.of(home, "udckpt", "udckpt.conf"), environment);
    }

    static Settings load(Path siteFile, Path userFile, Map<String, String> environment) {
        Settings settings = new Settings();
        settings.read(siteFile);
        settings.read(userFile);
        for (Option option : Option.values()) {
            for (String variable : List.of(option.formerVariable(), option.variable())) {
                if (environment.containsKey(variable)) {
                    settings.values.put(option, new Value(environment.get(variable), variable));
                }
            }
        }
        settings.warnings.addAll(UnknownVariables.warnings(environment.keySet()));
        return settings;
    }

    private void read(Path file) {
        if (!Files.exists(file)) {
            return;
        }
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException e) {
            throw Failure.of("reading settings from " + file, e);
        } catch (IllegalArgumentException e) { // of Properties
            throw new Failure(ExitCode.USAGE, "settings in " + file + ": '\\u' without four hexadecimal digits: "
                    + "write a backslash as '\\\\'", e);
        }
        for (String key : properties.stringPropertyNames()) {
            Option known = find(key);
            if (known != null && !key.equals(known.key()) && properties.containsKey(known.key())) {
                continue; // the file says it by its present name, too
            }
            if (known == null) {
                warnings.add(file + ": unknown setting '" + key + "'; 'udckpt config show' lists all settings");
            } else {
                values.put(known, new Value(properties.getProperty(key).strip(), file.toString()));
            }
        }
    }

    private static Option find(String key) {
        for (Option option : Option.values()) {
            if (option.key().equals(key) || option.former().equals(key)) {
                return option;
            }
        }
        return null;
    }

    /** A flag of the command line; {@code null} when it was not given. */
    public Settings flag(Option option, String text) {
        if (text != null) {
            values.put(option, new Value(text, "--" + option.key()));
        }
        return this;
    }

    /**
     * What this job was given by its user, which an agent on another host cannot read for itself: all but defaults and
     * the site's file.
     */
    public Map<Option, Value> given() {
        Map<Option, Value> given = new EnumMap<>(values);
        given.values().removeIf(value -> value.origin().equals(DEFAULT) || value.origin().equals(SITE_FILE.toString()));
        return given;
    }

    /** Takes over what another process was given. */
    public Settings with(Map<Option, Value> given) {
        values.putAll(given);
        return this;
    }

    /** The same value in another form; its origin stays. */
    void resolved(Option option, String text) {
        values.put(option, new Value(text, values.get(option).origin()));
    }

    /** Reads every value once, so that a wrong one is said before anything is started. */
    public Settings checked() {
        Interval.of(this);
        duration(Option.QUIESCE_TIMEOUT);
        duration(Option.REBUILD_TIMEOUT);
        cudaLockTimeout();
        duration(Option.START_TIMEOUT);
        count(Option.KEEP);
        atLeastOne(Option.KEEP_FAST);
        duration(Option.DRAIN_TIMEOUT);
        count(Option.RESTART_ON_FAILURE);
        if (bytes(Option.MAX_RATE, 0) != 0) {
            bytes(Option.MAX_RATE, SMALLEST_RATE); // 500 is a forgotten unit: an image would take years
        }
        bytes(Option.BUFFER, SMALLEST_BUFFER);
        truth(Option.IO_IDLE);
        choice(Option.LAZY);
        bytes(Option.FILES_IN_STOP, 0);
        bytes(Option.FILES_LIMIT, 0);
        truth(Option.WITH_LIBRARIES);
        keepsReplacedFiles();
        ExternalConnections.of(this);
        return this;
    }

    public Value value(Option option) {
        return values.get(option);
    }

    public String text(Option option) {
        return values.get(option).text();
    }

    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /** Zero or more; {@code 90s}, {@code 10m}, {@code 500ms}; a bare number is seconds. */
    public Duration duration(Option option) {
        return duration(text(option), wanted -> bad(option, wanted));
    }

    /** The duration of a flag that is no setting. */
    public static Duration duration(String text, String flag) {
        return duration(text, wanted -> new Failure(ExitCode.USAGE, flag + ": '" + text + "' is not valid; give "
                + wanted));
    }

    private static Duration duration(String text, Function<String, Failure> bad) {
        Matcher matcher = DURATION.matcher(text);
        if (!matcher.matches()) {
            throw bad.apply("a duration such as 500ms, 30s, 10m, 2h");
        }
        try {
            long count = Long.parseLong(matcher.group(1));
            Duration duration = switch (matcher.group(2)) {
                case "ms" -> Duration.ofMillis(count);
                case "m" -> Duration.ofMinutes(count);
                case "h" -> Duration.ofHours(count);
                case "d" -> Duration.ofDays(count);
                case null, default -> Duration.ofSeconds(count);
            };
            duration.toNanos(); // what users of it count in
            return duration;
        } catch (ArithmeticException | NumberFormatException e) {
            throw bad.apply("a shorter duration");
        }
    }

    /** A number, zero or more. */
    public int count(Option option) {
        return number(option, 0, "zero or more");
    }

    /** A number from 1. */
    public int atLeastOne(Option option) {
        return number(option, 1, "one or more");
    }

    private int number(Option option, int least, String wanted) {
        try {
            int number = Integer.parseInt(text(option));
            if (number >= least) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw bad(option, "a number, " + wanted);
        }
        throw bad(option, wanted);
    }

    /** Bytes: {@code 500M}, {@code 2G}, {@code 1048576}; K, M, G and T are powers of 1024. */
    public long bytes(Option option, long least) {
        Matcher matcher = BYTES.matcher(text(option));
        if (!matcher.matches()) {
            throw bad(option, "a number of bytes such as 500M or 2G");
        }
        int power = " KMGT".indexOf(matcher.group(2) == null ? ' ' : matcher.group(2).charAt(0));
        try {
            long bytes = Math.multiplyExact(Long.parseLong(matcher.group(1)), 1L << 10 * power);
            if (bytes >= least) {
                return bytes;
            }
        } catch (ArithmeticException | NumberFormatException e) {
            throw bad(option, "fewer bytes");
        }
        throw bad(option, "at least " + least);
    }

    /** {@code true} or {@code false}. */
    public boolean truth(Option option) {
        return switch (text(option)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw bad(option, "true or false");
        };
    }

    /** Whether {@link Option#REPLACED_FILES} says keep. */
    public boolean keepsReplacedFiles() {
        return switch (text(Option.REPLACED_FILES)) {
            case "keep" -> true;
            case "discard" -> false;
            default -> throw bad(Option.REPLACED_FILES, "keep or discard");
        };
    }

    /** One of two words: auto, no. */
    public String choice(Option option) {
        String text = text(option);
        if (!text.equals("auto") && !text.equals("no")) {
            throw bad(option, "auto or no");
        }
        return text;
    }

    /** How long the kernels of ranks may take to end; less than what all hosts are waited for. */
    public Duration cudaLockTimeout() {
        Duration timeout = duration(Option.CUDA_LOCK_TIMEOUT);
        if (timeout.compareTo(LEAST_LOCK) < 0 || timeout.compareTo(MOST_LOCK) > 0) {
            throw bad(Option.CUDA_LOCK_TIMEOUT, "100ms to 40s");
        }
        return timeout;
    }

    /** What to throw for a value that is none; {@code wanted} says what would be one. */
    public Failure bad(Option option, String wanted) {
        Value value = values.get(option);
        String text = option == Option.ENCRYPT ? "the given value" : "'" + value.text()
                + "'"; // it may be the key itself
        return new Failure(ExitCode.USAGE, value.origin() + ": " + text + " is not valid for " + option.key()
                + "; give " + wanted);
    }
}
