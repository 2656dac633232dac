package org.udckpt.image.write;

import java.util.BitSet;

/**
 * What a {@link SelfWritingSource} is to do with the bytes that it appends.
 *
 * @param file index in the list of {@link SelfWritingSource#ready}
 * @param offset length of that file, at which the bytes go
 * @param roomFrom where the file system is to be asked for huge pages before that; multiples of 2 MiB
 * @param roomTo the end of that, which the file may then be as long as; not above {@code roomFrom}: nothing is asked
 *     for
 * @param digest is filled with the SHA-256 (32 bytes) of the bytes; null: nobody asks
 * @param key of AES-256-GMAC, 32 bytes; null: nobody asks for a tag
 * @param seal 12 bytes of nonce, and 16 that are filled with the tag of the bytes; null with {@code key}
 * @param zeros is filled with the pages that hold only zeros, as by {@code look}; where there are any, nothing is
 *     appended; null: it is known what to append
 */
public record AppendOrder(int file, long offset, long roomFrom, long roomTo, byte[] digest, byte[] key, byte[] seal,
        BitSet zeros) {}
