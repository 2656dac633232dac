package org.udckpt.linux;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** The same as the JDK's, and as RFC 4231 has it. */
class HmacSha256Test {
    @Test
    void asInTheRfc() {
        byte[] key = new byte[131];
        Arrays.fill(key, (byte) 0xaa);
        assertEquals("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54", HexFormat.of().formatHex(
                HmacSha256.of(key, "Test Using Larger Than Block-Size Key - Hash Key First".getBytes())));
    }

    @Test
    void asTheJdkHasIt() throws Exception {
        Random random = new Random(1);
        for (int length : new int[]{0, 1, 63, 64, 65, 16383, 16384, 16385, 100_000}) {
            byte[] key = new byte[1 + random.nextInt(100)];
            byte[] message = new byte[length];
            random.nextBytes(key);
            random.nextBytes(message);
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            int cut = random.nextInt(length + 1);
            assertArrayEquals(mac.doFinal(message), HmacSha256.of(key, Arrays.copyOf(message, cut),
                    Arrays.copyOfRange(message, cut, length)));
        }
    }
}
