package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.udckpt.image.ImageError;

/** The image's content may be damaged, or somebody else's: it is read or gives an error, and does nothing else. */
@Timeout(120)
class AddressMapFileTest {
    private static final int[] ODD = {0, 1, -1, Integer.MAX_VALUE, Integer.MIN_VALUE, 8, 1 << 20, 0x00ff0000};
    /** Memory for one read, much more than the file of a few hundred bytes needs. */
    private static final long MOST = 1 << 20;

    private static byte[] good() throws IOException {
        AddressMap map = new AddressMap();
        HostAddress a = map.newHost("a", 2);
        HostAddress b = map.newHost("b b", 2);
        map.register(0, 0, address(a.lid(), 0), address(a.lid(), 3000), Transport.RC);
        map.register(1, 0, address(b.lid(), 0), address(b.lid(), 3000), Transport.UD);
        map.register(2, 0, address(b.lid(), 0), address(b.lid(), 3001), Transport.UD);
        return AddressMapFile.write(map);
    }

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, new Gid(0xfe80L << 48, lid), qpn);
    }

    @Test
    void allIsRead() throws IOException {
        AddressMap map = AddressMapFile.read(good());
        assertEquals(3, map.endpoints().size());
        assertEquals(Transport.RC, map.endpoints().getFirst().transport());
        assertEquals(2, map.lidsOfAHost());
        AddressMap next = AddressMapFile.read(AddressMapFile.write(map.nextIncarnation()));
        assertEquals(1, next.generation());
        assertTrue(next.endpoints().stream().allMatch(endpoint -> endpoint.real() == null),
                next.endpoints().toString());
        assertEquals(0, AddressMapFile.read(AddressMapFile.write(new AddressMap())).endpoints().size());
    }

    /** Each byte, in three ways, then seeded changes of several. */
    @Test
    void changedBytesEndInImageErrors() throws IOException {
        byte[] good = good();
        int refused = 0;
        for (int at = 0; at < good.length; at++) {
            for (int value : new int[]{good[at] ^ 1, good[at] ^ 0x80, ~good[at]}) {
                byte[] bad = good.clone();
                bad[at] = (byte) value;
                refused += isRefused(bad) ? 1 : 0;
            }
        }
        long seed = Long.getLong("udckpt.seed", System.nanoTime());
        System.out.println("AddressMapFileTest: seed " + seed + " (repeat with -Dudckpt.seed=" + seed + ")");
        Random random = new Random(seed);
        for (int i = 0; i < 30_000; i++) {
            refused += isRefused(damaged(good, random)) ? 1 : 0;
        }
        assertTrue(refused > 10_000, "only " + refused + " refused");
        assertThrows(ImageError.Corrupt.class, () -> AddressMapFile.read(new byte[100]));
    }

    private static byte[] damaged(byte[] good, Random random) {
        byte[] bad = random.nextInt(8) == 0 ? Arrays.copyOf(good, 8 + random.nextInt(good.length - 8)) : good.clone();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
            int at = random.nextInt(bad.length - 4);
            switch (random.nextInt(3)) {
                case 0 -> bad[at] ^= (byte) (1 << random.nextInt(8));
                case 1 -> ByteBuffer.wrap(bad).order(ByteOrder.LITTLE_ENDIAN).putInt(at & ~3,
                        ODD[random.nextInt(ODD.length)]);
                default -> bad[at] = (byte) random.nextInt(256);
            }
        }
        return bad;
    }

    private static boolean isRefused(byte[] bytes) throws IOException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        try {
            AddressMapFile.read(bytes).nextIncarnation().newHost("c");
            return false;
        } catch (ImageError.Corrupt e) {
            assertTrue(e.getMessage().startsWith("address map") && !e.getMessage().contains("Exception")
                    && !e.getMessage().contains("Cannot invoke"), e.getMessage());
            return true;
        } finally {
            long used = threads.getCurrentThreadAllocatedBytes() - before;
            assertTrue(used < MOST, used + " bytes of memory for a file of " + bytes.length);
        }
    }

    /** Lengths in text are lengths as well: each LID of a host is taken one by one. */
    @Test
    void aHostOfTooManyLidsIsRefused() throws IOException {
        byte[] bad = good();
        String text = new String(bad, java.nio.charset.StandardCharsets.ISO_8859_1);
        int at = text.lastIndexOf("1 2048 14335 a"); // in the footer, which is what counts
        bad[at] = '-';
        ImageError.Corrupt error = assertThrows(ImageError.Corrupt.class, () -> AddressMapFile.read(bad));
        assertTrue(error.getMessage().contains("address map: "), error.getMessage());
    }
}
