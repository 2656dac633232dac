package org.udckpt.image.key;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import org.udckpt.linux.SystemRandom;

/**
 * Tags for the blocks of one checkpoint that is not encrypted: AES-256-GMAC (NIST SP 800-38D: GCM in which all is
 * additional data and nothing is encrypted), under a key that HKDF-SHA256 makes of the user's {@link ImageKey} and the
 * checkpoint's random salt. Who lacks that key can make no tag for other bytes, nor for these bytes under another
 * nonce; and the table that says which nonce and tag belong to which place is under the manifest's MAC. Thread-safe.
 */
public final class BlockTags {
    private final String salt;
    private final byte[] key;
    private final Nonces nonces;

    private BlockTags(String salt, byte[] key, int writer) {
        this.salt = salt;
        this.key = key;
        this.nonces = new Nonces(writer);
    }

    /** For a new checkpoint. */
    public static BlockTags fresh(ImageKey key) {
        return of(HexFormat.of().formatHex(SystemRandom.bytes(ImageCipher.SALT_BYTES)), key, 0);
    }

    /**
     * For a checkpoint that is there, or a part of one that is being written.
     *
     * @param salt   of its manifest
     * @param writer begins the part's nonces: its own, and not 0, which is the checkpoint's first writer
     */
    public static BlockTags of(String salt, ImageKey key, int writer) {
        return new BlockTags(salt, key.derive(HexFormat.of().parseHex(salt), "udckpt block tags", 32), writer);
    }

    /** 32 bytes, in hexadecimal. */
    public String salt() {
        return salt;
    }

    /** A copy of the key's 32 bytes, for code that makes tags by itself. */
    public byte[] key() {
        return key.clone();
    }

    /** A nonce that no other block of the checkpoint has, and room for the tag behind it. */
    public byte[] nextSeal() {
        return nonces.nextSeal();
    }

    /** For one thread. */
    public Worker worker() {
        return new Worker();
    }

    public final class Worker implements BlockSealer {
        private final Gmac gmac = new Gmac(key);

        private Worker() {}

        @Override
        public byte[] seal(MemorySegment bytes, int length) {
            byte[] seal = nextSeal();
            gmac.tag(bytes, length, seal);
            return seal;
        }

        @Override
        public boolean tagsOnly() {
            return true;
        }

        @Override
        public boolean open(MemorySegment bytes, int length, byte[] seal) {
            byte[] own = Arrays.copyOf(seal, ImageCipher.SEAL_BYTES);
            gmac.tag(bytes, length, own);
            return MessageDigest.isEqual(own, seal);
        }
    }
}
