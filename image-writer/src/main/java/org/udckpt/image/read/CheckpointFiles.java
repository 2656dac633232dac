package org.udckpt.image.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.Manifest;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.key.BlockSealer;
import org.udckpt.image.key.BlockTags;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.ManifestFile;
import org.udckpt.image.manifest.ManifestText;
import org.udckpt.image.manifest.Sealed;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.table.RecordTable;

/**
 * The files of one checkpoint, as its manifest vouches for them: its tables, decrypted where need be, and its stripes.
 * Thread-safe.
 */
final class CheckpointFiles {
    private final Path directory;
    private final ImageKey key;
    private final StorageIo io;
    private final Manifest manifest;
    private final String mac;
    private final Predicate<String> wanted;
    /** The copy of the checkpoint that was opened; shared with the checkpoints that it is based on. */
    private final AtomicReference<Copy> copy;
    private volatile ImageCipher cipher;
    private volatile BlockTags tags;

    /** Where else the checkpoint of that manifest may be. */
    private record Copy(Path directory, Manifest manifest) {}

    private CheckpointFiles(Path directory, ImageKey key, StorageIo io, Sealed sealed, Predicate<String> wanted,
            AtomicReference<Copy> copy) {
        this.directory = directory;
        this.key = key;
        this.io = io;
        this.mac = sealed.mac();
        this.manifest = sealed.manifest();
        this.wanted = wanted;
        this.copy = copy;
    }

    /** Checks the seal and the lengths of all files, also of the checkpoints that this one is based on. */
    static CheckpointFiles open(Path directory, ImageKey key, StorageIo io) throws IOException {
        return open(directory, key, io, file -> true);
    }

    /**
     * The same, of the lengths of the files of which {@code wanted} says so: others' are looked at when they are read.
     */
    static CheckpointFiles open(Path directory, ImageKey key, StorageIo io, Predicate<String> wanted)
            throws IOException {
        Path absolute = directory.toAbsolutePath().normalize();
        return new CheckpointFiles(absolute, key, io, ManifestFile.load(absolute, key, io, wanted), wanted,
                new AtomicReference<>());
    }

    /**
     * A checkpoint that this one is based on, if it is still exactly that; what it is based on itself does not matter.
     */
    CheckpointFiles base(Manifest.Base base) throws IOException {
        return new CheckpointFiles(directory.resolveSibling(ImageNames.directory(base.id())), key, io,
                new Sealed(ManifestFile.base(directory, base, key, io, wanted), base.mac()), wanted, copy);
    }

    Path directory() {
        return directory;
    }

    Manifest manifest() {
        return manifest;
    }

    String mac() {
        return mac;
    }

    StorageIo io() {
        return io;
    }

    /**
     * Null when the checkpoint is not encrypted.
     *
     * @throws ImageError.NoKey without the secret that it was encrypted with
     */
    ImageCipher cipher() throws ImageError {
        if (manifest.encryption() == null || cipher != null) {
            return cipher;
        }
        Path file = directory.resolve(ImageNames.MANIFEST);
        if (key.encryption() == null) {
            throw new ImageError.NoKey(file, "the image is encrypted; give its key with --encrypt file:PATH or "
                    + "command:COMMAND");
        }
        ImageCipher right = ImageCipher.of(manifest.encryption(), key.encryption());
        if (right == null) {
            throw new ImageError.NoKey(file, "the image was encrypted with a different key than that of --encrypt "
                    + "(UDCKPT_ENCRYPT)");
        }
        cipher = right;
        return right;
    }

    /** What opens this checkpoint's blocks, for one thread; null when they are not sealed. See {@link #cipher}. */
    BlockSealer sealer() throws ImageError {
        ImageCipher decrypting = cipher();
        if (decrypting != null) {
            return decrypting.worker();
        }
        if (manifest.tagged() && tags == null) {
            tags = BlockTags.of(manifest.salt(), key, 0);
        }
        return tags == null ? null : tags.worker();
    }

    /** The entry of a table's file; null when there is no such table. */
    Manifest.FileEntry table(String file) {
        return manifest.file(manifest.encryption() == null ? file : ImageNames.encrypted(file));
    }

    /** As {@link #rows(String, RecordTable)}, of a record or a sealed interface of records. */
    <T> List<T> rows(String file, Class<T> type) throws IOException {
        return rows(file, RecordTable.of(type));
    }

    /** The rows of a table. @param file its name in an image that is not encrypted */
    <T> List<T> rows(String file, RecordTable<T> type) throws IOException {
        Manifest.FileEntry entry = table(file);
        if (entry == null || entry.sha256() == null) {
            throw new ImageError.Missing(directory.resolve(ImageNames.MANIFEST), "has no table file '" + file + "'");
        }
        Path path = directory.resolve(entry.name());
        byte[] content = verified(entry);
        ImageCipher decrypting = cipher();
        byte[] plain = decrypting == null ? content : decrypting.openTable(content);
        if (plain == null) {
            throw new ImageError.Corrupt(path, -1, "could not be decrypted: it was changed" + advice());
        }
        return type.decode(plain, path);
    }

    /** The bytes of a table's file, as they are there. */
    byte[] verified(Manifest.FileEntry entry) throws IOException {
        Path path = directory.resolve(entry.name());
        byte[] content = SmallFiles.read(io, path, entry.length(), RecordTable.MAX_BYTES);
        if (!HexFormat.of().formatHex(ImageKey.sha256(content)).equals(entry.sha256())) {
            throw new ImageError.Corrupt(path, -1, "its SHA-256 differs from the manifest: changed, incompletely "
                    + "written or of another checkpoint" + advice());
        }
        return content;
    }

    /** The stripe files of a node, by number. */
    List<Manifest.FileEntry> stripes(int node) throws ImageError {
        List<Manifest.FileEntry> stripes = new ArrayList<>();
        Manifest.FileEntry cover = table(ImageNames.nodeTable(node, ManifestText.cover(manifest.version())));
        for (Manifest.FileEntry entry : manifest.files()) {
            if (cover != null && cover.name().equals(entry.cover())) {
                stripes.add(entry);
            }
        }
        stripes.sort((one, other) -> one.name().compareTo(other.name()));
        for (int i = 0; i < stripes.size(); i++) {
            if (!stripes.get(i).name().equals(ImageNames.stripe(node, i))) {
                throw new ImageError.Corrupt(directory.resolve(ImageNames.MANIFEST), -1,
                        "stripe " + i + " of node " + node + " is missing");
            }
        }
        return stripes;
    }

    /** The tables about a node's memory, in today's form. */
    MemoryTables memory(int node) throws IOException {
        String chunks = ImageNames.nodeTable(node, ImageNames.CHUNKS);
        if (table(chunks) == null) {
            return new MemoryTables(List.of(), List.of());
        }
        return manifest.version() == 1
                ? Version1.tables(manifest.id(), rows(chunks, ChunkOfVersion1.class), directory.resolve(chunks))
                : new MemoryTables(blocks(node), rows(chunks, Chunk.class));
    }

    /** The blocks of the table alone, for callers that need no chunks. */
    List<Block> blocks(int node) throws IOException {
        return manifest.version() == 1 ? memory(node).blocks()
                : rows(ImageNames.nodeTable(node, ImageNames.BLOCKS), Block.class);
    }

    /** Another directory may have the same checkpoint: errors then say so. */
    void copied(Path other) {
        copy.set(new Copy(other, manifest));
    }

    /** The second half of an error about a damaged checkpoint: what to use instead. */
    String advice() {
        Copy other = copy.get();
        return other != null && isThere(other)
                ? "; the same checkpoint is complete in " + other.directory().getParent() + ": restart "
                        + other.directory()
                : ManifestFile.advice(directory, key, io);
    }

    private boolean isThere(Copy other) {
        try {
            return ManifestFile.load(other.directory(), key, io).manifest().equals(other.manifest())
                    && !HostParts.isOf(other.directory(), io);
        } catch (IOException e) {
            return false; // it is no help, whatever is wrong with it
        }
    }
}
