package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class TranslationTableTest {
    private static final int CAPACITY = 128;

    @TempDir
    Path directory;

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, new Gid(0xfe80L << 48, lid & 0xff), qpn);
    }

    /** Few LIDs and QPNs, so that addresses collide, return and leave tombstones. */
    private static VerbsAddress random(Random random) {
        return address(1 + random.nextInt(8), 2048 + random.nextInt(64));
    }

    @Test
    void javaAndTheLibraryAgreeWhileEntriesComeAndGo() throws Exception {
        long seed = System.nanoTime();
        System.out.println("TranslationTableTest seed " + seed);
        Random random = new Random(seed);
        try (TranslationTable table = TranslationTable.create(directory.resolve("table"), CAPACITY, 3)) {
            Process lookup = new ProcessBuilder(System.getProperty("udckpt.native") + "/virtualization/table_lookup",
                    directory.toString())
                    .redirectError(ProcessBuilder.Redirect.INHERIT).start();
            try (PrintWriter questions = new PrintWriter(lookup.outputWriter(), true);
                    BufferedReader answers = lookup.inputReader()) {
                Map<Long, Endpoint> byVirtual = new HashMap<>();
                Map<Long, Endpoint> byReal = new HashMap<>();
                for (int round = 0; round < 4000; round++) {
                    change(random, table, byVirtual, byReal);
                    VerbsAddress asked = random(random);
                    Endpoint virtual = byVirtual.get(asked.key());
                    Endpoint real = byReal.get(asked.key());
                    assertEquals(Optional.ofNullable(virtual), table.byVirtual(asked.lid(), asked.qpn()),
                            "seed " + seed);
                    assertEquals(Optional.ofNullable(real), table.byReal(asked.lid(), asked.qpn()), "seed " + seed);
                    questions.println("forward " + asked.lid() + " " + asked.qpn());
                    assertEquals(expected(virtual, table), answers.readLine(), "seed " + seed);
                    questions.println("reverse " + asked.lid() + " " + asked.qpn());
                    assertEquals(expected(real, table), answers.readLine(), "seed " + seed);
                }
            } finally {
                lookup.destroyForcibly().waitFor();
            }
        }
    }

    private static void change(Random random, TranslationTable table, Map<Long, Endpoint> byVirtual,
            Map<Long, Endpoint> byReal) {
        VerbsAddress virtual = random(random);
        Endpoint before = byVirtual.remove(virtual.key());
        if (before != null) {
            byReal.remove(before.real().key());
        }
        VerbsAddress real = random(random);
        if (random.nextInt(3) == 0 || byReal.containsKey(real.key()) || byVirtual.size() >= CAPACITY) {
            assertEquals(before != null, table.remove(virtual));
            return;
        }
        Endpoint endpoint = new Endpoint(random.nextInt(64), virtual, real);
        table.put(endpoint);
        byVirtual.put(virtual.key(), endpoint);
        byReal.put(real.key(), endpoint);
    }

    private static String expected(Endpoint e, TranslationTable table) {
        return e == null ? "none " + table.epoch()
                : "%d %d %d %d %d %d %d".formatted(e.rank(), e.virtual().lid(), e.virtual().qpn(),
                        e.real().lid(), e.real().qpn(), e.virtual().gid().bytes()[15], table.epoch());
    }

    @Test
    void aFullTableSaysSoAndTheEpochMovesOnlyForCachedEntries() throws IOException {
        try (TranslationTable table = TranslationTable.create(directory.resolve("table"), 2, 0)) {
            long epoch = table.epoch();
            table.put(new Endpoint(0, address(1, 5), address(1, 5)));
            table.put(new Endpoint(1, address(1, 6), address(1, 6)));
            assertEquals(epoch, table.epoch());
            IllegalStateException full = assertThrows(IllegalStateException.class,
                    () -> table.put(new Endpoint(2, address(1, 7), address(1, 7))));
            assertTrue(full.getMessage().contains("all 2 entries"), full.getMessage());
            assertTrue(table.remove(address(1, 5)));
            assertFalse(table.remove(address(1, 5)));
            assertTrue(table.epoch() > epoch);
        }
    }

    @Test
    void aFileOfAnotherBuildIsRefused() throws IOException {
        Path path = directory.resolve("table");
        TranslationTable.create(path, 16, 0).close();
        byte[] bytes = Files.readAllBytes(path);
        bytes[8] ^= 1;
        Files.write(path, bytes);
        IOException refused = assertThrows(IOException.class, () -> TranslationTable.open(path));
        assertTrue(refused.getMessage().contains(path.toString()), refused.getMessage());
    }

    @Test
    void countersStartAtZeroForEachRank() throws IOException {
        Path path = directory.resolve("counters");
        try (CountersFile made = CountersFile.create(path, RankSpan.all(1));
                CountersFile read = CountersFile.open(path)) {
            assertEquals(List.of(), read.all());
            made.begin(2);
            assertEquals(List.of(made.of(0), made.of(1), made.of(2)), read.all());
            assertEquals(0, read.all().getFirst().udSends());
        }
    }

    @Test
    void countersOfASpanHaveNoRoomForRanksOfOtherAgents() throws IOException {
        Path path = directory.resolve("counters");
        try (CountersFile made = CountersFile.create(path, new RankSpan(20_000, 4, 30_000));
                CountersFile read = CountersFile.open(path)) {
            made.begin(20_003);
            assertEquals(4, read.all().size());
            made.begin(50_000);
            assertEquals(5, read.all().size());
            assertEquals(0, read.of(7).udSends());
            assertThrows(IndexOutOfBoundsException.class, () -> made.begin(19_999));
            assertThrows(IndexOutOfBoundsException.class, () -> made.begin(20_004));
        }
    }
}
