package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.table.RecordTable;
import org.udckpt.inspect.view.CheckpointView;
import org.udckpt.store.AddressRow;
import org.udckpt.store.OpenImage;
import org.udckpt.store.PmiRow;
import org.udckpt.store.ProcessChoice;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * Images of a real job whose seal is right and whose tables are damaged, by bytes: they are refused as corrupt, with
 * the file's name, or looked at as others are; never another exception, nor memory for a length that nobody has
 * checked. What rows can say that nobody captured: LyingTablesTest.
 */
@Timeout(300)
class JobImageFuzzTest {
    private static final int[] ODD = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 8, 1 << 20, 0x00ff0000};
    /** Memory for one look; a good image of this size takes a fraction of it. */
    private static final long MOST = 64 << 20;
    private static final String ADDRESSES = "job.addresses.arrow";
    private static final String JOB = "job.job.arrow";

    /** So many come first by name, with what only the agent reads. */
    private static final int OF_THE_JOB = 5;

    @TempDir
    Path temp;
    private Path checkpoint;
    private ImageKey key;

    @BeforeEach
    void copy() throws Exception {
        Path kept = Path.of(JobImageFuzzTest.class.getResource("/golden-job-v2/inspect.json").toURI()).getParent();
        checkpoint = Files.createDirectory(temp.resolve("ckpt-0001"));
        try (var files = Files.list(kept.resolve("ckpt-0001"))) {
            for (Path file : files.toList()) {
                Files.copy(file, checkpoint.resolve(file.getFileName()));
            }
        }
        key = ImageKey.load(Files.setPosixFilePermissions(Files.copy(kept.resolve("key"), temp.resolve("key")),
                PosixFilePermissions.fromString("rw-------")));
    }

    /**
     * A file within a file: a byte of each eight, then seeded changes of several; AddressMapFileTest has all of them.
     */
    @Tag("slow")
    @Test
    void theAddressMapInItsTable() throws Exception {
        byte[] good = RecordTable.of(AddressRow.class)
                .decode(Files.readAllBytes(checkpoint.resolve(ADDRESSES)), checkpoint).getFirst().arrow();
        Random random = random();
        int refused = 0;
        for (int i = 0; i < good.length / 8 + 300; i++) {
            byte[] bad = good.clone();
            if (i < good.length / 8) {
                bad[8 * i + random.nextInt(8)] ^= (byte) (1 << random.nextInt(8));
            } else {
                bad = damaged(good, random);
            }
            refused +=
                    isRefused(ADDRESSES, RecordTable.of(AddressRow.class).encode(List.of(new AddressRow(bad)))) ? 1 : 0;
        }
        assertTrue(refused > 100, "only " + refused + " refused");
        assertFalse(isRefused(ADDRESSES, RecordTable.of(AddressRow.class).encode(List.of(new AddressRow(good)))),
                "the good one");
    }

    @Tag("slow")
    @Test
    void allTables() throws Exception {
        List<String> names;
        try (var files = Files.list(checkpoint)) {
            names = files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".arrow")).sorted()
                    .collect(Collectors.toList());
        }
        Random random = random();
        int refused = 0;
        for (int i = 0; i < 600; i++) {
            String name = names.get(random.nextInt(random.nextBoolean() ? OF_THE_JOB : names.size()));
            refused += isRefused(name, damaged(Files.readAllBytes(checkpoint.resolve(name)), random)) ? 1 : 0;
        }
        assertTrue(refused > 150, "only " + refused + " refused");
    }

    /** A row that looks as one of {@link PmiRow.Pair}, and may lack anything. */
    record Pair(String key, String value) {}

    /** The same of the table {@code job}. */
    record LooseJob(String name, String hosts, byte[] command, int generation, String pmiName, String namedRuntime) {}

    /** Each is named, in words. */
    @Test
    void whatIsMissingInARow() throws Exception {
        RecordTable<LooseJob> job = RecordTable.of(LooseJob.class);
        LooseJob good = job.decode(Files.readAllBytes(checkpoint.resolve(JOB)), checkpoint).getFirst();
        assertFalse(isRefused(JOB, job.encode(List.of(good))));
        byte[] none = {0};
        for (LooseJob bad : List.of(new LooseJob(null, good.hosts, good.command, 0, "", ""),
                new LooseJob("", null, good.command, 0, "", ""),
                new LooseJob("", good.hosts, null, 0, "", ""), new LooseJob("", good.hosts, none, 0, "", ""),
                new LooseJob("", good.hosts, good.command, 0, null, ""),
                new LooseJob("", good.hosts, good.command, 0, "", null),
                new LooseJob("", "a:2,a:2", good.command, 0, "", ""))) {
            assertTrue(isRefused(JOB, job.encode(List.of(bad))), bad.toString());
        }
        assertTrue(isRefused(JOB, job.encode(List.of())));
        assertTrue(isRefused(ADDRESSES, RecordTable.of(AddressRow.class).encode(List.of())));
        assertEquals("t: row 1: invalid Pair [null, v]: no key", refusal(new Pair("k", "v"), new Pair(null, "v")));
        assertEquals("t: row 0: invalid Pair [k, null]: no value", refusal(new Pair("k", null)));
    }

    private static String refusal(Pair... rows) {
        byte[] table = RecordTable.of(Pair.class).encode(List.of(rows));
        return assertThrows(ImageError.Corrupt.class,
                () -> RecordTable.of(PmiRow.Pair.class).decode(table, Path.of("t"))).getMessage();
    }

    private static Random random() {
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println("JobImageFuzzTest: seed " + seed + " (repeat with -Dudckpt.seed=" + seed + ")");
        return new Random(seed);
    }

    private static byte[] damaged(byte[] good, Random random) {
        byte[] bad = random.nextInt(8) == 0 ? Arrays.copyOf(good, 8 + random.nextInt(good.length - 8)) : good.clone();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
            int at = random.nextInt(bad.length - 4);
            switch (random.nextInt(3)) {
                case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(at & ~3,
                        ODD[random.nextInt(ODD.length)]);
                default -> bad[at] = (byte) random.nextInt(256);
            }
        }
        return bad;
    }

    /** With another content of one table, and a manifest that vouches for it; then all is as before. */
    private boolean isRefused(String table, byte[] content) throws IOException {
        Path file = checkpoint.resolve(table);
        Path manifest = checkpoint.resolve("manifest");
        byte[] good = Files.readAllBytes(file);
        String text = Files.readString(manifest, StandardCharsets.US_ASCII);
        String body =
                text.substring(0, text.lastIndexOf("mac ")).replaceFirst("file " + table + " \\d+ sha256 [0-9a-f]{64}",
                        "file " + table + " " + content.length + " sha256 "
                                + HexFormat.of().formatHex(ImageKey.sha256(content)));
        Files.write(file, content);
        Files.writeString(manifest,
                body + "mac " + HexFormat.of().formatHex(key.mac(body.getBytes(StandardCharsets.US_ASCII))) + "\n");
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        try (OpenImage image = OpenImage.open(checkpoint.toString(), key)) {
            InspectJson.of(CheckpointView.of(image), new ProcessChoice(null, null, null).all(image));
            return false;
        } catch (IOException | RuntimeException e) {
            Failure failure = Failure.of("reading", e);
            assertEquals(ExitCode.CORRUPT, failure.code(), () -> table + ": " + failure.getMessage() + trace(failure));
            // Tables are held against each other, so that it may be another one that is named.
            assertTrue(failure.getMessage().contains(".arrow") && !failure.getMessage().contains("Exception")
                    && !failure.getMessage().contains("Cannot invoke"), failure.getMessage());
            return true;
        } finally {
            long used = threads.getCurrentThreadAllocatedBytes() - before;
            assertTrue(used < MOST, used + " bytes of memory");
            Files.write(file, good);
            Files.writeString(manifest, text);
        }
    }

    private static String trace(Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null && !(cause.getCause() instanceof ImageError)) {
            cause = cause.getCause();
        }
        return "\n" + Arrays.stream(cause.getStackTrace()).limit(12).map(Object::toString)
                .collect(Collectors.joining("\n"));
    }
}
