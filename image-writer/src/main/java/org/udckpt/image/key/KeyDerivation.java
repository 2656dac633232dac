package org.udckpt.image.key;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.KDF;
import javax.crypto.spec.HKDFParameterSpec;

/** HKDF-SHA256 (RFC 5869). */
final class KeyDerivation {
    private KeyDerivation() {}

    /** @param purpose the info of the RFC: outputs for different ones say nothing about each other */
    static byte[] derive(byte[] secret, byte[] salt, String purpose, int bytes) {
        try {
            return KDF.getInstance("HKDF-SHA256").deriveData(HKDFParameterSpec.ofExtract().addIKM(secret).addSalt(salt)
                    .thenExpand(purpose.getBytes(StandardCharsets.US_ASCII), bytes));
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK 25 has HKDF-SHA256", e);
        }
    }
}
