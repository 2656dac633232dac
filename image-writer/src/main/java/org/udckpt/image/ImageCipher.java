package org.udckpt.image;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.concurrent.atomic.AtomicLong;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.KDF;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.HKDFParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts and decrypts one checkpoint: AES-256 in GCM (NIST SP 800-38D), under a key of its own that HKDF-SHA256 (RFC 5869)
 * makes of the user's secret and the checkpoint's random salt. A nonce is a counter, so that none comes twice under a key.
 * Thread-safe; what is done per block goes through a {@link Worker}, one for each thread.
 */
final class ImageCipher {
    static final String NAME = "AES-256-GCM";
    static final int NONCE_BYTES = 12, TAG_BYTES = 16, SEAL_BYTES = NONCE_BYTES + TAG_BYTES;
    private static final int SALT_BYTES = 32;

    private final Manifest.Encryption parameters;
    private final SecretKeySpec key;
    private final AtomicLong counter = new AtomicLong();

    private ImageCipher(Manifest.Encryption parameters, SecretKeySpec key) {
        this.parameters = parameters;
        this.key = key;
    }

    /** For a new checkpoint. */
    static ImageCipher fresh(EncryptionSecret secret) {
        byte[] salt = new byte[SALT_BYTES];
        new SecureRandom().nextBytes(salt);
        return new ImageCipher(new Manifest.Encryption(NAME, hex(salt), check(secret, salt)), key(secret, salt));
    }

    /** For a checkpoint that is there; null when {@code secret} is not the one it was written with. */
    static ImageCipher of(Manifest.Encryption parameters, EncryptionSecret secret) {
        byte[] salt = HexFormat.of().parseHex(parameters.salt());
        boolean right = MessageDigest.isEqual(check(secret, salt).getBytes(StandardCharsets.US_ASCII), parameters.check().getBytes(StandardCharsets.US_ASCII));
        return right ? new ImageCipher(parameters, key(secret, salt)) : null;
    }

    Manifest.Encryption parameters() {
        return parameters;
    }

    private static SecretKeySpec key(EncryptionSecret secret, byte[] salt) {
        return new SecretKeySpec(derive(secret, salt, "udckpt image data", 32), "AES");
    }

    /** Tells a wrong secret from a damaged image, and says nothing about the key: both are outputs of HKDF for different purposes. */
    private static String check(EncryptionSecret secret, byte[] salt) {
        return hex(derive(secret, salt, "udckpt image check", 16));
    }

    private static byte[] derive(EncryptionSecret secret, byte[] salt, String purpose, int bytes) {
        try {
            return KDF.getInstance("HKDF-SHA256").deriveData(HKDFParameterSpec.ofExtract().addIKM(secret.bytes()).addSalt(salt)
                    .thenExpand(purpose.getBytes(StandardCharsets.US_ASCII), bytes));
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK 25 has HKDF-SHA256", e);
        }
    }

    private static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /** For one thread. */
    Worker worker() {
        return new Worker();
    }

    /** A whole table: nonce, encrypted bytes, tag. */
    byte[] sealTable(byte[] plain) {
        byte[] sealed = new byte[NONCE_BYTES + plain.length + TAG_BYTES];
        byte[] seal = worker().seal(plain, plain.length, sealed, NONCE_BYTES);
        System.arraycopy(seal, 0, sealed, 0, NONCE_BYTES);
        System.arraycopy(seal, NONCE_BYTES, sealed, NONCE_BYTES + plain.length, TAG_BYTES);
        return sealed;
    }

    /** Null when it is not what {@link #sealTable} wrote. */
    byte[] openTable(byte[] sealed) {
        int length = sealed.length - SEAL_BYTES;
        if (length < 0) {
            return null;
        }
        byte[] seal = ByteBuffer.allocate(SEAL_BYTES).put(sealed, 0, NONCE_BYTES).put(sealed, NONCE_BYTES + length, TAG_BYTES).array();
        byte[] plain = new byte[length];
        byte[] body = java.util.Arrays.copyOfRange(sealed, NONCE_BYTES, NONCE_BYTES + length);
        return worker().open(body, length, plain, seal) ? plain : null;
    }

    final class Worker {
        private final Cipher cipher;
        private byte[] room = new byte[0];

        private Worker() {
            try {
                cipher = Cipher.getInstance("AES/GCM/NoPadding");
            } catch (GeneralSecurityException e) {
                throw new AssertionError("every JDK has AES/GCM/NoPadding", e);
            }
        }

        /** Encrypts {@code from[0..length)} to {@code to} from {@code at} on; nonce and tag are returned. */
        byte[] seal(byte[] from, int length, byte[] to, int at) {
            byte[] seal = ByteBuffer.allocate(SEAL_BYTES).putLong(NONCE_BYTES - Long.BYTES, counter.getAndIncrement()).array();
            byte[] out = room(length + TAG_BYTES);
            try {
                cipher.init(Cipher.ENCRYPT_MODE, key, new GCMParameterSpec(8 * TAG_BYTES, seal, 0, NONCE_BYTES));
                cipher.doFinal(from, 0, length, out, 0);
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("AES-GCM: " + e.getMessage(), e);
            }
            System.arraycopy(out, 0, to, at, length);
            System.arraycopy(out, length, seal, NONCE_BYTES, TAG_BYTES);
            return seal;
        }

        /** Decrypts {@code from[0..length)} to the beginning of {@code to}; false when the bytes are not those that were sealed. */
        boolean open(byte[] from, int length, byte[] to, byte[] seal) {
            byte[] in = room(length + TAG_BYTES);
            System.arraycopy(from, 0, in, 0, length);
            System.arraycopy(seal, NONCE_BYTES, in, length, TAG_BYTES);
            try {
                cipher.init(Cipher.DECRYPT_MODE, key, new GCMParameterSpec(8 * TAG_BYTES, seal, 0, NONCE_BYTES));
                cipher.doFinal(in, 0, length + TAG_BYTES, to, 0);
                return true;
            } catch (AEADBadTagException e) {
                return false;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("AES-GCM: " + e.getMessage(), e);
            }
        }

        private byte[] room(int length) {
            if (room.length < length) {
                room = new byte[length];
            }
            return room;
        }
    }
}
