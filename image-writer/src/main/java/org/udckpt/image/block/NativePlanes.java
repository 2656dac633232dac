package org.udckpt.image.block;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.Optional;
import org.udckpt.linux.NativeCall;

/** Planes by libudckpt-agent.so (agent_planes.c). */
@SuppressWarnings("restricted") // native code and memory are reached by java.lang.foreign alone: --enable-native-access
final class NativePlanes implements BytePlanes {
    private static final Optional<SymbolLookup> LIBRARY = library(System.getProperty("udckpt.native"));
    static final boolean THERE = LIBRARY.isPresent();

    private static final MemorySegment SPLIT = find("split"), JOIN = find("join"), COUNT = find("count");

    /** A program that only reads images may be without. */
    private static Optional<SymbolLookup> library(String directory) {
        try {
            return directory == null ? Optional.empty()
                    : Optional.of(SymbolLookup.libraryLookup(Path.of(directory, "libudckpt-agent.so").toAbsolutePath(),
                            Arena.global()));
        } catch (IllegalArgumentException notThere) {
            return Optional.empty();
        }
    }

    /** Null where there is no library. */
    private static MemorySegment find(String name) {
        return LIBRARY.map(library -> library.findOrThrow("udckpt_agent_planes_" + name)).orElse(null);
    }

    /** Where each plane goes. */
    private final MemorySegment places = Arena.ofAuto().allocate(JAVA_LONG, PLANES);

    @Override
    public void split(MemorySegment from, int length, int first, int gap, MemorySegment to, MemorySegment others) {
        long plane = whole(length) / PLANES;
        long there = address(to, first * (plane + gap));
        long elsewhere = address(others, length);
        for (int i = 0; i < PLANES; i++) {
            places.setAtIndex(JAVA_LONG, i, i < first ? there + i * (plane + gap) + gap : elsewhere + i * plane);
        }
        NativeCall.call(SPLIT, address(from, length), length, places.address());
        Reference.reachabilityFence(from);
        Reference.reachabilityFence(to);
        Reference.reachabilityFence(others);
    }

    @Override
    public void join(MemorySegment from, int length, MemorySegment to) {
        NativeCall.call(JOIN, address(from, whole(length)), length, address(to, length));
        Reference.reachabilityFence(from);
        Reference.reachabilityFence(to);
    }

    @Override
    public void count(MemorySegment block, int length, MemorySegment counts) {
        if (length < RUNS * RUN * Long.BYTES) {
            throw new IllegalArgumentException("too short: " + length);
        }
        NativeCall.call(COUNT, address(block, length), length, address(counts, (long) PLANES * VALUES * Integer.BYTES));
        Reference.reachabilityFence(block);
        Reference.reachabilityFence(counts);
    }

    private static int whole(int length) {
        if (length % UNIT != 0) {
            throw new IllegalArgumentException("not a multiple of " + UNIT + " bytes: " + length);
        }
        return length;
    }

    /** Of so many bytes of native memory, which the caller keeps alive. */
    private static long address(MemorySegment bytes, long length) {
        if (!bytes.isNative()) {
            throw new IllegalArgumentException("only native memory has an address: " + bytes);
        }
        return bytes.asSlice(0, length).address();
    }
}
