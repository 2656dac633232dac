package org.udckpt.image.write;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.udckpt.image.block.BytePlanes;

/**
 * How many bits a byte of each of a block's {@link BytePlanes} holds, of eight, as far as a thousand numbers out of the
 * block tell: the entropy of their values, whatever their order. Random bytes come to 7.8.
 */
final class PlaneEntropy {
    private static final int SAMPLE = BytePlanes.RUNS * BytePlanes.RUN;
    /** Of the shortest block that can be measured. */
    static final int LEAST = SAMPLE * Long.BYTES;

    /** n log2(n) */
    private static final float[] TERMS = new float[SAMPLE + 1];

    static {
        for (int n = 1; n <= SAMPLE; n++) {
            TERMS[n] = (float) (n * Math.log(n) / Math.log(2));
        }
    }

    private final BytePlanes planes;
    private final int[] counts = new int[BytePlanes.PLANES * BytePlanes.VALUES];
    private final MemorySegment counted = Arena.ofAuto().allocate(JAVA_INT, counts.length);
    private final float[] bits = new float[BytePlanes.PLANES];

    PlaneEntropy(BytePlanes planes) {
        this.planes = planes;
    }

    /** @param length bytes, at least {@link #LEAST} */
    void measure(MemorySegment block, int length) {
        counted.fill((byte) 0);
        planes.count(block, length, counted);
        MemorySegment.copy(counted, JAVA_INT, 0, counts, 0, counts.length);
        for (int plane = 0; plane < BytePlanes.PLANES; plane++) {
            float sum = 0;
            for (int value = 0; value < BytePlanes.VALUES; value++) {
                sum += TERMS[counts[plane * BytePlanes.VALUES + value]];
            }
            bits[plane] = (TERMS[SAMPLE] - sum) / SAMPLE;
        }
    }

    /** Bits a byte. */
    float of(int plane) {
        return bits[plane];
    }
}
