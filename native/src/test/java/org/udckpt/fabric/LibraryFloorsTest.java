package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The floors of libudckpt.so (native/layout/floors): no object file needs a symbol of a floor above its own. */
class LibraryFloorsTest {
    private static final Path ROOT = Path.of(System.getProperty("user.dir")).getParent();
    private static final Path BUILD = Native.library().getParent();
    /** What the linker is given; the folder of objects also holds those of sources that are gone. */
    private static final Path LINK = BUILD.resolve("CMakeFiles/udckpt.dir/link.txt");
    private static final Pattern OBJECT = Pattern.compile("CMakeFiles/udckpt\\.dir/([^ \"]+)\\.o\\b");
    /** What nm says of one: its file, its name, the letter of its kind. */
    private static final Pattern SYMBOL = Pattern.compile("(.+): (\\S+) (\\S)\\b");
    private static final Pattern LINE = Pattern.compile("(\\d) (\\S+)");
    private static final Pattern INCLUDE = Pattern.compile("(?m)^#include \"([^\"]+)\"");

    /** By the beginning of a path. */
    private final Map<String, Integer> floors = new TreeMap<>();

    LibraryFloorsTest() throws Exception {
        for (String line : Files.readAllLines(ROOT.resolve("native/layout/floors"))) {
            if (line.isEmpty() || line.startsWith("#"))
                continue;
            Matcher parts = LINE.matcher(line);
            assertTrue(parts.matches(), line);
            assertEquals(null, floors.put(parts.group(2), Integer.valueOf(parts.group(1))), line);
        }
    }

    private String beginning(String file) {
        return floors.keySet().stream().filter(file::startsWith).max(Comparator.comparingInt(String::length))
                .orElseThrow(() -> new AssertionError(file + " has no floor in native/layout/floors"));
    }

    private int floor(String file) {
        return floors.get(beginning(file));
    }

    /** The library's sources by their object files, as paths from the root. */
    private static Map<Path, String> objects() throws Exception {
        String root = ROOT.toString().substring(1) + "/";
        Map<Path, String> sources = new TreeMap<>();
        OBJECT.matcher(Files.readString(LINK)).results().forEach(found -> {
            String name = found.group(1);
            sources.put(BUILD.resolve("CMakeFiles/udckpt.dir/" + name + ".o"),
                    name.startsWith(root) ? name.substring(root.length()) : "native/" + name);
        });
        assertTrue(sources.size() > 100, () -> sources.size() + " object files in " + LINK);
        return sources;
    }

    /** A symbol that an object defines, or needs from another one. */
    private record Symbol(String source, String name, boolean defined) {}

    private static List<Symbol> symbols(Map<Path, String> objects) throws Exception {
        List<String> command = new ArrayList<>(List.of("nm", "--extern-only", "--print-file-name", "--format=posix"));
        objects.keySet().forEach(object -> command.add(object.toString()));
        Native.Result result = Native.run(Map.of("LD_PRELOAD", ""), command.toArray(String[]::new));
        assertEquals(0, result.exit(), result::toString);
        return result.out().lines().map(line -> {
            Matcher parts = SYMBOL.matcher(line);
            assertTrue(parts.lookingAt(), line);
            return new Symbol(objects.get(Path.of(parts.group(1))), parts.group(2), !parts.group(3).matches("[Uvw]"));
        }).toList();
    }

    @Test
    void noObjectNeedsASymbolOfAFloorAbove() throws Exception {
        List<Symbol> symbols = symbols(objects());
        Map<String, String> definers = new HashMap<>();
        for (Symbol symbol : symbols)
            if (symbol.defined())
                definers.put(symbol.name(), symbol.source());
        assertTrue(definers.size() > 100, definers::toString);
        Set<String> upward = new TreeSet<>();
        for (Symbol symbol : symbols) {
            String definer = symbol.defined() ? null : definers.get(symbol.name());
            if (definer != null && floor(definer) > floor(symbol.source()))
                upward.add(floor(symbol.source()) + " " + symbol.source() + " -> " + floor(definer) + " " + definer
                        + ": " + symbol.name());
        }
        assertEquals("", String.join("\n", upward));
    }

    @Test
    void noFileIncludesOneOfAFloorAbove() throws Exception {
        Map<String, String> headers = new HashMap<>();
        List<String> files;
        try (Stream<Path> all = Stream.of("native", "ud-virt", "rc-virt", "address-map", "process-image")
                .flatMap(LibraryFloorsTest::sources)) {
            files = all.map(file -> ROOT.relativize(file).toString()).filter(this::hasFloor).toList();
        }
        for (String file : files)
            if (file.endsWith(".h"))
                headers.put(base(file), file);
        Set<String> upward = new TreeSet<>();
        for (String file : files) {
            INCLUDE.matcher(Files.readString(ROOT.resolve(file))).results().forEach(found -> {
                String header = headers.get(base(found.group(1)));
                if (header != null && floor(header) > floor(file))
                    upward.add(floor(file) + " " + file + " -> " + floor(header) + " " + header);
            });
        }
        assertEquals("", String.join("\n", upward));
    }

    private static String base(String file) {
        return file.substring(file.lastIndexOf('/') + 1);
    }

    private boolean hasFloor(String file) {
        return floors.keySet().stream().anyMatch(file::startsWith);
    }

    private static Stream<Path> sources(String module) {
        try {
            return Files.walk(ROOT.resolve(module).resolve("src/main/c"))
                    .filter(file -> file.toString().matches(".*\\.[chS]"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void eachBeginningOfAPathIsThatOfAFile() throws Exception {
        Set<String> used = new TreeSet<>();
        for (String module : List.of("native", "ud-virt", "rc-virt", "address-map", "process-image")) {
            try (Stream<Path> files = sources(module)) {
                files.map(file -> ROOT.relativize(file).toString()).filter(this::hasFloor)
                        .forEach(file -> used.add(beginning(file)));
            }
        }
        assertEquals(floors.keySet(), used);
    }
}
