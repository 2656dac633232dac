package org.udckpt.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.catalogue.CheckpointCopy;
import org.udckpt.image.catalogue.VerifiedMark;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.store.ImageLocation;
import org.udckpt.system.cli.GoldenJobImageTest;

/** The report about a checkpoint that was read completely, and the mark that is kept of it. */
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

    /** The other tier has it: it is named, in place of an older checkpoint. */
    @Test
    void theOtherTiersCopyIsNamed() throws Exception {
        Path fast = Files.createDirectory(temp.resolve("f")).resolve("ckpt-0001");
        Path slow = Files.createDirectory(temp.resolve("s")).resolve("ckpt-0001");
        Files.move(checkpoint, fast);
        new CheckpointCopy(fast, slow.getParent(), key, RateLimit.NONE, () -> false).run((_, _) -> {});
        String tiers = "fast=" + fast.getParent() + ",slow=" + slow.getParent();
        flip(fast.resolve("node-0000.stripe-00"));
        String said = Verification.of(ImageLocation.find(tiers, key), key).toString();
        assertTrue(said.startsWith("verifying ckpt-0001 in fast: " + fast.resolve("node-0000.stripe-00")), said);
        assertTrue(said.endsWith("; the same checkpoint is complete in " + slow.getParent() + ": restart " + slow),
                said);
        List<Verification> all =
                ImageLocation.all(tiers, key).stream().map(location -> Verification.of(location, key)).toList();
        assertTrue(all.getLast().toString().startsWith("ckpt-0001 in slow: "), all.toString());
        assertEquals(List.of("fast", "slow"), all.stream().map(one -> one.json().path("tier").asText()).toList());
        Files.delete(slow.resolve("manifest"));
        said = Verification.of(ImageLocation.find(tiers, key), key).toString();
        assertTrue(said.endsWith("; there is no complete checkpoint before it"), said);
    }

    /** 'udckpt list' must not go on to say "verified 1 s ago". */
    @Test
    void whatIsFoundDamagedIsNoLongerMarkedAsVerified() throws Exception {
        assertNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(new VerifiedMark(LocalStorage.INSTANCE).read(checkpoint).isPresent());
        flip(checkpoint.resolve("node-0000.stripe-00"));
        assertNotNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(new VerifiedMark(LocalStorage.INSTANCE).read(checkpoint).isEmpty());
        flip(checkpoint.resolve("node-0000.stripe-00"));
        assertNull(Verification.of(ImageLocation.find(checkpoint.toString(), key), key).failure());
        assertTrue(new VerifiedMark(LocalStorage.INSTANCE).read(checkpoint).isPresent());
    }
}
