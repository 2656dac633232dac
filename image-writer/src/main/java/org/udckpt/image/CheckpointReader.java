package org.udckpt.image;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reads one checkpoint, and only what its manifest vouches for. Opening checks the seal and the lengths of all files;
 * each table is checked when it is read, each chunk of memory when it is. Every error names the file and the offset,
 * and says which older checkpoint is whole. Thread-safe.
 */
public final class CheckpointReader implements Closeable {
    private final Path directory;
    private final ImageKey key;
    private final StorageIo io;
    private final Manifest manifest;
    private final SortedMap<Integer, NodeMemory> memories = new TreeMap<>();

    /** How far {@link #verify} is, in bytes of stripe files and tables. */
    @FunctionalInterface
    public interface Progress {
        void read(long done, long total);
    }

    private CheckpointReader(Path directory, ImageKey key, StorageIo io, Manifest manifest) {
        this.directory = directory;
        this.key = key;
        this.io = io;
        this.manifest = manifest;
    }

    /**
     * @param directory of one checkpoint, {@code DIR/ckpt-0001}
     * @throws ImageError {@code Missing} without manifest, {@code Foreign} for another key's, {@code TooOld}, {@code TooNew},
     *                    else {@code Corrupt}
     */
    public static CheckpointReader open(Path directory, ImageKey key) throws IOException {
        return open(directory, key, LocalStorage.INSTANCE);
    }

    /** As {@link #open(Path, ImageKey)}, from another storage. */
    public static CheckpointReader open(Path directory, ImageKey key, StorageIo io) throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        return new CheckpointReader(absolute, key, io, ManifestFile.load(absolute, key, io));
    }

    /** What the checkpoint consists of. */
    public Manifest manifest() {
        return manifest;
    }

    /** Where it is. */
    public Path directory() {
        return directory;
    }

    /** Rows of a table: the job's, then each node's, in order. */
    public <T> List<T> table(String name, Class<T> type) throws IOException {
        return table(name, type, true);
    }

    /** As {@link #table(String, Class)}, but no rows when the image has no such table: one that later versions added. */
    public <T> List<T> tableIfThere(String name, Class<T> type) throws IOException {
        return table(name, type, false);
    }

    private <T> List<T> table(String name, Class<T> type, boolean required) throws IOException {
        List<T> rows = new ArrayList<>();
        boolean found = !required;
        List<String> candidates = new ArrayList<>(List.of(ImageNames.jobTable(name)));
        manifest.nodes().forEach(node -> candidates.add(ImageNames.nodeTable(node.index(), name)));
        for (String candidate : candidates) {
            if (manifest.file(candidate) != null) {
                found = true;
                rows.addAll(file(candidate, type));
            }
        }
        if (!found) {
            throw new ImageError.Missing(directory.resolve(ImageNames.MANIFEST), "has no table '" + name + "'");
        }
        return List.copyOf(rows);
    }

    /** Rows of one node's table. */
    public <T> List<T> table(int node, String name, Class<T> type) throws IOException {
        return file(ImageNames.nodeTable(node, name), type);
    }

    private <T> List<T> file(String name, Class<T> type) throws IOException {
        return RecordTable.of(type).decode(verified(name), directory.resolve(name));
    }

    private byte[] verified(String name) throws IOException {
        Manifest.FileEntry entry = manifest.file(name);
        Path path = directory.resolve(name);
        if (entry == null || entry.sha256() == null) {
            throw new ImageError.Missing(directory.resolve(ImageNames.MANIFEST), "has no table file '" + name + "'");
        }
        byte[] content = SmallFiles.read(io, path, entry.length(), RecordTable.MAX_BYTES);
        if (!HexFormat.of().formatHex(ImageKey.sha256(content)).equals(entry.sha256())) {
            throw new ImageError.Corrupt(path, -1, "its SHA-256 is not the manifest's: changed, torn or another checkpoint's"
                    + advice());
        }
        return content;
    }

    /** The processes whose memory the image holds, by node. */
    public Map<Integer, List<Integer>> processes() throws IOException {
        SortedMap<Integer, List<Integer>> processes = new TreeMap<>();
        for (Manifest.Node node : manifest.nodes()) {
            processes.put(node.index(), memory(node).processes());
        }
        return processes;
    }

    /**
     * The memory of a process that only one node has.
     *
     * @throws IllegalArgumentException when no node has it, or several do
     */
    public MemoryReader memory(int process) throws IOException {
        List<Integer> nodes = new ArrayList<>();
        processes().forEach((node, processes) -> {
            if (processes.contains(process)) {
                nodes.add(node);
            }
        });
        if (nodes.size() != 1) {
            throw new IllegalArgumentException("process " + process + " is on " + nodes.size() + " nodes of " + directory);
        }
        return memory(nodes.getFirst(), process);
    }

    /** The memory of a process; a new reader each time, each for one thread. */
    public MemoryReader memory(int node, int process) throws IOException {
        for (Manifest.Node candidate : manifest.nodes()) {
            if (candidate.index() == node) {
                return memory(candidate).reader(process);
            }
        }
        throw new IllegalArgumentException(directory + " has no node " + node);
    }

    private synchronized NodeMemory memory(Manifest.Node node) throws IOException {
        NodeMemory memory = memories.get(node.index());
        if (memory == null) {
            String table = ImageNames.nodeTable(node.index(), NodeWriter.CHUNKS);
            List<Chunk> chunks = manifest.file(table) == null ? List.of() : file(table, Chunk.class);
            memory = new NodeMemory(directory, node, manifest, chunks, io, this::advice);
            memories.put(node.index(), memory);
        }
        return memory;
    }

    private String advice() {
        return ManifestFile.advice(directory, key, io);
    }

    /**
     * Reads and checks every byte that the manifest names.
     *
     * @throws ImageError the first thing that is wrong
     */
    public void verify(Progress progress) throws IOException {
        long done = 0;
        for (Manifest.FileEntry entry : manifest.files()) {
            if (entry.sha256() != null) {
                verified(entry.name());
                done += entry.length();
                progress.read(done, manifest.storedBytes());
            }
        }
        for (Manifest.Node node : manifest.nodes()) {
            done = memory(node).verify(done, manifest.storedBytes(), progress);
        }
        if (done != manifest.storedBytes()) {
            throw new ImageError.Corrupt(directory.resolve(ImageNames.MANIFEST), -1, "names " + manifest.storedBytes()
                    + " stored bytes, but its files have " + done);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        for (NodeMemory memory : memories.values()) {
            memory.close();
        }
    }
}
