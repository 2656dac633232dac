package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.Manifest;
import org.udckpt.image.table.RecordTable;
import org.udckpt.process.model.Descriptor;
import org.udckpt.process.model.ProcessState;
import org.udckpt.process.model.Region;
import org.udckpt.store.MemoryRow;
import org.udckpt.store.RankRow;

/**
 * Images that must not be restarted: the code of docs/operator/exit-codes.md, the thing by its name, and nothing left
 * behind.
 */
@Tag("slow")
@Timeout(240)
class RefusedImageTest {
    private static final int NEXT = Manifest.VERSION + 1;

    @Test
    void restartTakesOnlyWhatItCanTrust() throws Exception {
        try (RunningJob job = RunningJob.ballast(1)) {
            job.checkpoint();
            job.checkpoint(true, true, _ -> {});
            job.assertEnds(0);
            Path images = job.directory.resolve("images");
            Path newest = images.resolve("ckpt-0002");
            aFlippedBit(job, images, newest);
            String good = Files.readString(newest.resolve("manifest"));
            tablesThatLie(job, newest);
            rewrite(newest, text -> text.replace("\narchitecture x86_64\n", "\narchitecture riscv64\n"), true);
            refused(job, 69, newest, "riscv64", "x86_64");
            refused(job, 69, images, "ckpt-0002", "riscv64");
            rewrite(newest, text -> text.replace("\narchitecture", "\nlabel colour red\narchitecture"), false);
            refused(job, 65, newest, "manifest");
            Files.writeString(newest.resolve("manifest"), good);
            rewrite(newest, text -> text.replaceFirst("udckpt-image \\d+\n", "udckpt-image " + NEXT + "\n"), true);
            refused(job, 69, newest, "version " + NEXT, "use a newer udckpt");
            withoutACompleteOne(job, images, newest);
        }
    }

    private static void aFlippedBit(RunningJob job, Path images, Path checkpoint) throws Exception {
        Path stripe = checkpoint.resolve("node-0000.stripe-00");
        flip(stripe);
        refused(job, 65, images, "node-0000.stripe-00 at offset 0x", "rank ", ", process ", " (ballast) (node 0, ",
                "mismatch", "the newest complete checkpoint before it is ckpt-0001");
        flip(stripe);
        flip(checkpoint.resolve("node-0000.threads.arrow"));
        refused(job, 65, checkpoint, "node-0000.threads.arrow", "ckpt-0001");
        flip(checkpoint.resolve("node-0000.threads.arrow"));
    }

    /** With the right seal: what was written is not what anybody captured. */
    private static void tablesThatLie(RunningJob job, Path checkpoint) throws Exception {
        lie(job, checkpoint, "regions", Region.class, r -> new Region(r.pid(), r.start(), r.start() - 4096,
                r.permissions(), r.fileOffset(), r.path(), r.vmFlags(), r.backing()));
        lie(job, checkpoint, "descriptors", Descriptor.class,
                d -> new Descriptor(d.pid(), d.fd(), d.closeOnExec(), 1 << 20));
        lie(job, checkpoint, "memory", MemoryRow.class, m -> new MemoryRow(77, m.process(), m.id()));
        lie(job, checkpoint, "memory", MemoryRow.class, m -> new MemoryRow(m.number(), m.process(), m.id() + 1000));
        lie(job, checkpoint, "ranks", RankRow.class, r -> new RankRow(r.pid() + 1, r.rank(), r.mpiRank(), r.verbs()));
        lie(job, checkpoint, "ranks", RankRow.class, r -> new RankRow(r.pid(), -1, r.mpiRank(), r.verbs()));
        lie(job, checkpoint, "processes", ProcessState.class, p -> null);
    }

    private static <T> void lie(RunningJob job, Path checkpoint, String table, Class<T> type, UnaryOperator<T> change)
            throws Exception {
        String name = "node-0000." + table + ".arrow";
        Path file = checkpoint.resolve(name);
        byte[] good = Files.readAllBytes(file);
        String manifest = Files.readString(checkpoint.resolve("manifest"));
        List<T> rows = new ArrayList<>(RecordTable.of(type).decode(good, file));
        T changed = change.apply(rows.getFirst());
        rows.removeFirst();
        if (changed != null) {
            rows.addFirst(changed);
        }
        byte[] bad = RecordTable.of(type).encode(rows);
        Files.write(file, bad);
        rewrite(checkpoint,
                text -> text.replaceFirst("file " + name + " \\d+ sha256 [0-9a-f]{64}",
                        "file " + name + " " + bad.length + " sha256 "
                                + HexFormat.of().formatHex(sha256(bad)))
                        .replaceFirst("stored-bytes (\\d+)",
                                "stored-bytes " + (stored(text) + bad.length - good.length)),
                true);
        String where = changed == null ? ".arrow: row " : name + ": row ";
        assertEquals(65, job.commands.run("verify", 60, "verify", checkpoint.toString()), table);
        assertTrue(job.commands.printed("verify").contains(where), job.commands.printed("verify"));
        if (type == MemoryRow.class) { // the last of the tables that a restart reads
            refused(job, 65, checkpoint, where);
        }
        Files.write(file, good);
        Files.writeString(checkpoint.resolve("manifest"), manifest);
    }

    private static long stored(String manifest) {
        return manifest.lines().filter(line -> line.startsWith("stored-bytes "))
                .mapToLong(line -> Long.parseLong(line.substring(13))).findFirst().orElseThrow();
    }

    private static byte[] sha256(byte[] bytes) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    /** Neither one whose version is too new nor one that was never finished is taken. */
    private static void withoutACompleteOne(RunningJob job, Path images, Path tooNew) throws Exception {
        Files.delete(images.resolve("ckpt-0001/manifest"));
        refused(job, 69, images, "version " + NEXT, "ckpt-0002");
        Files.delete(tooNew.resolve("manifest"));
        refused(job, 66, images, "no complete checkpoint", "ckpt-0001, ckpt-0002");
        refused(job, 66, tooNew, "ckpt-0002", "not complete");
        refused(job, 66, images.resolve("ckpt-0003"), "ckpt-0003");
    }

    private static void flip(Path file) throws Exception {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            long middle = content.length() / 2;
            content.seek(middle);
            int value = content.read();
            content.seek(middle);
            content.write(value ^ 0x10);
        }
    }

    /** Changes the manifest; sealed again with the user's key, or left with a seal that is wrong now. */
    private static void rewrite(Path checkpoint, UnaryOperator<String> change, boolean sealed) throws Exception {
        Path file = checkpoint.resolve("manifest");
        String before = Files.readString(file);
        String text = change.apply(before.substring(0, before.indexOf("\nmac ") + 1));
        assertFalse(before.startsWith(text), "nothing was changed");
        String mac = sealed ? "mac " + HexFormat.of().formatHex(mac(text)) + "\n"
                : before.substring(before.indexOf("\nmac ") + 1);
        Files.writeString(file, text + mac);
    }

    /** As docs/reference/image-format.md has it. */
    private static byte[] mac(String text) throws Exception {
        String named = System.getenv("UDCKPT_KEY_FILE");
        Path key = named != null ? Path.of(named) : Path.of(System.getProperty("user.home"), ".config/udckpt/key");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(HexFormat.of().parseHex(Files.readString(key).strip()), "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static void refused(RunningJob job, int code, Path image, String... words) throws Exception {
        Files.deleteIfExists(job.directory.resolve("restart.err"));
        assertEquals(code, job.commands.run("restart", 60, "restart", image.toString()), () -> printed(job));
        String said = Files.readString(job.directory.resolve("restart.err"));
        for (String word : words) {
            assertTrue(said.contains(word), () -> "no '" + word + "' in: " + said);
        }
        assertTrue(said.startsWith("udckpt: ") && !said.contains("Exception"), said);
        assertEquals(List.of(), RankProcesses.of(job.runtime()), said);
        assertFalse(Files.exists(job.runtime()), "the runtime directory is left");
    }

    private static String printed(RunningJob job) {
        try {
            return job.commands.printed("restart");
        } catch (java.io.IOException e) {
            return e.toString();
        }
    }
}
