package org.udckpt.image.key;

import java.lang.foreign.MemorySegment;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.udckpt.linux.Libcrypto;

/**
 * AES-256-GMAC (NIST SP 800-38D), by libcrypto, or where that is not there by the JDK, which takes longer. For one
 * thread.
 */
final class Gmac {
    private static final boolean NATIVE = Libcrypto.there();
    private final AesGcm aes;
    private final byte[] secret;

    /** @param secret 32 bytes */
    Gmac(byte[] secret) {
        this(secret, NATIVE);
    }

    Gmac(byte[] secret, boolean byLibrary) {
        aes = byLibrary ? new AesGcm(secret) : null;
        this.secret = secret;
    }

    /** {@code seal} holds the nonce and receives the tag of the first {@code length} bytes behind it. */
    void tag(MemorySegment bytes, int length, byte[] seal) {
        if (aes != null) {
            aes.tag(bytes, length, seal);
            return;
        }
        try {
            Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(secret, "AES"),
                    new GCMParameterSpec(8 * ImageCipher.TAG_BYTES, seal, 0, ImageCipher.NONCE_BYTES));
            cipher.updateAAD(bytes.asSlice(0, length).asByteBuffer());
            cipher.doFinal(seal, ImageCipher.NONCE_BYTES);
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK has AES in GCM", e);
        }
    }
}
