package org.udckpt.address;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.udckpt.layout.Layout;
import org.udckpt.layout.Layout.KeysHeader;

/**
 * The remote keys of one rank's process in shared memory ({@code keys.RANK} of the runtime directory,
 * {@code udckpt.layout}). Of a rank of this node the process writes it itself ({@code keys_file.c}); this class reads
 * those, and makes the ones of ranks of other nodes, whose peers are here.
 */
public final class KeysFile implements AutoCloseable {
    private static final int SLOTS = 1 << Layout.KEYS_BITS;
    /** Pairs that a file has room for. */
    public static final int MOST = SLOTS / 2;
    private static final long BYTES = KeysHeader.SIZE + 8L * SLOTS;
    private static final long GONE = 0xffffffffL;
    private static final VarHandle SLOT = JAVA_LONG.varHandle();

    private final Arena arena;
    private final MemorySegment memory;
    private int used;

    private KeysFile(Arena arena, MemorySegment memory) {
        this.arena = arena;
        this.memory = memory;
    }

    /** The file of a rank. */
    public static Path of(Path runtimeDirectory, int rank) {
        return runtimeDirectory.resolve("keys." + rank);
    }

    /** As the file has it. */
    public static long pair(int virtualKey, int realKey) {
        return (long) virtualKey << 32 | Integer.toUnsignedLong(realKey);
    }

    /**
     * The pairs of a rank of this node, whose process is running: those that are in the file at some moment. Ones of
     * regions that are gone may be among them.
     */
    public static long[] read(Path file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = SharedFile.open(file, BYTES, arena);
            SharedFile.check(file, memory, memory.get(JAVA_LONG, KeysHeader.MAGIC),
                    memory.get(JAVA_LONG, KeysHeader.LAYOUT_HASH), Layout.KEYS_MAGIC, Layout.LAYOUT_HASH);
            return LongStream.range(0, SLOTS).map(slot -> (long) SLOT.getAcquire(memory, KeysHeader.SIZE + 8 * slot))
                    .filter(pair -> pair != 0 && pair >>> 32 != GONE).toArray();
        }
    }

    /** Makes the file of a rank of another node; processes see it when it is whole. @param pairs see {@link #pair} */
    public static KeysFile mirror(Path file, long[] pairs) throws IOException {
        Path begun = file.resolveSibling(file.getFileName() + ".new");
        Files.deleteIfExists(begun);
        Arena arena = Arena.ofShared();
        try {
            MemorySegment memory = SharedFile.create(begun, BYTES, arena);
            memory.set(JAVA_LONG, KeysHeader.LAYOUT_HASH, Layout.LAYOUT_HASH);
            memory.set(JAVA_INT, KeysHeader.DIFFER, 1); // any may be given at any time, and is asked for when it is met
            memory.set(JAVA_INT, KeysHeader.MIRRORED, 1);
            memory.set(JAVA_LONG, KeysHeader.MAGIC, Layout.KEYS_MAGIC);
            KeysFile made = new KeysFile(arena, memory);
            Arrays.stream(pairs).forEach(made::put);
            Files.move(begun, file, StandardCopyOption.ATOMIC_MOVE);
            return made;
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /** Adds a pair, if there is room: one that is not there is asked for each time. */
    public synchronized void put(long pair) {
        if (used == MOST) {
            return;
        }
        int slot = (int) (pair >>> 32) * Layout.KEYS_MULTIPLIER >>> 32 - Layout.KEYS_BITS;
        while ((long) SLOT.getAcquire(memory, offset(slot)) != 0) {
            slot = (slot + 1) % SLOTS;
        }
        SLOT.setRelease(memory, offset(slot), pair);
        used++;
    }

    private static long offset(int slot) {
        return KeysHeader.SIZE + 8L * slot;
    }

    @Override
    public void close() {
        arena.close();
    }
}
