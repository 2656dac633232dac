package org.udckpt.image.read;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntFunction;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.storage.DeviceMemory;

/**
 * The memory of one node's processes: which pieces there are, and the blocks that hold them, in this checkpoint and in
 * older ones.
 */
final class NodeMemory implements Closeable {
    private final long checkpoint;
    private final Manifest.Node node;
    private final IntFunction<String> names;
    private final List<Chunk> chunks;
    private final SortedMap<Long, BlockFiles> blocks = new TreeMap<>();
    private final SortedMap<Integer, List<Chunk>> byProcess = new TreeMap<>();

    /** @param bases the checkpoints that this one is based on, by id. @param names of its processes, for errors */
    NodeMemory(CheckpointFiles image, Map<Long, CheckpointFiles> bases, Manifest.Node node, IntFunction<String> names)
            throws IOException {
        this.checkpoint = image.manifest().id();
        this.node = node;
        this.names = names;
        MemoryTables tables = image.memory(node.index());
        this.chunks = tables.chunks();
        try {
            blocks.put(checkpoint, new BlockFiles(image, node, tables.blocks()));
            for (Map.Entry<Long, CheckpointFiles> base : bases.entrySet()) {
                blocks.put(base.getKey(), open(base.getValue(), node.index()));
            }
            Map<Long, List<Block>> rows = new HashMap<>();
            blocks.forEach((id, files) -> rows.put(id, files.blocks()));
            new ChunkCheck(image.directory().resolve(ImageNames.nodeTable(node.index(), ImageNames.CHUNKS)), rows)
                    .check(chunks);
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
        for (Chunk chunk : chunks) {
            byProcess.computeIfAbsent(chunk.process(), _ -> new ArrayList<>()).add(chunk);
        }
    }

    /** A base may lack this node: then none of its blocks can be meant. */
    private static BlockFiles open(CheckpointFiles base, int index) throws IOException {
        for (Manifest.Node candidate : base.manifest().nodes()) {
            if (candidate.index() == index) {
                return new BlockFiles(base, candidate, base.blocks(index));
            }
        }
        return new BlockFiles(base, new Manifest.Node(index, ""), List.of());
    }

    List<Integer> processes() {
        return List.copyOf(byProcess.keySet());
    }

    MemoryReader reader(int process) {
        List<Chunk> own = byProcess.get(process);
        if (own == null) {
            throw new IllegalArgumentException(
                    "process " + process + " is not on node " + node.index() + " of checkpoint " + checkpoint);
        }
        return new MemoryReader(this, process, List.copyOf(own));
    }

    Block block(Chunk chunk) {
        return blocks.get(chunk.checkpoint()).blocks().get(chunk.block());
    }

    /** For the blocks of one checkpoint, and one thread. */
    BlockReader reader(long of) throws ImageError {
        return blocks.get(of).reader();
    }

    /** Fills {@code into} with the plain bytes of the block that {@code chunk} is in. */
    void read(Chunk chunk, MemorySegment into, BlockReader reader) throws IOException {
        reader.read(blocks.get(chunk.checkpoint()), block(chunk), into, () -> names.apply(chunk.process()));
    }

    /**
     * Bytes of stripe files that {@link #verify} reads: this checkpoint's, and of older ones the blocks that it needs.
     */
    long bytesToVerify() {
        long bytes = 0;
        for (Map.Entry<Long, BlockFiles> files : blocks.entrySet()) {
            for (int number : needed(files.getKey())) {
                bytes += files.getValue().blocks().get(number).stored();
            }
        }
        return bytes;
    }

    private Iterable<Integer> needed(long of) {
        TreeSet<Integer> numbers = new TreeSet<>();
        if (of == checkpoint) {
            for (int number = 0; number < blocks.get(of).blocks().size(); number++) {
                numbers.add(number);
            }
        } else {
            chunks.stream().filter(chunk -> chunk.checkpoint() == of && chunk.kind() == Chunk.Kind.DATA)
                    .forEach(chunk -> numbers.add(chunk.block()));
        }
        return numbers;
    }

    /** Reads everything in the order of the files; returns {@code done} and the bytes read. */
    long verify(long done, long total, CheckpointReader.Progress progress) throws IOException {
        long now = done;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = DeviceMemory.map(arena, Block.MAX_LENGTH);
            for (Map.Entry<Long, BlockFiles> files : blocks.entrySet()) {
                BlockReader reader = files.getValue().reader();
                for (int number : needed(files.getKey())) {
                    Block block = files.getValue().blocks().get(number);
                    reader.read(files.getValue(), block, buffer.asSlice(0, block.length()),
                            () -> owner(files.getKey(), number));
                    now += block.stored();
                    progress.read(now, total);
                }
            }
        }
        return now;
    }

    private String owner(long of, int number) {
        return chunks.stream().filter(chunk -> chunk.checkpoint() == of && chunk.block() == number).findFirst()
                .map(chunk -> names.apply(chunk.process()) + " at address 0x"
                        + Long.toHexString(chunk.address()))
                .orElse("memory of no process");
    }

    @Override
    public void close() throws IOException {
        for (BlockFiles files : blocks.values()) {
            files.close();
        }
    }
}
