package org.udckpt.image.block;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import org.udckpt.image.Range;
import org.udckpt.image.key.ImageKey;

/** Hashes by Java code, which wants a Java array. */
final class JavaHashes implements Hashes {
    private static final Hasher64 XXH3 = Hashing.xxh3_64();
    private static final Hasher128 XXH3_128 = Hashing.xxh3_128();
    private final byte[] scratch = new byte[Block.MAX_LENGTH];
    private final MessageDigest sha256 = ImageKey.newSha256();

    @Override
    public long xxh3(MemorySegment bytes, int length) {
        return XXH3.hashBytesToLong(copied(bytes, length), 0, length);
    }

    @Override
    public void xxh3Pages(MemorySegment bytes, int pages, long[] values) {
        copied(bytes, pages * Range.PAGE);
        for (int page = 0; page < pages; page++) {
            HashValue128 value = XXH3_128.hashBytesTo128Bits(scratch, page * Range.PAGE, Range.PAGE);
            values[2 * page] = value.getMostSignificantBits();
            values[2 * page + 1] = value.getLeastSignificantBits();
        }
    }

    @Override
    public byte[] sha256(MemorySegment bytes, int length) {
        sha256.update(copied(bytes, length), 0, length);
        return sha256.digest();
    }

    private byte[] copied(MemorySegment bytes, int length) {
        MemorySegment.copy(bytes, ValueLayout.JAVA_BYTE, 0, scratch, 0, length);
        return scratch;
    }
}
