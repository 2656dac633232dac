package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.directory.CheckpointIds;
import org.udckpt.image.directory.CheckpointRemoval;
import org.udckpt.image.directory.Publication;
import org.udckpt.image.directory.WriterLease;
import org.udckpt.image.key.BlockTags;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.manifest.ManifestParser;
import org.udckpt.image.manifest.ManifestText;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * Writes one checkpoint. It exists once {@link #commit} has returned; {@link #close} before that removes all of it.
 *
 * <pre>{@code
 * try (CheckpointWriter w = CheckpointWriter.create(dir, WriterOptions.of(key))) {
 *     NodeWriter node = w.node(0, "hostname");
 *     node.memory(pid, ranges, source);
 *     node.table("threads", ThreadState.class, threads);
 *     w.statistics(phaseTimes);
 *     Manifest manifest = w.commit(CheckpointInfo.now(4, Map.of("job", "cg")));
 * }
 * }</pre>
 *
 * <p>Order of durability: stripe files and tables are synced and their lengths checked, then the directory that
 * names them and the one that names it; then the manifest is written under another name, synced, renamed, and the
 * directory synced again. A crash at any point leaves either no manifest or a whole checkpoint.
 */
public final class CheckpointWriter implements Closeable {
    static final String PHASES = "phases";

    private enum State {
        OPEN, COMMITTED, FAILED, CLOSED
    }

    private final WriteTarget target;
    private final WriterOptions options;
    private final History previous;
    private final List<NodeWriter> nodes = new ArrayList<>();
    private final List<PartReport> reports = new ArrayList<>();
    private final List<Manifest.FileEntry> files = new ArrayList<>();
    private final List<PhaseTime> phases = new ArrayList<>();
    private final Set<String> tables = new HashSet<>(Set.of(PHASES));
    private final Set<Integer> indices = new HashSet<>();
    /** Parts that others were asked to write; nothing exists without one of them. */
    private int ordered;
    private boolean onHosts;
    private State state = State.OPEN;
    private History history;

    private CheckpointWriter(Path directory, StorageIo.Session storage, WriterOptions options, History previous) {
        EncryptionSecret secret = options.key().encryption();
        boolean tagged = secret == null && options.form().integrity() == Manifest.Integrity.GMAC;
        this.target = new WriteTarget(directory, ImageNames.id(directory).orElseThrow(), storage,
                secret == null ? null : ImageCipher.fresh(secret),
                tagged ? BlockTags.fresh(options.key()) : null);
        this.options = options;
        this.previous = previous;
    }

    /**
     * Begins a checkpoint in a directory of its own with a new number.
     *
     * @param parent the directory of all checkpoints; made when it is not there (but not its parents)
     */
    public static CheckpointWriter create(Path parent, WriterOptions options) throws IOException {
        return create(parent, options, null);
    }

    /**
     * As {@link #create(Path, WriterOptions)}, but pages that {@code previous} has are not stored again.
     *
     * @param previous of the newest checkpoint in {@code parent}, see {@link #history}; null: store everything
     * @throws ImageError when a checkpoint that this one would be based on is gone or changed; nothing was begun then
     */
    public static CheckpointWriter create(Path parent, WriterOptions options, History previous) throws IOException {
        if (previous != null && !options.form().incremental()) {
            throw new IllegalArgumentException("pages are compared with an older checkpoint only if they are hashed: "
                    + "the form is not incremental");
        }
        StorageIo.Session storage = options.storage().session();
        try {
            if (previous != null) {
                previous.check(parent, options.key(), storage);
            }
            Path directory = new CheckpointIds(parent.toAbsolutePath().normalize(), storage).claim(WriterLease.own());
            return new CheckpointWriter(directory, storage, options, previous);
        } catch (IOException | RuntimeException | Error e) {
            storage.close();
            throw e;
        }
    }

    /** The number of the checkpoint, from 1. */
    public long id() {
        return target.id();
    }

    /** The name to show: {@code ckpt-0001}. */
    public String name() {
        return ImageNames.directory(target.id());
    }

    /** Where it is written. */
    public Path directory() {
        return target.directory();
    }

    /** Begins a node's share. {@code index} from 0, each once. */
    public synchronized NodeWriter node(int index, String host) {
        checkOpen();
        if (index < 0 || !indices.add(index)) {
            throw new IllegalArgumentException("node " + index + " is negative or was started before");
        }
        NodeWriter node = new NodeWriter(target, new Manifest.Node(index, host), options,
                previous == null ? null : previous.node(index));
        nodes.add(node);
        return node;
    }

    /**
     * What other processes have to know in order to write nodes' parts: see {@link PartWriter}.
     *
     * @param parts how many of them there will be: {@link #commit} waits for none, and fails where one was not added
     */
    public synchronized PartOrder order(int parts) {
        checkOpen();
        if (parts < 1) {
            throw new IllegalArgumentException(parts + " parts are ordered");
        }
        ordered += parts;
        return new PartOrder(target.directory(), previous == null ? 0 : previous.newest(), options.key().id(),
                options.form().integrity(), salt(), encryption());
    }

    /** As {@link #order(int)}, of parts that each node's host has for itself. */
    public synchronized PartOrder order(int parts, HostParts where) throws IOException {
        checkOpen();
        state = State.FAILED;
        where.write(target.directory(), target.storage());
        onHosts = true;
        state = State.OPEN;
        return order(parts);
    }

    /**
     * Takes in the part of a node that another process has written. Its files must be here to be seen, if they are not
     * their hosts' own.
     *
     * @throws ImageError when one is not, or is not as long as was reported, or the part needs a checkpoint that this
     *     one is not based on
     */
    public synchronized void add(PartReport part) throws IOException {
        checkOpen();
        String whose = "node " + part.node().index() + " (" + part.node().host() + ")";
        if (!indices.add(part.node().index())) {
            throw new IllegalArgumentException(whose + " was there before");
        }
        state = State.FAILED;
        for (Manifest.FileEntry file : onHosts ? List.<Manifest.FileEntry>of() : part.files()) {
            ManifestFile.checkPart(target.directory().resolve(file.name()), file.length(), whose, target.storage());
        }
        for (long base : part.bases()) {
            if (previous == null || !previous.knows(base)) {
                throw new ImageError.Corrupt(target.directory(), -1,
                        whose + " has memory in checkpoint " + base + ", which this one is not based on");
            }
        }
        reports.add(part);
        state = State.OPEN;
    }

    /** Writes a table of the whole job; "phases" is taken. See {@link NodeWriter#table}. */
    public synchronized <T> void table(String name, Class<T> type, List<? extends T> rows) throws IOException {
        checkOpen();
        String file = ImageNames.jobTable(name);
        if (!tables.add(name)) {
            throw new IllegalArgumentException("table '" + name + "' was written before, or is the image's own");
        }
        // Whoever catches a failure must not be able to commit without the table.
        state = State.FAILED;
        files.add(target.table(file, type, rows));
        state = State.OPEN;
    }

    /** Adds measured phases to the table {@code phases}. The writer itself adds WRITE and COMMIT of the job. */
    public synchronized void statistics(List<PhaseTime> measured) {
        checkOpen();
        phases.addAll(measured);
    }

    /**
     * Waits for all memory and makes the checkpoint exist. When this throws, the checkpoint has failed: close it.
     *
     * @throws ImageError.NoSpace when the file system is full
     * @throws IOException        whatever else went wrong; nothing is tried twice
     */
    public synchronized Manifest commit(CheckpointInfo info) throws IOException {
        checkOpen();
        state = State.FAILED;
        List<NodePart> parts = new ArrayList<>();
        if (reports.size() != ordered) {
            throw new IOException(name() + ": " + ordered + " nodes had to write their parts, but " + reports.size()
                    + " have reported durable parts: "
                    + reports.stream().map(part -> part.node().index() + " (" + part.node().host() + ")").toList());
        }
        for (NodeWriter node : nodes) {
            parts.add(node.finish());
        }
        parts.forEach(part -> reports.add(part.report(target.id())));
        reports.sort(Comparator.comparingInt(part -> part.node().index()));
        Manifest manifest = describe(info);
        String mac = publish(manifest);
        state = State.COMMITTED;
        if (options.form().incremental()) {
            SortedMap<Long, String> macs = new TreeMap<>(Map.of(target.id(), mac));
            manifest.bases().forEach(base -> macs.put(base.id(), base.mac()));
            history = new History(target.directory().getParent(), macs, parts);
        }
        return manifest;
    }

    /** What the next checkpoint need not store again; null unless this one was committed and its options ask for it. */
    public synchronized History history() {
        return history;
    }

    private Manifest describe(CheckpointInfo info) throws IOException {
        long commitBegin = System.nanoTime();
        reports.forEach(part -> files.addAll(part.files()));
        long writeNanos = reports.stream().mapToLong(PartReport::writeNanos).max().orElse(0);
        target.storage().syncDirectory(target.directory());
        target.storage().syncDirectory(target.directory().getParent());
        phases.add(new PhaseTime(PhaseTime.JOB, Phase.WRITE, writeNanos));
        phases.add(new PhaseTime(PhaseTime.JOB, Phase.COMMIT, System.nanoTime() - commitBegin));
        files.add(target.table(ImageNames.jobTable(PHASES), PhaseTime.class, phases));
        files.sort(Comparator.comparing(Manifest.FileEntry::name));
        List<Long> ofNodes = reports.stream().flatMap(part -> part.stops().stream()).toList();
        StopTimes stops = ofNodes.isEmpty() ? StopTimes.of(phases) : StopTimes.ofStops(ofNodes);
        SortedSet<Long> bases = new TreeSet<>();
        reports.forEach(part -> bases.addAll(part.bases()));
        return new Manifest(Manifest.VERSION, target.id(), info.takenAt(), info.architecture(),
                options.form().integrity(), salt(), info.ranks(),
                reports.stream().mapToLong(PartReport::bytes).sum(),
                files.stream().mapToLong(Manifest.FileEntry::length).sum(),
                stops.max(), stops.median(), writeNanos, encryption(),
                bases.isEmpty() ? List.of() : previous.bases(bases), new TreeMap<>(info.labels()),
                reports.stream().map(PartReport::node).toList(), files);
    }

    private String salt() {
        return target.tags() == null ? null : target.tags().salt();
    }

    private Manifest.Encryption encryption() {
        return target.cipher() == null ? null : target.cipher().parameters();
    }

    /** Returns its MAC. */
    private String publish(Manifest manifest) throws IOException {
        StorageIo io = target.storage();
        byte[] sealed = ManifestText.seal(manifest, options.key());
        if (sealed.length > ManifestParser.MAX_BYTES) {
            throw new IllegalStateException("a manifest of " + sealed.length + " bytes: too many files or labels");
        }
        SmallFiles.write(io, target.directory().resolve(ImageNames.MANIFEST_TEMPORARY), sealed);
        io.syncDirectory(target.directory());
        Publication.publish(target.directory(), manifest, options.key(), io);
        return ManifestText.mac(sealed);
    }

    private void checkOpen() {
        if (state != State.OPEN) {
            throw new IllegalStateException(name() + " is " + state.name().toLowerCase(java.util.Locale.ROOT));
        }
    }

    /**
     * Ends the checkpoint. Without a successful {@link #commit} all of it is removed.
     *
     * @throws IOException when something cannot be removed; it is then listed as incomplete, and
     *                     {@link org.udckpt.image.catalogue.Catalogue#clean()} removes it once this process has ended
     */
    @Override
    public synchronized void close() throws IOException {
        if (state == State.CLOSED) {
            return;
        }
        boolean keep = state == State.COMMITTED;
        state = State.CLOSED;
        try (StorageIo.Session storage = target.storage()) {
            IOException failure = closeNodes();
            if (!keep) {
                CheckpointRemoval.remove(target.directory(), storage);
            } else if (failure != null) { // a file of a checkpoint that is gone anyway may have failed to close
                throw failure;
            }
        }
    }

    /** Null: all could be closed. */
    private IOException closeNodes() {
        IOException first = null;
        for (NodeWriter node : nodes) {
            try {
                node.close();
            } catch (IOException e) {
                first = first == null ? e : first;
            }
        }
        return first;
    }
}
