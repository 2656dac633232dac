package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.block.Block;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/** What {@code --encrypt} hides. */
@Timeout(120)
class EncryptionTest {
    @TempDir
    Path temp;

    @Test
    void nothingOfTheJobCanBeReadInTheFiles() throws Exception {
        byte[] needle = "the job's secret, to be found by nobody".getBytes(StandardCharsets.US_ASCII);
        FakeProcess process = new FakeProcess(1, new Random(1), 3, 30);
        System.arraycopy(needle, 0, process.memory.firstEntry().getValue(), 100, needle.length);
        assertTrue(found(Images.options(), process, needle));
        assertFalse(found(Images.encrypted(), process, needle));
        assertFalse(found(Images.encrypted().withForm(ImageForm.PLAIN.withZstdLevel(1)), process, needle));
    }

    private boolean found(WriterOptions options, FakeProcess process, byte[] needle) throws IOException {
        Path parent = Files.createTempDirectory(temp, "c");
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            Images.fill(writer, List.of(process));
            writer.table("secret", Images.Named.class,
                    List.of(new Images.Named(1, new String(needle, StandardCharsets.US_ASCII))));
            writer.commit(Images.INFO);
        }
        Images.assertHolds(parent.resolve("ckpt-0001"), List.of(process));
        boolean found = false;
        try (var files = Files.list(parent.resolve("ckpt-0001"))) {
            for (Path file : files.toList()) {
                found |= contains(Files.readAllBytes(file), needle);
            }
        }
        return found;
    }

    private static boolean contains(byte[] bytes, byte[] needle) {
        for (int at = 0; at + needle.length <= bytes.length; at++) {
            if (Arrays.equals(bytes, at, at + needle.length, needle, 0, needle.length)) {
                return true;
            }
        }
        return false;
    }

    @Test
    void noNonceComesTwiceUnderAKeyAndNoKeyInTwoCheckpoints() throws Exception {
        Path parent = temp.resolve("c");
        FakeProcess process = new FakeProcess(1, new Random(2), 40, 300);
        Manifest first = Images.write(parent, Images.encrypted(), List.of(process));
        Manifest second = Images.write(parent, Images.encrypted(), List.of(process));
        assertFalse(first.encryption().salt().equals(second.encryption().salt()));
        Set<ByteBuffer> nonces = new HashSet<>();
        int sealed = 0;
        try (CheckpointReader reader = CheckpointReader.open(parent.resolve("ckpt-0001"), Images.SECRET_KEY)) {
            for (Block block : reader.table("blocks", Block.class)) {
                nonces.add(ByteBuffer.wrap(block.seal(), 0, ImageCipher.NONCE_BYTES));
                sealed++;
            }
        }
        for (Manifest.FileEntry entry : first.files()) {
            if (entry.sha256() != null) {
                assertTrue(entry.name().endsWith(".arrow.aes"), entry.name());
                nonces.add(ByteBuffer.wrap(Files.readAllBytes(parent.resolve("ckpt-0001").resolve(entry.name())), 0,
                        ImageCipher.NONCE_BYTES));
                sealed++;
            }
        }
        assertTrue(sealed > 10, sealed + " sealed pieces");
        assertEquals(sealed, nonces.size());
    }
}
