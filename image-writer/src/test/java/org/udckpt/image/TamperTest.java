package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.udckpt.image.block.Block;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/** Changed images are refused by name. Checkpoint 1 is good, 2 is changed. */
@Timeout(180)
@ParameterizedClass
@EnumSource
class TamperTest {
    enum Form {
        PLAIN(Images.options()),
        HASHED(Images.options().withForm(ImageForm.PLAIN.withIntegrity(Manifest.Integrity.SHA256))),
        COMPRESSED(Images.options().withForm(ImageForm.PLAIN.withZstdLevel(1))),
        ADAPTIVE(Images.options().withForm(ImageForm.PLAIN.withZstdLevel(ImageForm.ADAPTIVE))),
        ENCRYPTED(Images.encrypted()),
        COMPRESSED_AND_ENCRYPTED(Images.encrypted().withForm(ImageForm.PLAIN.withZstdLevel(1))),
        NO_DIGESTS(Images.options().withForm(new ImageForm(Manifest.Integrity.XXH3, 1, false)));

        private final WriterOptions options;

        Form(WriterOptions options) {
            this.options = options;
        }
    }

    @Parameter
    private Form form;
    @TempDir
    Path temp;
    private Path parent;
    private Path target;

    @BeforeEach
    void write() throws IOException {
        parent = temp.resolve("c");
        target = parent.resolve("ckpt-0002");
        Images.write(parent, form.options, Images.processes(new Random(3), 2));
        Images.write(parent, form.options, Images.processes(new Random(4), 2));
    }

    private ImageError refused(String where) {
        return assertThrows(ImageError.class, () -> {
            try (CheckpointReader reader = CheckpointReader.open(target, Images.SECRET_KEY)) {
                reader.verify((_, _) -> {});
            }
        }, where);
    }

    private List<Path> files() throws IOException {
        try (var files = Files.list(target)) {
            return files.filter(file -> !file.endsWith(ImageNames.WRITER)).sorted().toList();
        }
    }

    @Test
    void aFlippedBitAnywhereIsFound() throws Exception {
        Random random = new Random(Images.seed("TamperTest"));
        for (Path file : files()) {
            byte[] good = Files.readAllBytes(file);
            for (int i = 0; i < 40; i++) {
                byte[] bad = good.clone();
                // Both ends, and random places between.
                int at = i == 0 ? 0 : i == 1 ? good.length - 1 : random.nextInt(good.length);
                bad[at] ^= (byte) (1 << random.nextInt(8));
                Files.write(file, bad);
                ImageError error = refused(file + " at " + at);
                assertEquals(file, error.file());
                if (file.getFileName().toString().contains("stripe")) {
                    assertTrue(error.offset() <= at && error.offset() + Block.MAX_LENGTH > at,
                            error + ", flipped at " + at);
                    assertTrue(
                            error.getMessage()
                                    .matches("(?s).*process 10[01].* \\(node 0, host a\\): block \\d+ .*mismatch; "
                                            + "the newest complete checkpoint before it is ckpt-0001"),
                            error.getMessage());
                }
            }
            Files.write(file, good);
        }
        try (CheckpointReader reader = CheckpointReader.open(target, Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
        }
    }

    @Test
    void everyBlockIsUnderADigestOrATag() throws Exception {
        try (CheckpointReader reader = CheckpointReader.open(target, Images.SECRET_KEY)) {
            for (Block block : reader.table("blocks", Block.class)) {
                assertEquals(form == Form.HASHED, block.digest() != null);
                assertEquals(form != Form.HASHED && form != Form.NO_DIGESTS, block.seal() != null);
            }
        }
    }

    @Test
    void everyTruncationIsFound() throws Exception {
        Random random = new Random(Images.seed("TamperTest.truncate"));
        for (Path file : files()) {
            byte[] good = Files.readAllBytes(file);
            for (int length : new int[]{0, 1, good.length / 2, good.length - 1, random.nextInt(good.length)}) {
                Files.write(file, java.util.Arrays.copyOf(good, length));
                assertEquals(file, refused(file + " cut to " + length).file());
            }
            Files.write(file, java.util.Arrays.copyOf(good, good.length + 1));
            assertEquals(file, refused(file + " made longer").file());
            Files.write(file, good);
        }
    }

    @Test
    void aDeletedFileIsNamed() throws Exception {
        for (Path file : files()) {
            Path away = temp.resolve("away");
            Files.move(file, away);
            assertEquals(file,
                    assertThrows(ImageError.Missing.class, () -> CheckpointReader.open(target, Images.SECRET_KEY))
                            .file());
            Files.move(away, file);
        }
    }

    @Test
    void aFileOfAnotherCheckpointIsFound() throws Exception {
        for (Path file : files()) {
            byte[] good = Files.readAllBytes(file);
            Files.copy(parent.resolve("ckpt-0001").resolve(file.getFileName()), file,
                    StandardCopyOption.REPLACE_EXISTING);
            if (!java.util.Arrays.equals(good, Files.readAllBytes(file))) {
                assertEquals(file, refused(file + " replayed").file());
            }
            Files.write(file, good);
        }
    }

    @Test
    void swappedStripesAreFound() throws Exception {
        Path a = target.resolve("node-0000.stripe-00");
        Path b = target.resolve("node-0000.stripe-01");
        byte[] first = Files.readAllBytes(a);
        Files.write(a, Files.readAllBytes(b));
        Files.write(b, first);
        refused("swapped stripes");
    }

    @Test
    void aSymbolicLinkIsRefused() throws Exception {
        Path stripe = target.resolve("node-0000.stripe-00");
        Path away = temp.resolve("away");
        Files.move(stripe, away);
        Files.createSymbolicLink(stripe, away);
        assertTrue(refused("link").getMessage().contains("not a regular file"));
    }

    @Test
    void aCopiedCheckpointDoesNotBecomeANewerOne() throws Exception {
        Path copy = parent.resolve("ckpt-0009");
        Files.createDirectory(copy);
        for (Path file : files()) {
            Files.copy(file, copy.resolve(file.getFileName()));
        }
        ImageError error = assertThrows(ImageError.Corrupt.class, () -> CheckpointReader.open(copy, Images.SECRET_KEY));
        assertTrue(error.getMessage().contains("belongs to ckpt-0002"), error.getMessage());
        assertEquals(2, new Catalogue(parent, Images.SECRET_KEY).newestComplete().orElseThrow().id());
    }

    @Test
    void anotherKeyIsToldApart() {
        ImageKey other = ImageKey.of(new byte[32]);
        ImageError.Foreign error = assertThrows(ImageError.Foreign.class, () -> CheckpointReader.open(target, other));
        assertTrue(error.getMessage().contains(Images.KEY.id()) && error.getMessage().contains(other.id()),
                error.getMessage());
    }

    @Test
    void otherVersionsAreToldApart() throws Exception {
        Path manifest = target.resolve("manifest");
        String text = Files.readString(manifest, StandardCharsets.US_ASCII);
        Files.writeString(manifest, text.replaceFirst("udckpt-image 4", "udckpt-image 5"));
        assertThrows(ImageError.TooNew.class, () -> CheckpointReader.open(target, Images.SECRET_KEY));
        Files.writeString(manifest, text.replaceFirst("udckpt-image 4", "udckpt-image 0"));
        assertThrows(ImageError.TooOld.class, () -> CheckpointReader.open(target, Images.SECRET_KEY));
        Files.writeString(manifest, text.replaceFirst("udckpt-image 4", "udckpt-image 02"));
        assertThrows(ImageError.Corrupt.class, () -> CheckpointReader.open(target, Images.SECRET_KEY));
    }
}
