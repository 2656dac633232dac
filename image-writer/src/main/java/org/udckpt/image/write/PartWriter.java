package org.udckpt.image.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.directory.CheckpointRemoval;
import org.udckpt.image.directory.PartDirectory;
import org.udckpt.image.key.BlockTags;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.storage.StorageIo;

/**
 * Writes one node's part of a checkpoint that another process, on another node, has begun and will commit.
 *
 * <pre>{@code
 * byte[] order = checkpoint.order().encode(); // there
 * try (PartWriter part = PartWriter.open(PartOrder.decode(order), 3, "hostname", options, pages)) {
 *     part.node().memory(pid, ranges, source);
 *     part.statistics(phaseTimes);
 *     byte[] report = part.finish().encode(); // all of it is durable
 *     pages = part.pages(); // for the next one, if this one is committed
 * }
 * checkpoint.add(PartReport.decode(report)); // there again
 * }</pre>
 *
 * <p>What it has written is removed by {@link CheckpointWriter#close} with all the rest, if there is no commit.
 */
public final class PartWriter implements Closeable {
    private final WriteTarget target;
    /** Null where all nodes write to the checkpoint's own directory. */
    private final HostParts parts;
    private final WriterOptions options;
    private final NodeWriter node;
    private final List<PhaseTime> phases = new ArrayList<>();
    private PageHistory pages;

    private PartWriter(WriteTarget target, HostParts parts, Manifest.Node node, WriterOptions options,
            PageHistory previous) {
        this.target = target;
        this.parts = parts;
        this.options = options;
        this.node = new NodeWriter(target, node, options, previous);
    }

    /**
     * @param index of the node; the checkpoint's other nodes have others
     * @param options as those of the checkpoint's writer
     * @param previous what an older checkpoint has of this node, or null; left alone if it is not the one that the
     *     order names
     * @throws ImageError.Missing when this node does not see the checkpoint's directory
     * @throws ImageError.NoKey when it is to be sealed or encrypted with another key than this node has
     */
    public static PartWriter open(PartOrder order, int index, String host, WriterOptions options, PageHistory previous)
            throws IOException {
        return begin(options, io -> {
            try {
                io.open(order.directory().resolve(ImageNames.WRITER)).close();
            } catch (NoSuchFileException e) {
                throw new ImageError.Missing(order.directory(), "not visible on " + host
                        + ": images of several nodes need a directory that all nodes share (or --tiers "
                        + "local=DIR,slow=DIR, with one directory on each host)");
            }
            return begin(order, io, null, index, host, options, previous);
        });
    }

    /**
     * As {@link #open}, on storage that this host has for itself: {@link #remove} is this process's then.
     *
     * @param parts where, for all hosts
     */
    public static PartWriter open(PartOrder order, HostParts parts, int index, String host, WriterOptions options,
            PageHistory previous) throws IOException {
        return begin(options, io -> {
            try {
                PartDirectory.make(parts, index, order.checkpoint(), io);
            } catch (NoSuchFileException e) {
                throw new ImageError.Missing(Path.of(e.getFile()), "cannot be created on " + host
                        + ": its parent directory does not exist (a disk that is not mounted?)");
            }
            return begin(order.in(parts.ofNode(index)), io, parts, index, host, options, previous);
        });
    }

    /** Makes a writer that keeps directories open. */
    @FunctionalInterface
    private interface Begin {
        PartWriter in(StorageIo.Session io) throws IOException;
    }

    private static PartWriter begin(WriterOptions options, Begin begin) throws IOException {
        StorageIo.Session io = options.storage().session();
        try {
            return begin.in(io);
        } catch (IOException | RuntimeException | Error e) {
            io.close();
            throw e;
        }
    }

    private static PartWriter begin(PartOrder order, StorageIo.Session io, HostParts parts, int index, String host,
            WriterOptions options, PageHistory previous) throws IOException {
        if (!order.key().equals(options.key().id())) {
            throw new ImageError.NoKey(order.directory(), "is sealed with key " + order.key()
                    + ", but this node's key is " + options.key().id()
                    + ": all hosts need the same key file (UDCKPT_KEY_FILE, else ~/.config/udckpt/key)");
        }
        boolean based = previous != null && order.base() == previous.checkpoint() && options.form().incremental();
        WriteTarget target = new WriteTarget(order.directory(), ImageNames.id(order.directory()).orElseThrow(), io,
                cipher(order, index, options),
                order.salt() == null ? null : BlockTags.of(order.salt(), options.key(), index + 1));
        // site files are each host's own
        WriterOptions asOrdered = options.withForm(options.form().withIntegrity(order.integrity()));
        return new PartWriter(target, parts, new Manifest.Node(index, host), asOrdered, based ? previous : null);
    }

    private static ImageCipher cipher(PartOrder order, int index, WriterOptions options) throws ImageError {
        EncryptionSecret secret = options.key().encryption();
        if ((secret == null) != (order.encryption() == null)) {
            throw new ImageError.NoKey(order.directory(), secret == null ? "has to be encrypted, but this node has "
                    + "no key" : "must not be encrypted, but this node has a key");
        }
        if (secret == null) {
            return null;
        }
        ImageCipher cipher = ImageCipher.of(order.encryption(), secret, index + 1);
        if (cipher == null) {
            throw new ImageError.NoKey(order.directory(), "is encrypted with a different key than this node's");
        }
        return cipher;
    }

    public NodeWriter node() {
        return node;
    }

    /**
     * What was measured of this node, for its table {@code phases}; {@link PhaseTime#JOB} is the node there. The writer
     * adds WRITE.
     */
    public void statistics(List<PhaseTime> measured) {
        phases.addAll(measured);
    }

    /** Waits for all memory; all of the part is durable then. When this throws, the checkpoint cannot be committed. */
    public PartReport finish() throws IOException {
        NodePart part = node.finish();
        PartReport report = phases.isEmpty() ? part.report(target.id()) : measured(part);
        target.storage().syncDirectory(target.directory());
        if (parts != null) {
            PartDirectory.sync(parts, part.node().index(), target.storage());
        }
        pages = options.form().incremental() ? new PageHistory(target.id(), part) : null;
        return report;
    }

    private PartReport measured(NodePart part) throws IOException {
        List<Long> stops = StopTimes.ofRanks(phases);
        phases.add(new PhaseTime(PhaseTime.JOB, Phase.WRITE, part.writeNanos()));
        return part.report(target.id(), target.table(ImageNames.nodeTable(part.node().index(), CheckpointWriter.PHASES),
                PhaseTime.class, phases), stops);
    }

    /**
     * For the node's next part, once the checkpoint is committed; null before {@link #finish}, and where the options do
     * not ask for it.
     */
    public PageHistory pages() {
        return pages;
    }

    /** Where it is written. */
    public Path directory() {
        return target.directory();
    }

    /** Removes what there is of it, closed: the checkpoint is not to be. */
    public void remove() throws IOException {
        try (StorageIo.Session io = options.storage().session()) {
            CheckpointRemoval.remove(target.directory(), io);
        }
    }

    @Override
    public void close() throws IOException {
        try (StorageIo.Session _ = target.storage()) {
            node.close();
        }
    }
}
