package org.udckpt.support.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.process.files.PathPattern;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Globs as a setting has them: several with ':' between them, relative ones below the directory where the job is
 * started.
 */
public final class FilePatterns {
    private FilePatterns() {}

    /** One text of several; a ':' in a pattern gets a backslash. */
    public static String joined(List<String> patterns) {
        return String.join(":", patterns.stream().map(pattern -> pattern.replaceAll("(?<!\\\\):", "\\\\:")).toList());
    }

    /**
     * Makes the patterns of {@link Option#FILES} and {@link Option#FILES_EXCEPT} absolute, and resolves symbolic links
     * on the way to them: the job is started here, and what it has open the kernel names without links.
     */
    public static Settings resolve(Settings settings) {
        for (Option option : new Option[]{Option.FILES, Option.FILES_EXCEPT}) {
            List<String> resolved =
                    split(settings.text(option)).stream().map(pattern -> absolute(settings, option, pattern)).toList();
            settings.resolved(option, joined(resolved));
        }
        return settings;
    }

    /** The patterns of a setting; they are absolute after {@link #resolve}. */
    public static List<PathPattern> of(Settings settings, Option option) {
        List<PathPattern> patterns = new ArrayList<>();
        for (String pattern : split(settings.text(option))) {
            try {
                patterns.add(PathPattern.of(pattern));
            } catch (IllegalArgumentException e) {
                throw bad(settings, option, pattern, e.getMessage());
            }
        }
        return patterns;
    }

    private static List<String> split(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split("(?<!\\\\):", -1));
    }

    private static String absolute(Settings settings, Option option, String pattern) {
        if (pattern.isEmpty()) {
            throw bad(settings, option, pattern, "it is empty");
        }
        String given = pattern.startsWith("/") ? pattern
                : PathPattern.quoted(Path.of("").toAbsolutePath().toString()) + "/" + pattern;
        try {
            PathPattern parsed = PathPattern.of(withoutUpwards(given));
            return parsed.withRoot(real(Path.of(parsed.root()))).toString();
        } catch (IllegalArgumentException e) {
            throw bad(settings, option, pattern, e.getMessage());
        }
    }

    /** "a/../b" is "b", as long as it leads through no link, which the fixed part is then asked about. */
    private static String withoutUpwards(String pattern) {
        List<String> names = new ArrayList<>();
        for (String name : pattern.split("/")) {
            if (name.equals("..") && !names.isEmpty()) {
                names.removeLast();
            } else if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        return "/" + String.join("/", names);
    }

    /** The path without links. A component that does not exist yet is taken not to be a link. */
    private static String real(Path path) {
        try {
            return path.toRealPath().toString();
        } catch (IOException notThere) {
            Path parent = path.getParent();
            return parent == null ? "/" : Path.of(real(parent)).resolve(path.getFileName()).toString();
        }
    }

    private static Failure bad(Settings settings, Option option, String pattern, String why) {
        return new Failure(ExitCode.USAGE, settings.value(option).origin() + ": '" + pattern
                + "' is not a file pattern: " + why);
    }
}
