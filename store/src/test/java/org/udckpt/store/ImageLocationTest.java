package org.udckpt.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.Range;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Which checkpoint is meant, and what is said of those that are not taken. */
@Timeout(60)
class ImageLocationTest {
    @TempDir
    Path temp;
    private ImageKey key;

    @BeforeEach
    void open() throws Exception {
        key = ImageKey.ofUser(Map.of("UDCKPT_KEY_FILE", temp.resolve("key").toString()));
    }

    private Path fast() {
        return temp.resolve("fast");
    }

    private Path slow() {
        return temp.resolve("slow");
    }

    private String tiers() {
        return "fast=" + fast() + ",slow=" + slow();
    }

    private void write(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            try (CheckpointWriter writer =
                    CheckpointWriter.create(fast(), WriterOptions.of(key).withBufferBytes(4 << 20))) {
                writer.node(0, "a").memory(1, List.of(new Range(0, 16 * Range.PAGE)), (address, into) -> {
                    into.fill((byte) (1 + writer.id()));
                    return into.byteSize();
                });
                writer.commit(CheckpointInfo.now(1, Map.of("job", "a")));
            }
        }
    }

    private void copy(String name) throws IOException {
        new CheckpointCopy(fast().resolve(name), slow(), key, RateLimit.NONE, () -> false).run((_, _) -> {});
    }

    private static void append(Path file) throws IOException {
        Files.writeString(file, "x", StandardOpenOption.APPEND);
    }

    /** What was said, behind what was found. */
    private static String with(Supplier<ImageLocation> found) {
        PrintStream before = System.err;
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setErr(new PrintStream(errors, true));
        try {
            return found.get().entry().directory() + "\n" + errors;
        } finally {
            System.setErr(before);
        }
    }

    private String find(String text) {
        return with(() -> ImageLocation.find(text, key));
    }

    @Test
    void aDamagedNewestIsWarnedOf() throws Exception {
        write(3);
        assertEquals(fast().resolve("ckpt-0003") + "\n", find(fast().toString()));
        Files.copy(fast().resolve("ckpt-0002/manifest"), fast().resolve("ckpt-0003/manifest"),
                StandardCopyOption.REPLACE_EXISTING);
        assertEquals(fast().resolve("ckpt-0002") + "\nudckpt: warning: ckpt-0003 is skipped: "
                + fast().resolve("ckpt-0003/manifest")
                + ": belongs to ckpt-0002: moved or copied here; ckpt-0002 is used instead\n", find(fast().toString()));
        append(fast().resolve("ckpt-0002/job.phases.arrow"));
        String said = find(fast().toString());
        assertTrue(said.startsWith(fast().resolve("ckpt-0001") + "\nudckpt: warning: ckpt-0002 is skipped: "
                + fast().resolve("ckpt-0002/job.phases.arrow") + " at offset 0x"), said);
        assertEquals(2, said.lines().filter(line -> line.endsWith("; ckpt-0001 is used instead")).count(), said);
        assertEquals(fast().resolve("ckpt-0001") + "\n", with(() -> ImageLocation.look(fast().toString(), key)));
        assertEquals(fast().resolve("ckpt-0001") + "\n", find(fast() + "/ckpt-0001"),
                "who names one is not told of others");
    }

    /** It is being written, or was never finished. */
    @Test
    void anIncompleteOneIsNoNews() throws Exception {
        write(2);
        Files.delete(fast().resolve("ckpt-0002/manifest"));
        assertEquals(fast().resolve("ckpt-0001") + "\n", find(fast().toString()));
    }

    @Test
    void aSymbolicLinkIsNamed() throws Exception {
        write(2);
        Files.move(fast().resolve("ckpt-0002"), temp.resolve("ckpt-0002"));
        Files.createSymbolicLink(fast().resolve("ckpt-0002"), temp.resolve("ckpt-0002"));
        String said = find(fast().toString());
        assertTrue(said.startsWith(fast().resolve("ckpt-0001") + "\nudckpt: warning: ckpt-0002 is skipped: "
                + fast().resolve("ckpt-0002") + ": a symbolic link, which is not followed"), said);
        Failure refused = assertThrows(Failure.class, () -> ImageLocation.find(fast() + "/ckpt-0002", key).open(key));
        assertEquals(ExitCode.CORRUPT, refused.code(), refused.getMessage());
        assertTrue(refused.getMessage().contains("symbolic link"), refused.getMessage());
        assertEquals(temp.resolve("ckpt-0002") + "\n", find(temp.resolve("ckpt-0002").toString()),
                "under its own name");
    }

    @Test
    void tiersAreWarnedOfAlike() throws Exception {
        write(3);
        copy("ckpt-0001");
        copy("ckpt-0002");
        append(fast().resolve("ckpt-0003/job.phases.arrow"));
        String said = find(tiers());
        assertTrue(said.startsWith(fast().resolve("ckpt-0002") + "\nudckpt: warning: ckpt-0003 is skipped: ")
                && said.endsWith("; ckpt-0002 is used instead\n"), said);
        append(fast().resolve("ckpt-0002/job.phases.arrow"));
        said = find(tiers());
        assertTrue(
                said.startsWith(
                        slow().resolve("ckpt-0002") + "\nudckpt: warning: ckpt-0002 is skipped in " + fast() + ": "),
                said);
        assertTrue(said.contains("; its copy in " + slow() + " is used instead\n"), said);
        said = find(tiers() + "/ckpt-0002");
        assertEquals(2, said.lines().count(), said);
        append(slow().resolve("ckpt-0001/job.phases.arrow"));
        append(slow().resolve("ckpt-0002/job.phases.arrow"));
        Files.delete(fast().resolve("ckpt-0001/manifest"));
        Failure none = assertThrows(Failure.class, () -> ImageLocation.find(tiers(), key));
        assertEquals(ExitCode.CORRUPT, none.code(), none.getMessage());
    }
}
