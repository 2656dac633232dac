package org.udckpt.image.block;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import org.udckpt.image.Range;

/** Hashes by libxxhash (xxhash.h: XXH3_64bits, XXH3_128bits) and libcrypto (SHA256(3)), which read the memory where it is. */
final class NativeHashes implements Hashes {
    /** XXH128_hash_t: the low number comes first. */
    private static final MemoryLayout PAIR = MemoryLayout.structLayout(JAVA_LONG, JAVA_LONG);
    private static final Optional<MethodHandle> XXH3 = find("libxxhash.so.0", "XXH3_64bits", FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG));
    private static final Optional<MethodHandle> XXH3_128 = find("libxxhash.so.0", "XXH3_128bits", FunctionDescriptor.of(PAIR, ADDRESS, JAVA_LONG));
    private static final Optional<MethodHandle> SHA256 = find("libcrypto.so.3", "SHA256", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));
    static final boolean THERE = XXH3.isPresent() && XXH3_128.isPresent() && SHA256.isPresent();

    private static final MethodHandle HASH = XXH3.orElse(null);
    private static final MethodHandle HASH_128 = XXH3_128.orElse(null);
    private static final MethodHandle DIGEST = SHA256.orElse(null);

    private final MemorySegment digest = Arena.ofAuto().allocate(Checksum.DIGEST_BYTES);
    private final SegmentAllocator pair = SegmentAllocator.prefixAllocator(Arena.ofAuto().allocate(PAIR));

    private static Optional<MethodHandle> find(String library, String name, FunctionDescriptor type) {
        try {
            return SymbolLookup.libraryLookup(library, Arena.global()).find(name).map(symbol -> Linker.nativeLinker().downcallHandle(symbol, type));
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    @Override
    public long xxh3(MemorySegment bytes, int length) {
        try {
            return (long) HASH.invokeExact(bytes, (long) length);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public void xxh3Pages(MemorySegment bytes, int pages, long[] values) {
        try {
            for (int page = 0; page < pages; page++) {
                MemorySegment value = (MemorySegment) HASH_128.invokeExact(pair, bytes.asSlice((long) page * Range.PAGE), (long) Range.PAGE);
                values[2 * page] = value.get(JAVA_LONG, Long.BYTES);
                values[2 * page + 1] = value.get(JAVA_LONG, 0);
            }
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    @Override
    public byte[] sha256(MemorySegment bytes, int length) {
        try {
            MemorySegment ignored = (MemorySegment) DIGEST.invokeExact(bytes, (long) length, digest);
            return digest.toArray(ValueLayout.JAVA_BYTE);
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    private static Error unexpected(Throwable e) {
        return new AssertionError("a hash function threw", e);
    }
}
