package org.udckpt.job.cli;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.VerifiedMark;
import org.udckpt.image.key.ImageKey;
import org.udckpt.job.store.ImageLocation;

/** What is said, and kept, of a checkpoint that was read whole. */
@Timeout(60)
class VerificationTest {
    @TempDir
    Path temp;
    private Path checkpoint;
    private ImageKey key;

    @BeforeEach
    void open() throws Exception {
        checkpoint = GoldenJobImageTest.copy(temp);
        key = ImageKey.ofUser(Map.of("UDCKPT_KEY_FILE", temp.resolve("key").toString()));
    }

    private static void flip(Path file) throws Exception {
        try (RandomAccessFile content = new RandomAccessFile(file.toFile(), "rw")) {
            int first = content.read();
            content.seek(0);
            content.write(first ^ 1);
        }
    }

    /** 'udckpt list' must not go on to say "verified 1 s ago". */
    @Test
    void whatIsFoundDamagedIsNoLongerMarkedAsVerified() throws Exception {
        assertNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(VerifiedMark.read(checkpoint).isPresent());
        flip(checkpoint.resolve("node-0000.stripe-00"));
        assertNotNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(VerifiedMark.read(checkpoint).isEmpty());
        flip(checkpoint.resolve("node-0000.stripe-00"));
        assertNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(VerifiedMark.read(checkpoint).isPresent());
    }
}
