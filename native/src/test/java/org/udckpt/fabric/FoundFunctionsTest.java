package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A client that is not linked with libibverbs (found_client.c) and finds it by itself has the library's functions, in
 * whatever way it looks; what else it asks the dynamic linker has the answers that it has without the library.
 */
class FoundFunctionsTest {
    private static final String CLIENT = Native.program("found_client").toString();
    private static final String NAMESPACE = "udckpt: libibverbs in its own namespace (dlmopen) is not supported";

    @TempDir
    Path directory;

    private Native.Result exchange(String way, Map<String, String> environment) throws Exception {
        Path finish = directory.resolve("finish");
        if (Files.notExists(finish)) {
            Files.createFile(finish);
        }
        return Native.run(environment, CLIENT, way, finish.toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"dlsym", "dlvsym", "deepbind", "plugin", "plugin-deepbind", "plugin-deepbind-lazy",
            "plugin-handle", "default", "next", "plugin-next", "plugin-default-deepbind"})
    void isTheLibrarys(String way) throws Exception {
        for (String virtualize : List.of("0", "1")) {
            Native.Result result = exchange(way, Map.of("UDCKPT_VIRTUALIZE", virtualize));
            assertEquals(0, result.exit(), result::toString);
            assertTrue(result.out().endsWith("PASS 1\n"), result::toString);
            assertEquals("", result.err());
        }
    }

    /** Where the library is opened by its path. */
    @ParameterizedTest
    @ValueSource(strings = {"dlsym", "dlvsym", "deepbind"})
    void byItsPath(String way) throws Exception {
        String path = ExportedSymbolsTest.library("libibverbs.so").toString();
        Native.Result result = exchange(way, Map.of("FOUND_LIBRARY", path));
        assertEquals(0, result.exit(), result::toString);
        assertEquals("", result.err());
    }

    /** Of a plugin that is linked to be bound at once, and read-only then. */
    @ParameterizedTest
    @ValueSource(strings = {"plugin", "plugin-deepbind", "plugin-deepbind-lazy", "plugin-default-deepbind"})
    void withReadOnlyRelocations(String way) throws Exception {
        String path = Native.program("libfound_plugin_now.so").toString();
        Native.Result result = exchange(way, Map.of("FOUND_PLUGIN", path));
        assertEquals(0, result.exit(), result::toString);
        assertEquals("", result.err());
    }

    /** The C library of a namespace is another one: verbs see no device there, which is said; what is found is ours. */
    @Test
    void anotherNamespaceIsSaid() throws Exception {
        Native.Result found = exchange("dlmopen", Map.of());
        assertEquals(0, found.exit(), found::toString);
        assertTrue(found.err().startsWith(NAMESPACE), found::toString);
        Native.Result called = exchange("plugin-dlmopen", Map.of());
        assertEquals(1, called.exit(), called::toString);
        assertTrue(called.err().startsWith(NAMESPACE) && called.err().contains("devices > 0"), called::toString);
    }

    /** Functions that are ours are found as ours in both libraries. */
    @ParameterizedTest
    @ValueSource(strings = {"libibverbs.so", "librdmacm.so"})
    void allOfThem(String library) throws Exception {
        List<String> names = List.copyOf(ExportedSymbolsTest.names(ExportedSymbolsTest.library(library)));
        Set<String> ours = ExportedSymbolsTest.names(Native.library());
        List<String> with = where(Map.of(), library + ".1", names);
        List<String> expected = where(Map.of("LD_PRELOAD", ""), library + ".1", names).stream()
                .map(line -> line.split(" "))
                .map(words -> words[0] + " " + (ours.contains(words[0]) ? "libudckpt.so" : words[1])).toList();
        assertEquals(expected, with);
        assertTrue(with.stream().filter(line -> line.endsWith("libudckpt.so")).count() > 40, with::toString);
    }

    private List<String> where(Map<String, String> more, String library, List<String> names) throws Exception {
        String list = Files.write(directory.resolve("names"), names).toString();
        Native.Result result = Native.run(more, "sh", "-c", "exec \"$0\" where \"$1\" <\"$2\"", CLIENT, library, list);
        assertEquals(0, result.exit(), result::toString);
        return result.out().lines().toList();
    }

    /** A function of a newer libibverbs, which would not know our objects, is as if it were not there. */
    @Test
    void aNewerFunctionIsMissing() throws Exception {
        Map<String, String> expected = new LinkedHashMap<>();
        expected.put("ibv_open_device", "libudckpt.so");
        expected.put("ibv_future_operation", "missing");
        expected.put("ibv_wc_status_str", "libfound_newer.so");
        expected.put("ibv_no_such_function", "missing");
        List<String> lines = expected.entrySet().stream().map(one -> one.getKey() + " " + one.getValue()).toList();
        String newer = Native.program("libfound_newer.so").toString();
        assertEquals(lines, where(Map.of(), newer, List.copyOf(expected.keySet())));
    }

    @Test
    void whatIsNotThereIsNotFound() throws Exception {
        Native.Result result = Native.run(Map.of(), CLIENT, "errors");
        assertEquals("PASS\n", result.out(), result::toString);
    }

    /** glibc asks who calls: the search path, RTLD_NEXT and $ORIGIN are those of the program. */
    @Test
    void nobodyCanTellThatTheLibraryIsThere() throws Exception {
        Native.Result without = Native.run(Map.of("LD_PRELOAD", ""), CLIENT, "plain");
        Native.Result with = Native.run(Map.of(), CLIENT, "plain");
        assertTrue(without.out().lines().count() > 100, without::toString);
        assertEquals(without.out(), with.out());
        assertEquals(without.exit(), with.exit());
        assertEquals("", with.err());
    }
}
