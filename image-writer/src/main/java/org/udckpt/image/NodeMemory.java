package org.udckpt.image;

import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;

/** The stripe files of one node and the chunks in them. */
final class NodeMemory implements Closeable {
    private final Path directory;
    private final Manifest.Node node;
    private final Manifest.Integrity integrity;
    private final Supplier<String> advice;
    private final List<Path> files;
    private final List<StorageIo.Input> stripes = new ArrayList<>();
    private final SortedMap<Integer, List<Chunk>> byProcess = new TreeMap<>();
    private final List<Chunk> stored;

    NodeMemory(Path directory, Manifest.Node node, Manifest manifest, List<Chunk> chunks, StorageIo io, Supplier<String> advice)
            throws IOException {
        this.directory = directory;
        this.node = node;
        this.integrity = manifest.integrity();
        this.advice = advice;
        List<Manifest.FileEntry> entries = entries(manifest);
        this.files = entries.stream().map(entry -> directory.resolve(entry.name())).toList();
        this.stored = new ChunkCheck(directory.resolve(ImageNames.nodeTable(node.index(), NodeWriter.CHUNKS)), integrity,
                entries.stream().map(Manifest.FileEntry::length).toList()).check(chunks);
        for (Chunk chunk : chunks) {
            byProcess.computeIfAbsent(chunk.process(), _ -> new ArrayList<>()).add(chunk);
        }
        try {
            for (Path file : files) {
                stripes.add(io.open(file));
            }
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    private List<Manifest.FileEntry> entries(Manifest manifest) throws ImageError {
        List<Manifest.FileEntry> entries = new ArrayList<>();
        String table = ImageNames.nodeTable(node.index(), NodeWriter.CHUNKS);
        for (Manifest.FileEntry entry : manifest.files()) {
            if (table.equals(entry.chunks())) {
                entries.add(entry);
            }
        }
        entries.sort(Comparator.comparing(Manifest.FileEntry::name));
        for (int i = 0; i < entries.size(); i++) {
            if (!entries.get(i).name().equals(ImageNames.stripe(node.index(), i))) {
                throw new ImageError.Corrupt(directory.resolve(ImageNames.MANIFEST), -1, "stripe " + i + " of node "
                        + node.index() + " is missing");
            }
        }
        return entries;
    }

    List<Integer> processes() {
        return List.copyOf(byProcess.keySet());
    }

    MemoryReader reader(int process) {
        List<Chunk> chunks = byProcess.get(process);
        if (chunks == null) {
            throw new IllegalArgumentException("process " + process + " is not on node " + node.index() + " of " + directory);
        }
        return new MemoryReader(this, process, List.copyOf(chunks), new Checksum(integrity));
    }

    /**
     * Fills {@code into} with a chunk's bytes and checks them.
     *
     * @param into exactly as long as the chunk
     */
    void read(Chunk chunk, MemorySegment into, Checksum checksum) throws IOException {
        switch (chunk.kind()) {
            case ZERO -> into.fill((byte) 0);
            case DATA -> {
                stripes.get(chunk.stripe()).read(into.asByteBuffer(), chunk.offset());
                check(chunk, into, checksum);
            }
        }
    }

    private void check(Chunk chunk, MemorySegment bytes, Checksum checksum) throws ImageError {
        byte[] digest = new byte[Checksum.DIGEST_BYTES];
        long actual = checksum.compute(bytes, 0, (int) chunk.length(), digest, 0);
        String wrong = actual != chunk.checksum() ? "checksum"
                : chunk.digest() != null && !MessageDigest.isEqual(digest, chunk.digest()) ? "SHA-256" : null;
        if (wrong != null) {
            throw new ImageError.Corrupt(files.get(chunk.stripe()), chunk.offset(), "process " + chunk.process() + " (node "
                    + node.index() + ", " + node.host() + "): chunk " + stored.indexOf(chunk) + " with " + chunk.length()
                    + " bytes of address 0x" + Long.toHexString(chunk.address()) + ": " + wrong + " mismatch" + advice.get());
        }
    }

    /** Reads everything in the order of the files; returns {@code done} and the bytes read. */
    long verify(long done, long total, CheckpointReader.Progress progress) throws IOException {
        Checksum checksum = new Checksum(integrity);
        long now = done;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(Chunk.MAX_LENGTH, Range.PAGE);
            for (Chunk chunk : stored) {
                read(chunk, buffer.asSlice(0, chunk.length()), checksum);
                now += chunk.length();
                progress.read(now, total);
            }
        }
        return now;
    }

    @Override
    public void close() throws IOException {
        for (StorageIo.Input stripe : stripes) {
            stripe.close();
        }
    }
}
