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
import java.lang.ref.Reference;
import java.util.Optional;
import org.udckpt.image.Range;
import org.udckpt.linux.Libcrypto;
import org.udckpt.linux.NativeCall;

/**
 * Hashes by libxxhash (xxhash.h: XXH3_64bits, XXH3_128bits) and libcrypto (SHA256(3)), which read the memory where it
 * is. The one that returns two numbers is linked when pages are compared: that costs a young JVM some 10 ms.
 */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
final class NativeHashes implements Hashes {
    private static final Optional<MemorySegment> XXH3 = find("XXH3_64bits");
    private static final Optional<MemorySegment> XXH3_128 = find("XXH3_128bits");
    private static final Optional<MemorySegment> SHA256 = Libcrypto.find("SHA256");
    static final boolean THERE = XXH3.isPresent() && XXH3_128.isPresent() && SHA256.isPresent();

    private final MemorySegment digest = Arena.ofAuto().allocate(Checksum.DIGEST_BYTES);
    private SegmentAllocator pair;

    /** When pages are hashed, and not before. */
    private static final class Pages {
        /** XXH128_hash_t: the low number comes first. */
        private static final MemoryLayout PAIR = MemoryLayout.structLayout(JAVA_LONG, JAVA_LONG);
        private static final MethodHandle HASH_128 = Linker.nativeLinker().downcallHandle(XXH3_128.orElseThrow(),
                FunctionDescriptor.of(PAIR, ADDRESS, JAVA_LONG));
    }

    private static Optional<MemorySegment> find(String name) {
        try {
            return SymbolLookup.libraryLookup("libxxhash.so.0", Arena.global()).find(name);
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    /** Address of so many bytes of native memory, which the caller keeps alive. */
    private static long address(MemorySegment bytes, int length) {
        if (!bytes.isNative()) {
            throw new IllegalArgumentException("only native memory can be hashed: " + bytes);
        }
        return bytes.asSlice(0, length).address();
    }

    @Override
    public long xxh3(MemorySegment bytes, int length) {
        try {
            return NativeCall.call(XXH3.orElseThrow(), address(bytes, length), length, 0);
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }

    @Override
    public void xxh3Pages(MemorySegment bytes, int pages, long[] values) {
        if (pair == null) {
            pair = SegmentAllocator.prefixAllocator(Arena.ofAuto().allocate(Pages.PAIR));
        }
        try {
            for (int page = 0; page < pages; page++) {
                MemorySegment value = (MemorySegment) Pages.HASH_128.invokeExact(pair,
                        bytes.asSlice((long) page * Range.PAGE), (long) Range.PAGE);
                values[2 * page] = value.get(JAVA_LONG, Long.BYTES);
                values[2 * page + 1] = value.get(JAVA_LONG, 0);
            }
        } catch (Throwable e) {
            throw new AssertionError("a hash function threw", e);
        }
    }

    @Override
    public byte[] sha256(MemorySegment bytes, int length) {
        try {
            NativeCall.call(SHA256.orElseThrow(), address(bytes, length), length, digest.address());
            return digest.toArray(ValueLayout.JAVA_BYTE);
        } finally {
            Reference.reachabilityFence(bytes);
        }
    }
}
