package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a package holds runs with the C library 2.28 and all later ones (native/cmake/oldest-libc.cmake). */
class OldestLibcTest {
    private static final int OLDEST = 28; // the minor version; the major one is 2
    private static final Path BUILD = Native.library().getParent();
    private static final Pattern FILE = Pattern.compile(".* File: (\\S+) .*");
    private static final Pattern VERSION = Pattern.compile(".* Name: (\\S+) +Flags: \\S+ +Version: (\\d+)");
    private static final Pattern SYMBOL = Pattern.compile(".* UND (\\w+)@(\\S+) \\((\\d+)\\)");
    private static final Pattern LIBC = Pattern.compile("GLIBC_2\\.(\\d+)(\\.\\d+)?");
    /** Since 2.34 in libc. Loaders of before 2.30 look for a symbol in the library that is named with its version. */
    private static final Pattern OF_LIBPTHREAD = Pattern.compile("pthread_(create|once|key_create|setspecific|sigmask"
            + "|mutex_trylock|setname_np|attr_setstacksize)|sem_\\w+");
    private static final Pattern OF_LIBDL = Pattern.compile("dl(error|info|addr1?|open|sym|close)");

    private record Needed(String name, String version, String library) {}

    private static String readelf(String option, Path file) throws Exception {
        Native.Result result = Native.run(Map.of("LD_PRELOAD", "", "LC_ALL", "C"),
                "readelf", "--wide", option, file.toString());
        assertEquals(0, result.exit(), result::toString);
        return result.out();
    }

    /** Symbols that other libraries are to have in a certain version. */
    private static Set<Needed> needed(Path file) throws Exception {
        Map<String, String> libraries = new HashMap<>();
        String library = null;
        for (String line : readelf("--version-info", file).lines().toList()) {
            Matcher found = FILE.matcher(line);
            if (found.matches())
                library = found.group(1);
            Matcher version = VERSION.matcher(line);
            if (version.matches())
                libraries.put(version.group(2), library);
        }
        Set<Needed> all = new LinkedHashSet<>();
        for (String line : readelf("--dyn-syms", file).lines().toList()) {
            Matcher found = SYMBOL.matcher(line);
            if (found.matches())
                all.add(new Needed(found.group(1), found.group(2), libraries.get(found.group(3))));
        }
        return all;
    }

    @ParameterizedTest
    @CsvSource({
            "libudckpt.so, libpthread.so.0 libdl.so.2 libc.so.6 ld-linux-x86-64.so.2",
            "libudckpt-agent.so, libc.so.6",
            "libdisni.so, libibverbs.so.1 librdmacm.so.1 libc.so.6",
            "udckpt-pmix, libpmix.so.2 libpthread.so.0 libc.so.6",
    })
    void needsNothingNewer(String name, String libraries) throws Exception {
        Path file = BUILD.resolve(name);
        if (name.equals("udckpt-pmix") && Files.notExists(file)) {
            return; // no libpmix here
        }
        Set<Needed> all = needed(file);
        assertTrue(all.size() > 5, all::toString);
        Set<String> wrong = new TreeSet<>();
        for (Needed symbol : all) {
            Matcher version = LIBC.matcher(symbol.version);
            if (version.matches() && Integer.parseInt(version.group(1)) > OLDEST)
                wrong.add(symbol + " is newer");
            String home = OF_LIBPTHREAD.matcher(symbol.name).matches() ? "libpthread.so.0"
                    : OF_LIBDL.matcher(symbol.name).matches() ? "libdl.so.2" : symbol.library;
            if (!home.equals(symbol.library))
                wrong.add(symbol + " was in " + home);
        }
        assertEquals(Set.of(), wrong);
        Set<String> linked = new TreeSet<>();
        Pattern.compile("\\(NEEDED\\) +Shared library: \\[(.*)]").matcher(readelf("--dynamic", file)).results()
                .forEach(library -> linked.add(library.group(1)));
        assertEquals(new TreeSet<>(Set.of(libraries.split(" "))), linked);
    }

    @ParameterizedTest
    @ValueSource(strings = {"udckpt-shepherd", "udckpt-guard"})
    void needsNoLibrary(String name) throws Exception {
        assertTrue(readelf("--dynamic", BUILD.resolve(name)).contains("no dynamic section"));
    }

    /** A program's copy of one of the C library's variables is found under each of the variable's names. */
    @Test
    void copiesHaveAllNames() throws Exception {
        Path program = BUILD.resolve("udckpt-pmix");
        if (Files.notExists(program)) {
            return; // no libpmix here
        }
        Pattern variable = Pattern.compile(" *\\d+: (\\w+) +\\d+ OBJECT +\\S+ +DEFAULT +(?!UND)\\d+ (\\w+)@.*");
        Map<String, Set<String>> names = new HashMap<>(); // by address
        Matcher linked = Pattern.compile("libc\\.so\\.6 => (\\S+)").matcher(Native.run(Map.of("LD_PRELOAD", ""), "ldd",
                program.toString()).out());
        assertTrue(linked.find());
        for (String line : readelf("--dyn-syms", Path.of(linked.group(1))).lines().toList()) {
            Matcher found = variable.matcher(line);
            if (found.matches())
                names.computeIfAbsent(found.group(1), _ -> new TreeSet<>()).add(found.group(2));
        }
        Set<String> own = new TreeSet<>(), expected = new TreeSet<>();
        for (String line : readelf("--dyn-syms", program).lines().toList()) {
            Matcher found = variable.matcher(line);
            if (found.matches())
                own.add(found.group(2));
        }
        names.values().stream().filter(all -> all.stream().anyMatch(own::contains)).forEach(expected::addAll);
        assertTrue(expected.contains("__environ"), expected::toString); // it does have copies
        assertEquals(expected, own);
    }

    /** The check sees what it looks for: a program that is linked with this machine's libc. */
    @Test
    void newVersionsAreSeen() throws Exception {
        Map<String, String> versions = new TreeMap<>();
        needed(Native.program("fabric_threads")).forEach(symbol -> versions.put(symbol.name, symbol.version));
        assertTrue(versions.containsKey("pthread_create"), versions::toString);
    }
}
