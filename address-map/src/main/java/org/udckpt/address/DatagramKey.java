package org.udckpt.address;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.udckpt.layout.Layout;
import org.udckpt.linux.HmacSha256;
import org.udckpt.linux.SystemRandom;

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
        return new DatagramKey(SystemRandom.bytes(BYTES));
    }

    /**
     * Of a job whose agents share a secret of this incarnation: the same at all of them, and it says nothing about the
     * secret.
     *
     * @param generation of the incarnation
     */
    public static DatagramKey of(byte[] secret, int generation) {
        byte[] purpose = "udckpt: datagrams of the soft fabric".getBytes(StandardCharsets.US_ASCII);
        byte[] number = {(byte) (generation >> 24), (byte) (generation >> 16), (byte) (generation >> 8),
                (byte) generation};
        return new DatagramKey(Arrays.copyOf(HmacSha256.of(secret, purpose, number), BYTES));
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
