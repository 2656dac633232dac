package org.udckpt.image.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.table.RecordTable;

/**
 * Reads one checkpoint, and only what its manifest vouches for. Opening checks the seal and the lengths of all files;
 * each table is checked when it is read, each chunk of memory when it is. Every error names the file and the offset,
 * and says which older checkpoint is whole. Thread-safe.
 */
public final class CheckpointReader implements Closeable {
    private final CheckpointFiles image;
    private final StorageIo.Session storage;
    /** Holds the checkpoint, so that it is not removed while it is read. */
    private final Closeable held;
    private volatile MemoryNames names = MemoryNames.NUMBERS;
    private Map<Long, CheckpointFiles> bases;
    private final SortedMap<Integer, NodeMemory> memories = new TreeMap<>();

    /** How far {@link #verify} is, in bytes of stripe files and tables. */
    @FunctionalInterface
    public interface Progress {
        void read(long done, long total);
    }

    private CheckpointReader(CheckpointFiles image, StorageIo.Session storage, Closeable held) {
        this.image = image;
        this.storage = storage;
        this.held = held;
    }

    /**
     * @param directory of one checkpoint, {@code DIR/ckpt-0001}
     * @throws ImageError {@code Missing} without manifest, {@code Foreign} for another key's, {@code TooOld},
     *     {@code TooNew}, else {@code Corrupt}
     */
    public static CheckpointReader open(Path directory, ImageKey key) throws IOException {
        return open(directory, key, LocalStorage.INSTANCE);
    }

    /** As {@link #open(Path, ImageKey)}, from another storage. */
    public static CheckpointReader open(Path directory, ImageKey key, StorageIo io) throws IOException {
        return open(io, session -> CheckpointFiles.open(directory, key, session));
    }

    /** Reads the manifest. */
    @FunctionalInterface
    private interface Begin {
        CheckpointFiles in(StorageIo.Session io) throws IOException;
    }

    private static CheckpointReader open(StorageIo storage, Begin begin) throws IOException {
        StorageIo.Session io = storage.session();
        try {
            CheckpointFiles image = begin.in(io);
            return new CheckpointReader(image, io, hold(image.directory().resolve(ImageNames.MANIFEST), io));
        } catch (IOException | RuntimeException | Error e) {
            io.close();
            throw e;
        }
    }

    private static Closeable hold(Path manifest, StorageIo io) throws IOException {
        try {
            return io.hold(manifest);
        } catch (NoSuchFileException e) {
            throw new ImageError.Missing(manifest, "just removed");
        }
    }

    /**
     * As {@link #open(Path, ImageKey)}, for the one who needs one node's share of it: whether all files of the others
     * are there, and as long as they should be, is not looked at before they are read. So the cost of many who each
     * open their own does not grow with the square of their number.
     *
     * @throws ImageError.Missing also when there is no node of that index
     */
    public static CheckpointReader openNode(Path directory, ImageKey key, StorageIo io, int index) throws IOException {
        String own = ImageNames.node(index);
        CheckpointReader reader = open(io, session -> CheckpointFiles.open(directory, key, session,
                file -> file.startsWith(own) || file.startsWith(ImageNames.JOB)));
        try {
            reader.node(index);
            return reader;
        } catch (IOException | RuntimeException e) {
            reader.close();
            throw e;
        }
    }

    /** As {@link #openNode(Path, ImageKey, StorageIo, int)}, from a directory. */
    public static CheckpointReader openNode(Path directory, ImageKey key, int index) throws IOException {
        return openNode(directory, key, LocalStorage.INSTANCE, index);
    }

    /**
     * As {@link #openNode(Path, ImageKey, int)}, on a host that may still have that node's part of it.
     *
     * @param parts      where that would be
     * @param passedOver is told of what is there under the checkpoint's number, but is another one's
     */
    public static CheckpointReader openNode(Path directory, ImageKey key, HostParts parts, int index,
            Consumer<Path> passedOver) throws IOException {
        try (OwnPartView view = new OwnPartView(LocalStorage.INSTANCE.session(), parts, index, passedOver)) {
            // the reader holds it from then on
            return openNode(directory, key, view, index);
        }
    }

    /** Errors about memory call its owners so from now on. @return this */
    public CheckpointReader naming(MemoryNames names) {
        this.names = names;
        return this;
    }

    /**
     * Errors about damaged memory and tables name this copy of the checkpoint from now on, if it is complete then.
     *
     * @return this
     */
    public CheckpointReader copied(Path copy) {
        image.copied(copy);
        return this;
    }

    /** What the checkpoint consists of. */
    public Manifest manifest() {
        return image.manifest();
    }

    /** The MAC of its manifest: the name of exactly this checkpoint. */
    public String mac() {
        return image.mac();
    }

    /** Where it is. */
    public Path directory() {
        return image.directory();
    }

    /**
     * Rows of a table: the job's, then each node's, in order. Numbers of processes and objects are each node's own: see
     * {@link #node}.
     */
    public <T> List<T> table(String name, Class<T> type) throws IOException {
        List<T> rows = new ArrayList<>();
        boolean found = false;
        List<String> candidates = new ArrayList<>(List.of(ImageNames.jobTable(name)));
        image.manifest().nodes().forEach(node -> candidates.add(ImageNames.nodeTable(node.index(), name)));
        for (String candidate : candidates) {
            if (image.table(candidate) != null) {
                found = true;
                rows.addAll(image.rows(candidate, type));
            }
        }
        if (!found) {
            throw new ImageError.Missing(image.directory().resolve(ImageNames.MANIFEST), "has no table '" + name + "'");
        }
        return List.copyOf(rows);
    }

    /** Rows of the whole job's table, whatever nodes have. @throws ImageError.Missing when there is none */
    public <T> List<T> jobTable(String name, Class<T> type) throws IOException {
        return image.rows(ImageNames.jobTable(name), type);
    }

    /** As {@link #jobTable}, but no rows when there is no such table: one that later versions added. */
    public <T> List<T> jobTableIfThere(String name, Class<T> type) throws IOException {
        return image.table(ImageNames.jobTable(name)) == null ? List.of() : jobTable(name, type);
    }

    /** The file of the whole job's table, for an error about what is in it. The manifest when there is none. */
    public Path jobFile(String name) {
        return file(ImageNames.jobTable(name));
    }

    /** Its nodes, by index. */
    public List<NodeReader> nodes() {
        return image.manifest().nodes().stream().map(node -> new NodeReader(this, node)).toList();
    }

    /** @throws ImageError.Missing when there is none of that index */
    public NodeReader node(int index) throws ImageError {
        return nodes().stream().filter(node -> node.index() == index).findFirst()
                .orElseThrow(() -> new ImageError.Missing(image.directory().resolve(ImageNames.MANIFEST),
                        "has no node " + index));
    }

    boolean has(int node, String name) {
        return image.table(ImageNames.nodeTable(node, name)) != null;
    }

    Path file(int node, String name) {
        return file(ImageNames.nodeTable(node, name));
    }

    private Path file(String table) {
        Manifest.FileEntry entry = image.table(table);
        return image.directory().resolve(entry == null ? ImageNames.MANIFEST : entry.name());
    }

    /** Rows of one node's table. */
    public <T> List<T> table(int node, String name, Class<T> type) throws IOException {
        return image.rows(ImageNames.nodeTable(node, name), type);
    }

    /** As {@link #table(int, String, Class)}, of rows that a list of records decides about. */
    public <T> List<T> table(int node, String name, RecordTable<T> rows) throws IOException {
        return image.rows(ImageNames.nodeTable(node, name), rows);
    }

    /** The processes whose memory the image holds, by node. */
    public Map<Integer, List<Integer>> processes() throws IOException {
        SortedMap<Integer, List<Integer>> processes = new TreeMap<>();
        for (Manifest.Node node : image.manifest().nodes()) {
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
            throw new IllegalArgumentException(
                    "process " + process + " is on " + nodes.size() + " nodes of " + image.directory());
        }
        return memory(nodes.getFirst(), process);
    }

    /** The memory of a process; a new reader each time, each for one thread. */
    public MemoryReader memory(int node, int process) throws IOException {
        for (Manifest.Node candidate : image.manifest().nodes()) {
            if (candidate.index() == node) {
                return memory(candidate).reader(process);
            }
        }
        throw new IllegalArgumentException(image.directory() + " has no node " + node);
    }

    synchronized NodeMemory memory(Manifest.Node node) throws IOException {
        NodeMemory memory = memories.get(node.index());
        if (memory == null) {
            memory = new NodeMemory(image, bases(), node, process -> names.of(new NodeReader(this, node), process));
            memories.put(node.index(), memory);
        }
        return memory;
    }

    private Map<Long, CheckpointFiles> bases() throws IOException {
        if (bases == null) {
            Map<Long, CheckpointFiles> opened = new TreeMap<>();
            for (Manifest.Base base : image.manifest().bases()) {
                opened.put(base.id(), image.base(base));
            }
            bases = opened;
        }
        return bases;
    }

    /**
     * Reads and checks every byte that the manifest names, and those of older checkpoints that this one needs.
     *
     * @throws ImageError the first thing that is wrong
     */
    public void verify(Progress progress) throws IOException {
        Manifest manifest = image.manifest();
        verify(manifest.files(), manifest.nodes(), progress);
        long named = manifest.files().stream().mapToLong(Manifest.FileEntry::length).sum();
        if (named != manifest.storedBytes()) {
            throw new ImageError.Corrupt(image.directory().resolve(ImageNames.MANIFEST), -1,
                    "names " + manifest.storedBytes()
                            + " stored bytes, but its files have " + named);
        }
    }

    /** The tables of the whole job, and nothing of its nodes: {@link #verify} of what one of several looks at. */
    public void verifyJob() throws IOException {
        verify(files(ImageNames.JOB), List.of(), (_, _) -> {});
    }

    /** One node's tables and memory: {@link #verify} of what another one of several looks at. */
    public void verifyNode(int index, Progress progress) throws IOException {
        verify(files(ImageNames.node(index)),
                image.manifest().nodes().stream().filter(node -> node.index() == index).toList(), progress);
    }

    private List<Manifest.FileEntry> files(String prefix) {
        return image.manifest().files().stream().filter(file -> file.name().startsWith(prefix)).toList();
    }

    private void verify(List<Manifest.FileEntry> files, List<Manifest.Node> nodes, Progress progress)
            throws IOException {
        List<Manifest.FileEntry> tables = files.stream().filter(entry -> entry.sha256() != null).toList();
        long total = tables.stream().mapToLong(Manifest.FileEntry::length).sum();
        for (Manifest.Node node : nodes) {
            total += memory(node).bytesToVerify();
        }
        long done = 0;
        for (Manifest.FileEntry entry : tables) {
            image.verified(entry);
            done += entry.length();
            progress.read(done, total);
        }
        for (Manifest.Node node : nodes) {
            done = memory(node).verify(done, total, progress);
        }
    }

    @Override
    public synchronized void close() throws IOException {
        try (StorageIo.Session _ = storage; Closeable _ = held) {
            for (NodeMemory memory : memories.values()) {
                memory.close();
            }
        }
    }
}
