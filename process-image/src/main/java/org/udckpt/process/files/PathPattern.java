package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * An absolute glob: {@code *} and {@code ?} within a name, {@code [a-z]} and {@code [!a-z]} one character, {@code **} any number of
 * directories, a backslash before what shall be itself. What it matches is meant with everything below it.
 */
public final class PathPattern {
    private final String text;
    private final String root;
    private final List<String> names;
    private final Pattern whole;

    private PathPattern(String text, List<String> names, int fixed, Pattern whole) {
        this.text = text;
        this.names = names;
        this.root = "/" + String.join("/", names.subList(0, fixed).stream().map(PathPattern::plain).toList());
        this.whole = whole;
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
        StringBuilder regex = new StringBuilder();
        for (String name : names) {
            regex.append(name.equals("**") ? "(/[^/]+)*" : "/" + regex(name));
        }
        try {
            return new PathPattern(text, names, fixed, Pattern.compile(regex + "(/.*)?", Pattern.DOTALL));
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("its brackets are not those of a pattern");
        }
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

    private static String regex(String name) {
        StringBuilder regex = new StringBuilder();
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            int close = c == '[' ? name.indexOf(']', i + 2) : -1;
            if (c == '\\' && i + 1 < name.length()) {
                regex.append(Pattern.quote(name.substring(++i, i + 1)));
            } else if (c == '*') {
                regex.append("[^/]*");
            } else if (c == '?') {
                regex.append("[^/]");
            } else if (close > 0) {
                String set = name.substring(i + 1, close).replace("\\", "\\\\").replace("[", "\\[").replace("&", "\\&").replace("^", "\\^");
                regex.append('[').append(set.startsWith("!") ? "^/" + set.substring(1) : set).append(']');
                i = close;
            } else {
                regex.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return regex.toString();
    }

    /** The directory or file above which nothing can match: the part before the first name with a wildcard. */
    public String root() {
        return root;
    }

    /** The same behind another {@link #root}, which is a path. */
    public PathPattern withRoot(String other) {
        List<String> wild = names.subList(root.equals("/") ? 0 : root.split("/").length - 1, names.size());
        return of((other.equals("/") ? "" : quoted(other)) + (wild.isEmpty() ? other.equals("/") ? "/" : "" : "/" + String.join("/", wild)));
    }

    /** Whether {@code path}, or a directory above it, is what the pattern says. */
    boolean matches(String path) {
        return whole.matcher(path).matches();
    }

    /** Whether something below the directory {@code path} can match. */
    boolean leadsFrom(String path) {
        if (matches(path)) {
            return true;
        }
        String[] given = path.substring(1).split("/");
        for (int i = 0; i < given.length && i < names.size(); i++) {
            if (names.get(i).equals("**")) {
                return true;
            }
            if (!Pattern.compile(regex(names.get(i)), Pattern.DOTALL).matcher(given[i]).matches()) {
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
