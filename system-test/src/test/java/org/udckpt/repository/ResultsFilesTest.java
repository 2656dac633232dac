package org.udckpt.repository;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.udckpt.bench.measured.RowFile;

/** Published results: the files in results/ parse, and the pages agree with them. */
class ResultsFilesTest {
    private static final Path ROOT = Path.of(System.getProperty("udckpt.root"));
    private static final Path RESULTS = ROOT.resolve("results");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+?)(?:#[^)]*)?\\)");

    private static final Pattern SLOW = Pattern.compile("(?m)^ *@Tag\\(\"slow\"\\)");

    /** A line of results/figures: words of a page, and the place in a file that they are from. */
    private record Figure(String page, String words, String file, Pattern place) {
        @Override
        public String toString() {
            return page + ": " + words;
        }
    }

    static List<Figure> figures() throws Exception {
        return Files.readAllLines(RESULTS.resolve("figures")).stream()
                .filter(line -> !line.isBlank() && !line.startsWith("#")).map(line -> {
                    String[] parts = line.split(" \\| ");
                    assertEquals(4, parts.length, line);
                    return new Figure(parts[0], parts[1], parts[2], Pattern.compile(parts[3], Pattern.MULTILINE));
                }).toList();
    }

    @ParameterizedTest
    @MethodSource("figures")
    void aPageSaysWhatTheFileSays(Figure figure) throws Exception {
        String page = Files.readString(ROOT.resolve(figure.page)).replaceAll("\\s+", " ");
        assertTrue(page.contains(figure.words),
                () -> figure.page + " does not say '" + figure.words + "': change results/figures with it");
        assertTrue(figure.place.matcher(Files.readString(ROOT.resolve(figure.file))).find(),
                () -> figure.file + " has no '" + figure.place + "'");
    }

    private static List<Path> files(String ending) throws Exception {
        try (Stream<Path> all = Files.walk(RESULTS)) {
            return all.filter(path -> path.toString().endsWith(ending)).sorted().toList();
        }
    }

    @Test
    void tablesParse() throws Exception {
        List<Path> tables = files(".csv");
        assertFalse(tables.isEmpty());
        for (Path file : tables) {
            List<String> lines = Files.readAllLines(file);
            int columns = cells(lines.getFirst());
            assertTrue(columns > 1 && lines.size() > 1, file + " has no table");
            for (int i = 0; i < lines.size(); i++) {
                assertEquals(columns, cells(lines.get(i)), file + ":" + (i + 1));
            }
        }
        for (Path file : files(".arrow")) {
            assertFalse(RowFile.read(file).isEmpty(), file::toString);
        }
    }

    /** Of a line whose quoted cells have no line ends in them. */
    private static int cells(String line) {
        return line.replaceAll("\"(?:[^\"]|\"\")*\"", "").split(",", -1).length;
    }

    @Test
    void plotsParse() throws Exception {
        List<Path> plots = files(".svg");
        assertFalse(plots.isEmpty());
        for (Path plot : plots) {
            assertEquals("svg", DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(plot.toFile())
                    .getDocumentElement().getTagName(), plot::toString);
        }
    }

    /** Classes with slow tests, which ./udckpt test leaves out, are those that ./udckpt test slow last ran. */
    @Test
    void slowTestsHaveRun() throws Exception {
        Set<String> tagged = new TreeSet<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path tests : modules.map(module -> module.resolve("src/test/java")).filter(Files::isDirectory)
                    .toList()) {
                try (Stream<Path> files = Files.walk(tests)) {
                    for (Path file : files.filter(path -> path.toString().endsWith("Test.java")).toList()) {
                        if (SLOW.matcher(Files.readString(file)).find()) {
                            tagged.add(file.getFileName().toString().replace(".java", ""));
                        }
                    }
                }
            }
        }
        assertFalse(tagged.isEmpty());
        Set<String> run = new TreeSet<>();
        for (String line : Files.readAllLines(RESULTS.resolve("slow.txt"))) {
            if (!line.startsWith("#")) {
                run.add(line.substring(0, line.indexOf(' ')));
            }
        }
        assertEquals(String.join("\n", tagged), String.join("\n", run), "run ./udckpt test slow");
    }

    @Test
    void theReadmeNamesEachFileAndOnlyThoseThatAreThere() throws Exception {
        String readme = Files.readString(RESULTS.resolve("README.md"));
        try (Stream<Path> all = Files.list(RESULTS)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String name = file.getFileName().toString();
                assertTrue(name.equals("README.md") || readme.contains(name),
                        () -> "results/README.md does not say what " + name + " is");
            }
        }
        Matcher links = LINK.matcher(readme);
        while (links.find()) {
            assertTrue(Files.exists(RESULTS.resolve(links.group(1))),
                    "results/README.md: there is no " + links.group(1));
        }
    }
}
