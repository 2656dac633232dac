package org.udckpt.cli.classarchive;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes two archives of the same classes the same bytes. Objects in them have the time since the machine's start at
 * which they were used last (java.lang.ref.SoftReference), and the file has sums of it, which a JVM looks at only where
 * it is told to (VerifySharedSpaces). What differs between two archives becomes 0: long ago.
 */
public final class SteadyArchive {
    private static final int HEADER = 4096, MOST = 4096;
    /** A time of a machine, in milliseconds. */
    private static final long LONGEST = 1L << 40;

    private SteadyArchive() {}

    /** @param args the archive, and another one that was made of the same classes */
    public static void main(String[] args) throws IOException {
        Path file = Path.of(args[0]);
        byte[] kept = Files.readAllBytes(file), again = Files.readAllBytes(Path.of(args[1]));
        String refusal = steady(kept, again);
        if (refusal != null) {
            System.err.println(file + ": " + refusal);
            System.exit(70);
        }
        Files.write(file, kept);
    }

    /** Changes {@code kept}. Returns why that cannot be done; null: it is done. */
    static String steady(byte[] kept, byte[] again) {
        if (kept.length != again.length) {
            return "has " + kept.length + " bytes once, and " + again.length + " the next time";
        }
        ByteBuffer one = ByteBuffer.wrap(kept).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer other = ByteBuffer.wrap(again).order(ByteOrder.LITTLE_ENDIAN);
        int words = 0;
        for (int at = 0; at + Long.BYTES <= kept.length; at += Long.BYTES) {
            long value = one.getLong(at), next = other.getLong(at);
            if (value == next) {
                continue;
            }
            if (at < HEADER) {
                clear(one, other, at);
            } else if (value < 0 || value > LONGEST || next < 0 || next > LONGEST || ++words > MOST) {
                return "differs from the next one at " + at + ", and not by a time: 0x" + Long.toHexString(value)
                        + " and 0x" + Long.toHexString(next);
            } else {
                one.putLong(at, 0);
            }
        }
        return null;
    }

    /** A sum of 32 bits; its neighbour is something else. */
    private static void clear(ByteBuffer one, ByteBuffer other, int at) {
        for (int half = at; half < at + Long.BYTES; half += Integer.BYTES) {
            if (one.getInt(half) != other.getInt(half)) {
                one.putInt(half, 0);
            }
        }
    }
}
