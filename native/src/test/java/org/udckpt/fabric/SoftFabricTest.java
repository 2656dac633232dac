package org.udckpt.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each case of native/src/test/c/soft-fabric/fabric_*.c: one rule of the verbs, checked over the bare soft fabric. */
class SoftFabricTest {
    private static final List<String> DATAGRAMS =
            List.of("send", "receive", "state", "events", "address", "threads", "rules", "extended", "multicast");
    /** Of datagrams of which only a part can be read: with tags they are not taken (docs/internals/soft-fabric.md). */
    private static final Map<String, Set<String>> NEED_A_PART = Map.of("receive",
            Set.of("too-small", "too-small-behind-an-event", "wrong-key", "unmapped"), "send", Set.of("unmapped"));
    private static final List<String> CONNECTIONS =
            List.of("rc", "rc_errors", "rc_threads", "uc", "xrc", "windows", "order");
    /**
     * What does not hold over a bad network: of unreliable connections most, since messages are lost; order between
     * connections, since packets are; what depends on an answer's arrival.
     */
    private static final Map<String,
            Set<String>> NEED_ALL = Map.of("windows", Set.of("unreliable"), "order", Set.of("other-queues", "chain"),
                    "rc_errors", Set.of("given-up-when-taken", "one-poll"),
                    "uc", Set.of("sends", "writes", "sleeper", "refused",
                            "silence", "broken-sends", "shared-queue", "large", "between-sends"));

    @TestFactory
    Stream<DynamicContainer> preloaded() {
        return Stream.concat(DATAGRAMS.stream(), CONNECTIONS.stream())
                .map(name -> dynamicContainer(name, cases("fabric_" + name, Map.of())));
    }

    /** A reliable connection is one, whatever happens to its packets; the display name says the seed. */
    @TestFactory
    Stream<DynamicContainer> connectionsOverABadNetwork() {
        long seed = System.nanoTime() & 0xffff;
        Map<String, String> faults =
                Map.of("UDCKPT_SOFT_LOSS", "5", "UDCKPT_SOFT_DUPLICATE", "5", "UDCKPT_SOFT_REORDER", "5",
                        "UDCKPT_SOFT_SEED", Long.toString(seed));
        return CONNECTIONS.stream()
                .map(name -> dynamicContainer(name + ", seed " + seed, cases("fabric_" + name, faults)
                        .filter(test -> !NEED_ALL.getOrDefault(name, Set.of()).contains(test.getDisplayName()))));
    }

    /** Who is refused amid a long message learns why, whichever packets and answers before that were lost. */
    @TestFactory
    Stream<DynamicTest> refusalsThatAreLost() {
        return IntStream.rangeClosed(1, 25).mapToObj(seed -> dynamicTest("seed " + seed, () -> {
            Map<String, String> faults = Map.of("UDCKPT_SOFT_LOSS", "30", "UDCKPT_SOFT_SEED", Integer.toString(seed));
            Native.Result result = Native.run(faults, Native.program("fabric_xrc").toString(), "too-long");
            assertEquals(0, result.exit(), result::toString);
        }));
    }

    /** The same rules hold with the virtual layer in between. */
    @TestFactory
    Stream<DynamicContainer> virtualized() {
        return Stream.concat(DATAGRAMS.stream(), CONNECTIONS.stream()).map(name -> dynamicContainer(name,
                cases("fabric_" + name, Map.of("UDCKPT_VIRTUALIZE", "1"))));
    }

    /** Requests are recorded, and all completions asked for. */
    @TestFactory
    Stream<DynamicContainer> connectionsOnTheGenericPath() {
        return CONNECTIONS.stream().map(name -> dynamicContainer(name,
                cases("fabric_" + name, Map.of("UDCKPT_VIRTUALIZE", "1", "UDCKPT_DATA_PATH", "generic"))));
    }

    /** The same rules with tags, as between hosts; but nothing can be said of a datagram that did not fit. */
    @TestFactory
    Stream<DynamicContainer> tagged() {
        Map<String, String> tags = Map.of("UDCKPT_SOFT_TAGS", "test");
        return Stream.concat(Stream.concat(DATAGRAMS.stream(), CONNECTIONS.stream()), Stream.of("tags"))
                .map(name -> dynamicContainer(name,
                        cases("fabric_" + name, tags).filter(
                                test -> !NEED_A_PART.getOrDefault(name, Set.of()).contains(test.getDisplayName()))));
    }

    /**
     * Two devices of two ports each: on the bare fabric, and beneath both data paths, one by the name that its setting
     * had before.
     */
    @TestFactory
    Stream<DynamicContainer> severalPorts() {
        Map<String, String> shape = Map.of("UDCKPT_SOFT_DEVICES", "2", "UDCKPT_SOFT_PORTS", "2");
        return Stream
                .of(Map.of("UDCKPT_VIRTUALIZE", "0"), Map.of("UDCKPT_VIRTUALIZE", "1"),
                        Map.of("UDCKPT_VIRTUALIZE", "1", "UDCKPT_LENDING", "0"))
                .flatMap(layer -> Stream.of("ports", "trouble").map(
                        name -> dynamicContainer(name + " " + layer, cases("fabric_" + name, with(shape, layer)))));
    }

    private static Map<String, String> with(Map<String, String> one, Map<String, String> other) {
        Map<String, String> both = new TreeMap<>(one);
        both.putAll(other);
        return both;
    }

    /** Linked with the fabric itself, to call what only the virtual layer may: owned_fds and forget. */
    @TestFactory
    Stream<DynamicTest> checkpointHalf() {
        return cases("fabric_forget", Map.of("LD_PRELOAD", ""));
    }

    private static Stream<DynamicTest> cases(String program, Map<String, String> environment) {
        String path = Native.program(program).toString();
        List<String> names;
        try {
            names = Native.run(environment, path).out().lines().toList();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException("cannot list the cases of " + path, e);
        }
        assertFalse(names.isEmpty(), () -> path + " names no case");
        return names.stream().map(name -> dynamicTest(name, () -> {
            Native.Result result = Native.run(environment, path, name);
            assertEquals(0, result.exit(), result::toString);
        }));
    }

    /**
     * The whole table of what is not there: EOPNOTSUPP, and one line for each name, however often it is called; of a
     * capability that programs only probe for, nothing, unless the process fails.
     */
    @ParameterizedTest
    @CsvSource({"0,all,0", "1,all,0", "1,failing,3"})
    void refusalsAreNamedOnce(String virtualize, String name, int code) throws Exception {
        String program = Native.program("fabric_refused").toString();
        Native.Result result = Native.run(Map.of("UDCKPT_VIRTUALIZE", virtualize), program, name);
        assertEquals(code, result.exit(), result::toString);
        Set<String> lines = result.out().lines().collect(Collectors.toCollection(TreeSet::new));
        long probes = lines.stream().filter(line -> line.startsWith("asked for ")).count();
        assertTrue(lines.size() > 30 && probes > 7, lines::toString);
        if (code == 0) {
            lines.removeIf(line -> line.startsWith("asked for "));
        }
        for (String words : lines) {
            long said =
                    result.err().lines().filter(line -> line.startsWith("udckpt: ") && line.contains(words)).count();
            assertEquals(1, said, () -> words + " in\n" + result.err());
        }
        assertEquals(lines.size(), result.err().lines().filter(line -> line.contains("not supported")).count(),
                result::err);
    }

    /** In each way that this processor has, against another library's. */
    @Test
    void tagsAreThoseOfTheStandard() throws Exception {
        Native.Result result = Native.run(Map.of("LD_PRELOAD", ""), Native.program("soft_mac_test").toString());
        assertEquals(0, result.exit(), result::toString);
        assertTrue(result.out().lines().filter(line -> line.endsWith("3000 right")).count() >= 2, result::toString);
    }

    @Test
    void wrongSettingsAreNamed() throws Exception {
        Map<String, String> wrong =
                Map.of("UDCKPT_SOFT_LID", "49152", "UDCKPT_SOFT_QPNS", "5000", "UDCKPT_SOFT_LOSS", "101",
                        "UDCKPT_SOFT_NET", "10.9.8", "UDCKPT_SOFT_DEVICES", "9", "UDCKPT_SOFT_PORTS", "0",
                        "UDCKPT_SOFT_SEED", "x", "UDCKPT_SOFT_TAGS", "yes", "UDCKPT_DEVICE", "mlx5_0");
        for (Map.Entry<String, String> setting : wrong.entrySet()) {
            Native.Result result = Native.run(Map.ofEntries(setting), "ibv_devinfo");
            assertTrue(result.exit() != 0, result::toString);
            assertTrue(
                    result.err().contains("udckpt: " + setting.getKey() + "=" + setting.getValue() + " is not valid"),
                    result::toString);
        }
    }
}
