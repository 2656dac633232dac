package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Functions of the C library that the preloaded library takes over do for every argument, and wherever they are called,
 * what those behind them do (libc_calls.c): but for the paths of the soft fabric's devices, nobody can tell whether the
 * library is there.
 */
class CLibraryCallsTest {
    private static final String PROGRAM = Native.program("libc_calls").toString();
    private static final int EINVAL = 22, EFAULT = 14, EACCES = 13, ENODEV = 19, UNTOUCHED = 4242;

    private static List<String> lines(Map<String, String> environment, String... mode) throws Exception {
        String[] command = Stream.concat(Stream.of(PROGRAM), Stream.of(mode)).toArray(String[]::new);
        Native.Result result = Native.run(environment, command);
        assertEquals(0, result.exit(), () -> "ended with " + result.exit() + ": " + result.err());
        return result.out().lines().toList();
    }

    private static Set<String> exported(Path library) throws Exception {
        Native.Result result = Native.run(Map.of("LD_PRELOAD", ""), "nm", "-D", "--defined-only", library.toString());
        assertEquals(0, result.exit(), result::toString);
        return result.out().lines().map(line -> line.split(" "))
                .filter(words -> words.length == 3 && words[1].matches("[TtWiVBD]"))
                .map(words -> words[2].replaceFirst("@.*", "")).collect(Collectors.toCollection(TreeSet::new));
    }

    /** Functions of the dynamic linker, not to be called in signal handlers: FoundFunctionsTest drives them. */
    private static final Set<String> OF_THE_LINKER = Set.of("dlsym", "dlvsym", "dlopen", "dlmopen");

    /** The functions come from the libraries themselves: a new one fails here until libc_calls.c drives it. */
    @Test
    void allOfThemAreDriven() throws Exception {
        Path libc;
        try (Stream<String> libraries = Native.run(Map.of("LD_PRELOAD", ""), "ldd", PROGRAM).out().lines()) {
            libc = Path.of(libraries.filter(line -> line.contains("libc.so.6")).map(line -> line.strip().split(" ")[2])
                    .findFirst().orElseThrow());
        }
        Set<String> takenOver = exported(Native.library());
        takenOver.retainAll(exported(libc));
        assertTrue(takenOver.removeAll(OF_THE_LINKER), takenOver::toString);
        assertEquals(takenOver, new TreeSet<>(lines(Map.of("LD_PRELOAD", ""), "list")));
    }

    @Test
    void nobodyCanTellThatTheLibraryIsThere() throws Exception {
        List<String> without = lines(Map.of("LD_PRELOAD", "")), with = lines(Map.of());
        List<String> different = new ArrayList<>();
        for (int i = 0; i < Math.min(with.size(), without.size()) && different.size() < 20; i++) {
            if (!with.get(i).equals(without.get(i))) {
                different.add(without.get(i) + " but with the library " + with.get(i));
            }
        }
        assertEquals(List.of(), different);
        assertEquals(without.size(), with.size());
        assertTrue(with.contains("signal handler allocations 0") && with.contains("vfork child allocations 0"),
                "the lines tell of allocations");
    }

    /** A program's own functions may have names that are taken over from other libraries than the C library. */
    @Test
    void namesOfAPluginStayItsOwn() throws Exception {
        String program = Native.program("taken_names").toString();
        String plugin = Path.of(program).resolveSibling("libtaken_names_plugin.so").toString();
        for (Map<String, String> environment : List.of(Map.of("LD_PRELOAD", ""), Map.<String, String>of())) {
            Native.Result result = Native.run(environment, program, plugin);
            assertEquals("654310\n654310\n", result.out(), result::toString);
        }
    }

    /**
     * The device files of the soft fabric behave as the C library's: bad addresses are EFAULT, errno is kept, and the
     * lock of standard error is not waited for.
     */
    @Test
    void devicesAreSeen() throws Exception {
        List<String> lines = lines(Map.of(), "pretended");
        assertTrue(lines.contains(" allocations 0"), lines::toString);
        for (String line : lines) {
            if (line.contains("(")) {
                boolean device = line.contains("(/dev/infiniband/uverbs0, ");
                String function = line.substring(1, line.indexOf('(')), argument = line.replaceAll(".*, |\\) = .*", "");
                String expected = function.contains("open") ? failed(ENODEV)
                        : function.equals("access") ? access(device, argument) : stat(function, device, argument);
                if (!function.contains("open") || wellFormed(argument)) {
                    assertEquals(expected, line.replaceFirst(".*\\) = ", ""), line);
                }
            }
        }
    }

    /** What the kernel refuses whatever the path is, it goes on to refuse. */
    private static boolean wellFormed(String argument) {
        int flags = Integer.parseInt(argument.replaceAll(".* ", ""));
        return flags >= 0 && (flags & 020000000) == 0; // not O_TMPFILE
    }

    private static String failed(int error) {
        return "-1 errno " + error;
    }

    private static String access(boolean device, String argument) {
        int mode = Integer.parseInt(argument.replace("mode ", ""));
        return (mode & ~7) != 0 ? failed(EINVAL)
                : (mode & (device ? 1 : 2)) != 0 ? failed(EACCES) : "0 errno " + UNTOUCHED;
    }

    private static String stat(String function, boolean device, String argument) {
        boolean versioned = function.startsWith("__");
        if (versioned && !argument.matches(".* [01]")) { // of the two of x86-64
            return failed(EINVAL);
        }
        return argument.startsWith("good ")
                ? "0 errno " + UNTOUCHED
                        + (device ? " mode " + (020000 | 0666) + " device " + (231 << 8 | 192)
                                : " mode " + (040000 | 0555) + " device 0")
                : failed(EFAULT);
    }
}
