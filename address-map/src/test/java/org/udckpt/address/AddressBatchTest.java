package org.udckpt.address;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AddressBatchTest {
    private static final long SEED = 61;

    @Test
    void endpointsComeBackAsTheyWere() throws IOException {
        Random random = new Random(SEED);
        for (int count : new int[]{0, 1, 2, 100, 3000}) {
            List<Endpoint> endpoints = endpoints(random, count, 1 + count / 10);
            assertEquals(endpoints, AddressBatch.endpoints(AddressBatch.endpoints(endpoints)),
                    count + " endpoints, seed " + SEED);
        }
    }

    @Test
    void keysComeBackAsTheyWere() throws IOException {
        Random random = new Random(SEED);
        for (int count : new int[]{0, 1, 2, 100, 70_000}) {
            long[] keys = random.longs(count, 0, 4L * count + 1).sorted().distinct().toArray();
            assertArrayEquals(keys, AddressBatch.keys(AddressBatch.keys(keys)), count + " keys, seed " + SEED);
        }
    }

    @Test
    void theLargestBatchFitsAMessage() {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < AddressBatch.MOST_ENDPOINTS; i++) { // each at hosts of its own
            endpoints.add(new Endpoint(i, address(i + 1, 7), address(50_000 - i, 8)));
        }
        int bytes = AddressBatch.endpoints(endpoints).length;
        assertTrue(bytes < 1_000_000, bytes + " bytes");
    }

    @Test
    void endpointsOfANodeTakeFewBytes() {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < 16_000; i++) {
            endpoints.add(new Endpoint(i / 2, address(1 + i / 32, 3000 + i % 32), address(2 + i / 32, 4000 + i % 32)));
        }
        int bytes = AddressBatch.endpoints(endpoints).length;
        assertTrue(bytes < 15 * endpoints.size(), bytes + " bytes for " + endpoints.size());
    }

    @Test
    void whatIsNoBatchIsRefused() {
        Random random = new Random(SEED);
        byte[] good = AddressBatch.endpoints(endpoints(random, 50, 5));
        byte[] keys = AddressBatch.keys(new long[]{5, 6, 9});
        for (int length = 0; length < good.length; length += 7) {
            byte[] cut = Arrays.copyOf(good, length);
            assertThrows(IOException.class, () -> AddressBatch.endpoints(cut), length + " bytes");
        }
        assertThrows(IOException.class, () -> AddressBatch.keys(new byte[]{1, 2, 3}));
        assertThrows(IOException.class, () -> AddressBatch.endpoints(keys));
        assertThrows(IOException.class, () -> AddressBatch.keys(Arrays.copyOfRange(good, 4, good.length)));
    }

    /** Any bytes: refused, or something that can be said again. Never another exception, nor much memory. */
    @Test
    void bytesOfChanceDoNoHarm() {
        Random random = new Random(SEED);
        byte[] good = AddressBatch.endpoints(endpoints(random, 50, 5));
        byte[] keys = AddressBatch.keys(random.longs(50, 0, 1000).sorted().distinct().toArray());
        for (int i = 0; i < 3000; i++) {
            byte[] bytes = (i % 2 == 0 ? good : keys).clone();
            for (int flips = 1 + random.nextInt(4); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            try {
                if (i % 2 == 0) {
                    AddressBatch.endpoints(AddressBatch.endpoints(bytes));
                } else {
                    AddressBatch.keys(AddressBatch.keys(bytes));
                }
            } catch (IOException expected) {
                assertTrue(expected.getMessage() != null, "seed " + SEED + ", batch " + i);
            }
        }
    }

    private static List<Endpoint> endpoints(Random random, int count, int hosts) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            endpoints.add(
                    new Endpoint(random.nextInt(1 << 20), address(1 + random.nextInt(hosts), random.nextInt(1 << 24)),
                            address(1 + random.nextInt(hosts), random.nextInt(1 << 24))));
        }
        return endpoints;
    }

    private static VerbsAddress address(int lid, int qpn) {
        return new VerbsAddress(lid, new Gid(0xfe80L << 48, lid), qpn);
    }
}
