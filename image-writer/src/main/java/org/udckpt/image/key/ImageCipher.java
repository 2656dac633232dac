package org.udckpt.image.key;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.udckpt.image.Manifest;
import org.udckpt.linux.SystemRandom;

/**
 * Encrypts and decrypts one checkpoint: AES-256 in GCM (NIST SP 800-38D), under a key of its own that HKDF-SHA256 (RFC
 * 5869) makes of the user's secret and the checkpoint's random salt. A nonce is its writer's number and a counter, so
 * that none comes twice under a key. Thread-safe; what is done per block goes through a {@link Worker}, one for each
 * thread.
 */
public final class ImageCipher {
    public static final String NAME = "AES-256-GCM";
    public static final int NONCE_BYTES = 12, TAG_BYTES = 16, SEAL_BYTES = NONCE_BYTES + TAG_BYTES;
    static final int SALT_BYTES = 32;

    private final Manifest.Encryption parameters;
    private final byte[] key;
    private final Nonces nonces;

    private ImageCipher(Manifest.Encryption parameters, byte[] key, int writer) {
        this.parameters = parameters;
        this.key = key;
        this.nonces = new Nonces(writer);
    }

    /** For a new checkpoint. */
    public static ImageCipher fresh(EncryptionSecret secret) {
        byte[] salt = SystemRandom.bytes(SALT_BYTES);
        return new ImageCipher(new Manifest.Encryption(NAME, hex(salt), check(secret, salt)), key(secret, salt), 0);
    }

    /** For a checkpoint that is there; null when {@code secret} is not the one it was written with. */
    public static ImageCipher of(Manifest.Encryption parameters, EncryptionSecret secret) {
        return of(parameters, secret, 0);
    }

    /**
     * For a part of a checkpoint that is being written.
     *
     * @param writer begins the part's nonces: its own, and not 0, which is the checkpoint's first writer
     */
    public static ImageCipher of(Manifest.Encryption parameters, EncryptionSecret secret, int writer) {
        byte[] salt = HexFormat.of().parseHex(parameters.salt());
        boolean right = MessageDigest.isEqual(check(secret, salt).getBytes(StandardCharsets.US_ASCII),
                parameters.check().getBytes(StandardCharsets.US_ASCII));
        return right ? new ImageCipher(parameters, key(secret, salt), writer) : null;
    }

    public Manifest.Encryption parameters() {
        return parameters;
    }

    private static byte[] key(EncryptionSecret secret, byte[] salt) {
        return KeyDerivation.derive(secret.bytes(), salt, "udckpt image data", 32);
    }

    /**
     * Tells a wrong secret from a damaged image, and says nothing about the key: both are outputs of HKDF for different
     * purposes.
     */
    private static String check(EncryptionSecret secret, byte[] salt) {
        return hex(KeyDerivation.derive(secret.bytes(), salt, "udckpt image check", 16));
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /** For one thread. */
    public Worker worker() {
        return new Worker();
    }

    /** A whole table: nonce, encrypted bytes, tag. */
    public byte[] sealTable(byte[] plain) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment body = arena.allocateFrom(ValueLayout.JAVA_BYTE, plain);
            byte[] seal = worker().seal(body, plain.length);
            return ByteBuffer.allocate(plain.length + SEAL_BYTES).put(seal, 0, NONCE_BYTES).put(body.asByteBuffer())
                    .put(seal, NONCE_BYTES, TAG_BYTES).array();
        }
    }

    /** Null when it is not what {@link #sealTable} wrote. */
    public byte[] openTable(byte[] sealed) {
        int length = sealed.length - SEAL_BYTES;
        if (length < 0) {
            return null;
        }
        byte[] seal = ByteBuffer.allocate(SEAL_BYTES).put(sealed, 0, NONCE_BYTES)
                .put(sealed, NONCE_BYTES + length, TAG_BYTES).array();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment body = arena.allocate(length);
            MemorySegment.copy(sealed, NONCE_BYTES, body, ValueLayout.JAVA_BYTE, 0, length);
            return worker().open(body, length, seal) ? body.toArray(ValueLayout.JAVA_BYTE) : null;
        }
    }

    public final class Worker implements BlockSealer {
        private final AesGcm aes = new AesGcm(key);

        private Worker() {}

        /** Encrypts the first {@code length} bytes in place; nonce and tag are returned. */
        @Override
        public byte[] seal(MemorySegment bytes, int length) {
            byte[] seal = nonces.nextSeal();
            aes.encrypt(bytes, length, seal);
            return seal;
        }

        @Override
        public boolean tagsOnly() {
            return false;
        }

        /**
         * Decrypts the first {@code length} bytes in place; false when they are not what was sealed, and they must not
         * be used then.
         */
        @Override
        public boolean open(MemorySegment bytes, int length, byte[] seal) {
            return aes.decrypt(bytes, length, seal);
        }
    }
}
