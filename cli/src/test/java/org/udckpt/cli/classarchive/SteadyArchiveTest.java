package org.udckpt.cli.classarchive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class SteadyArchiveTest {
    private static final int WORDS = 1024;

    private static byte[] archive(int sum, long time, long other) {
        ByteBuffer bytes = ByteBuffer.allocate(WORDS * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(0, 0x1234).putInt(4, sum).putLong(6000, time).putLong(6008, other);
        return bytes.array();
    }

    @Test
    void timesAndSumsBecomeTheSame() {
        byte[] one = archive(1, 20_325_229, -7), two = archive(2, 20_342_891, -7);
        assertNull(SteadyArchive.steady(one, two));
        byte[] three = archive(3, 99, -7);
        assertNull(SteadyArchive.steady(three, archive(4, 100, -7)));
        assertArrayEquals(archive(0, 0, -7), one);
        assertArrayEquals(one, three);
    }

    @Test
    void somethingElseIsRefused() {
        assertTrue(SteadyArchive.steady(archive(1, 1, 0x7f0000000000L), archive(1, 1, 5)).contains("at 6008"));
        assertTrue(SteadyArchive.steady(new byte[8], new byte[16]).contains("16 the next time"));
    }
}
