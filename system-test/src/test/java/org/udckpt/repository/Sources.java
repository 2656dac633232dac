package org.udckpt.repository;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What a page can name: the files of this repository, what they define and what they say. */
final class Sources {
    private static final Set<String> NOT_OURS = Set.of(".git", "target");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|record|interface|enum) (\\w+)");
    private static final Pattern JOINED = Pattern.compile("\"\\s*\\+?\\s*\"");

    private final Path root;
    /** By their names without directories. */
    private final Map<String, List<Path>> files = new TreeMap<>();
    private final Map<Path, String> texts = new TreeMap<>();

    Sources(Path root) {
        this.root = root;
        try {
            Files.walkFileTree(root, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                    Path name = directory.getFileName();
                    return NOT_OURS.contains(name.toString()) ? FileVisitResult.SKIP_SUBTREE : FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    files.computeIfAbsent(file.getFileName().toString(), _ -> new ArrayList<>()).add(file);
                    return FileVisitResult.CONTINUE;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** README.md and all below docs/, by their paths from the root on. */
    Map<String, String> pages() {
        Map<String, String> pages = new TreeMap<>();
        for (List<Path> named : files.values()) {
            for (Path file : named) {
                String path = root.relativize(file).toString();
                if (path.equals("README.md") || path.startsWith("docs/") && path.endsWith(".md")) {
                    pages.put(path, text(file));
                }
            }
        }
        return pages;
    }

    /** Whether there is a file of this name, or of this path's end. */
    boolean has(String name) {
        Path path = Path.of(name);
        return named(path.getFileName().toString()).stream().anyMatch(file -> file.endsWith(path));
    }

    List<Path> named(String name) {
        return files.getOrDefault(name, List.of());
    }

    String text(Path file) {
        return texts.computeIfAbsent(file, path -> {
            try {
                return Files.readString(path);
            } catch (IOException e) {
                throw new UncheckedIOException(path + " is not text", e);
            }
        });
    }

    /** Files of these endings; tests are left out where {@code mainOnly} says so. */
    List<Path> ending(boolean mainOnly, String... endings) {
        return files.values().stream().flatMap(List::stream)
                .filter(file -> !mainOnly || !file.toString().contains("/src/test/"))
                .filter(file -> List.of(endings).stream().anyMatch(file.toString()::endsWith)).toList();
    }

    /** Names of all types in Java, nested ones too. */
    Set<String> types() {
        Set<String> types = new TreeSet<>();
        ending(false, ".java").forEach(file -> TYPE.matcher(text(file)).results()
                .forEach(type -> types.add(type.group(1))));
        return types;
    }

    /** Whether a file defines a function, method or label of this name. */
    static boolean defines(String text, String function) {
        String before = "(?m)^[ \\w<>\\[\\],.?@()\"*]*\\b";
        Pattern body = Pattern.compile(before + function + "\\([^;{]*?\\)\\s*(?:throws [\\w., ]+)?\\{");
        Pattern label = Pattern.compile("(?m)^" + function + ":");
        return body.matcher(text).find() || label.matcher(text).find();
    }

    /** All that is compiled or run, with texts that stand on several lines put together. */
    String program() {
        return ending(true, ".java", ".c", ".h", ".S", ".sh").stream().map(this::text)
                .map(text -> JOINED.matcher(text).replaceAll("")).collect(Collectors.joining("\n"));
    }

    /** Commands that picocli makes, by their name and that of their program: "restart", "bench run". */
    Map<String, Set<String>> flags() throws ClassNotFoundException {
        Map<String, Set<String>> flags = new TreeMap<>();
        for (Path file : ending(true, ".java")) {
            if (text(file).contains("\n@Command(name = \"")) {
                Matcher in = Pattern.compile("(?m)^package ([\\w.]+);").matcher(text(file));
                String type = file.getFileName().toString().replace(".java", "");
                if (in.find() && !type.equals("Udckpt")) {
                    var spec = new picocli.CommandLine(Class.forName(in.group(1) + "." + type)).getCommandSpec();
                    String of = in.group(1).startsWith("org.udckpt.bench") ? "bench" : spec.name();
                    flags.computeIfAbsent(of, _ -> new TreeSet<>()).addAll(spec.optionsMap().keySet());
                }
            }
        }
        return flags;
    }
}
