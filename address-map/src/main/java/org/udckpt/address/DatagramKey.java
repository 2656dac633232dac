package org.udckpt.address;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.udckpt.layout.Layout;

/**
 * The secret of one incarnation of a job by which its processes know each other's datagrams on the soft fabric between
 * hosts ({@code soft_tag.h}). An incarnation never has the key of another one, so that nothing that was sent in a
 * former incarnation is taken.
 */
public final class DatagramKey {
    static final int BYTES = Layout.TABLE_KEY_BYTES;

    private final byte[] bytes;

    private DatagramKey(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A key for a job with one agent. */
    public static DatagramKey random() {
        byte[] bytes = new byte[BYTES];
        new SecureRandom().nextBytes(bytes);
        return new DatagramKey(bytes);
    }

    /**
     * Of a job whose agents share a secret of this incarnation: the same at all of them, and it says nothing about the
     * secret.
     *
     * @param generation of the incarnation
     */
    public static DatagramKey of(byte[] secret, int generation) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(secret, "HmacSHA256"));
            mac.update("udckpt: datagrams of the soft fabric".getBytes(StandardCharsets.US_ASCII));
            mac.update(new byte[]{(byte) (generation >> 24), (byte) (generation >> 16), (byte) (generation >> 8),
                    (byte) generation});
            return new DatagramKey(Arrays.copyOf(mac.doFinal(), BYTES));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java has no HMAC-SHA256", e);
        }
    }

    byte[] bytes() {
        return bytes;
    }

    /** Says nothing that is secret. */
    @Override
    public String toString() {
        return "DatagramKey";
    }
}
