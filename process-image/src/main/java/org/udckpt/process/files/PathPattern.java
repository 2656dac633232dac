package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.List;

/**
 * An absolute glob: {@code *} and {@code ?} within a name, {@code [a-z]} and {@code [!a-z]} one character, {@code **}
 * any number of directories, a backslash before what is itself. What it matches is meant with everything below it.
 */
public final class PathPattern {
    private static final String ANY_DIRECTORIES = "**";

    private final String text;
    private final String root;
    private final List<String> names;
    /** One for each of {@link #names}; null: any number of directories. */
    private final List<NamePattern> parts = new ArrayList<>();

    private PathPattern(String text, List<String> names, int fixed) {
        this.text = text;
        this.names = names;
        this.root = "/" + String.join("/", names.subList(0, fixed).stream().map(PathPattern::plain).toList());
        names.forEach(name -> parts.add(name.equals(ANY_DIRECTORIES) ? null : NamePattern.of(name)));
    }

    /** @throws IllegalArgumentException saying what is wrong with it */
    public static PathPattern of(String text) {
        if (!text.startsWith("/")) {
            throw new IllegalArgumentException("it is not an absolute path");
        }
        List<String> names = new ArrayList<>();
        for (String name : text.split("/")) {
            if (name.equals("..")) {
                throw new IllegalArgumentException("it has '..' in it");
            }
            if (!name.isEmpty() && !name.equals(".")) {
                names.add(name);
            }
        }
        int fixed = 0;
        while (fixed < names.size() && isPlain(names.get(fixed))) {
            fixed++;
        }
        return new PathPattern(text, names, fixed);
    }

    /** Whether a name has no character that a pattern would take for something else. */
    static boolean isPlain(String name) {
        boolean quoted = false;
        for (char c : name.toCharArray()) {
            if (!quoted && (c == '*' || c == '?' || c == '[')) {
                return false;
            }
            quoted = !quoted && c == '\\';
        }
        return true;
    }

    /** A path as the pattern that matches only it. */
    public static String quoted(String path) {
        return path.replaceAll("[*?\\[\\\\]", "\\\\$0");
    }

    private static String plain(String name) {
        return name.replaceAll("\\\\(.)", "$1");
    }

    /** The directory or file above which nothing can match: the part before the first name with a wildcard. */
    public String root() {
        return root;
    }

    /** The same behind another {@link #root}, which is a path. */
    public PathPattern withRoot(String other) {
        List<String> wild = names.subList(root.equals("/") ? 0 : root.split("/").length - 1, names.size());
        return of((other.equals("/") ? "" : quoted(other))
                + (wild.isEmpty() ? other.equals("/") ? "/" : "" : "/" + String.join("/", wild)));
    }

    /** Whether {@code path}, or a directory above it, is what the pattern says. */
    boolean matches(String path) {
        boolean[] reached = new boolean[parts.size() + 1]; // [i]: the names so far can be the first i parts
        reached[0] = true;
        throughDirectories(reached);
        for (String name : path.substring(1).split("/", -1)) {
            if (reached[parts.size()]) {
                return true; // the rest is below it
            }
            boolean[] next = new boolean[parts.size() + 1];
            for (int i = 0; i < parts.size(); i++) {
                NamePattern part = parts.get(i);
                if (reached[i] && part == null) {
                    next[i] |= !name.isEmpty();
                } else if (reached[i] && part.matches(name)) {
                    next[i + 1] = true;
                }
            }
            throughDirectories(next);
            reached = next;
        }
        return reached[parts.size()];
    }

    /** Any number of directories may be none. */
    private void throughDirectories(boolean[] reached) {
        for (int i = 0; i < parts.size(); i++) {
            reached[i + 1] |= reached[i] && parts.get(i) == null;
        }
    }

    /** Whether something below the directory {@code path} can match. */
    boolean leadsFrom(String path) {
        if (matches(path)) {
            return true;
        }
        String[] given = path.substring(1).split("/");
        for (int i = 0; i < given.length && i < names.size(); i++) {
            if (parts.get(i) == null) {
                return true;
            }
            if (!parts.get(i).matches(given[i])) {
                return path.equals("/");
            }
        }
        return given.length < names.size();
    }

    @Override
    public String toString() {
        return text;
    }
}
