package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** docs/reference/verbs-calls.md names every call of libibverbs, librdmacm and verbs.h, and says what becomes of it. */
class VerbsCallsTest {
    private static final Path ROOT = Path.of(System.getProperty("user.dir")).getParent();
    private static final Set<String> OURS = Set.of("supported", "refused", "probe");
    private static final Set<String> THEIRS = Set.of("harmless", "outside");
    /** {@code * refused: `a`, `b` (why)}, over several lines. */
    private static final Pattern LIST = Pattern.compile("(?ms)^\\* (\\w+): (.*?)(?=\\n\\* |\\n\\n|\\z)");
    private static final Pattern CALL = Pattern.compile("`(\\w+)`(?:\\s\\(([^)]*)\\))?");
    private static final Pattern INLINE = Pattern.compile("\\b(ibv_\\w+)\\(");
    private static final Pattern REFUSAL = Pattern.compile("cm_refuse\\(\"(r\\w+)\"");

    /** What the page says of a call. */
    private record Row(String here, String note) {
        boolean hasNoObject() {
            return note.startsWith("there is no");
        }
    }

    /** The lists below a heading. */
    private static Map<String, Row> table(String heading) throws Exception {
        String page = Files.readString(ROOT.resolve("docs/reference/verbs-calls.md"));
        String section = page.substring(page.indexOf("\n## " + heading)).substring(1);
        Map<String, Row> rows = new TreeMap<>();
        String calls = section.substring(0, section.indexOf("\n## "));
        for (Matcher list = LIST.matcher(calls); list.find();) {
            String here = list.group(1);
            assertTrue(OURS.contains(here) || THEIRS.contains(here), list.group());
            CALL.matcher(list.group(2).replaceAll("\\s+", " ")).results().forEach(call -> assertEquals(null,
                    rows.put(call.group(1), new Row(here, call.group(2) == null ? "" : call.group(2))), call.group(1)));
        }
        return rows;
    }

    private static Set<String> where(Map<String, Row> rows, Predicate<Row> condition) {
        return rows.entrySet().stream().filter(row -> condition.test(row.getValue())).map(Map.Entry::getKey)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static void assertExported(Map<String, Row> rows, Set<String> exported) throws Exception {
        assertEquals(exported, rows.keySet());
        Set<String> ours = new TreeSet<>(ExportedSymbolsTest.names(Native.library()));
        ours.retainAll(exported);
        assertEquals(ours, where(rows, row -> OURS.contains(row.here)));
    }

    @Test
    void libibverbs() throws Exception {
        Set<String> exported = ExportedSymbolsTest.names(ExportedSymbolsTest.library("libibverbs.so"));
        exported.removeIf(name -> ExportedSymbolsTest.FOR_DRIVERS.matcher(name).matches());
        Map<String, Row> rows = table("libibverbs, exported");
        assertExported(rows, exported);
        assertEquals(ExportedSymbolsTest.HELPERS, where(rows, row -> row.here.equals("harmless")));
    }

    @Test
    void librdmacm() throws Exception {
        Map<String, Row> rows = table("librdmacm, exported");
        assertExported(rows, ExportedSymbolsTest.names(ExportedSymbolsTest.library("librdmacm.so")));
        Set<String> refused = new TreeSet<>();
        try (Stream<Path> sources = Files.list(ROOT.resolve("rc-virt/src/main/c/connection-manager"))) {
            for (Path source : sources.filter(file -> file.toString().endsWith(".c")).toList()) {
                REFUSAL.matcher(Files.readString(source)).results().forEach(match -> refused.add(match.group(1)));
            }
        }
        refused.removeAll(where(rows, row -> row.here.equals("supported"))); // of which some options are refused
        assertEquals(refused, where(rows, row -> row.here.equals("refused")));
    }

    /** Functions that a program has inlined from the installed header. */
    @Test
    void inlineFunctions() throws Exception {
        Set<String> inline = new TreeSet<>();
        List<String> header = Files.readAllLines(Path.of("/usr/include/infiniband/verbs.h"));
        for (int i = 0; i + 1 < header.size(); i++) {
            if (header.get(i).startsWith("static inline")) {
                Matcher name = INLINE.matcher(header.get(i).contains("(") ? header.get(i) : header.get(i + 1));
                if (name.find()) {
                    inline.add(name.group(1));
                }
            }
        }
        assertEquals(inline, table("libibverbs, inline functions of verbs.h").keySet());
    }

    /** The rows "refused" and "probe" agree with a program that calls all functions. */
    @Test
    void refusals() throws Exception {
        Map<String, Row> rows = table("libibverbs, exported");
        rows.putAll(table("libibverbs, inline functions of verbs.h"));
        String program = Native.program("fabric_refused").toString();
        Native.Result all = Native.run(Map.of("UDCKPT_VIRTUALIZE", "1"), program, "all");
        List<String> lines = new ArrayList<>(all.out().lines().toList());
        assertTrue(lines.remove("ibv_reg_dmabuf_mr is not"), lines::toString); // of a real descriptor; else a probe
        Set<String> refused = where(rows, row -> row.here.equals("refused") && !row.hasNoObject());
        assertEquals(named(lines, "(\\w+) is not"), refused);
        assertEquals(named(lines, "asked for (\\w+),"), where(rows, row -> row.here.equals("probe")));
    }

    private static Set<String> named(List<String> lines, String pattern) {
        return lines.stream().map(Pattern.compile(pattern)::matcher).filter(Matcher::matches).map(line -> line.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
