package org.udckpt.image.catalogue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Optional;
import org.udckpt.image.ImageError;
import org.udckpt.image.ImageNames;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.manifest.ManifestParser;
import org.udckpt.image.storage.SmallFiles;
import org.udckpt.image.storage.StorageIo;

/**
 * When a checkpoint was last read whole and found as it was written: the file {@code verified} in its directory. It
 * says which manifest was there (SHA-256, so that a mark of another image counts for nothing) and when. A hint for
 * people, on which nothing else depends: a restart checks what it reads all the same.
 */
public final class VerifiedMark {
    private static final String NAME = "verified";
    private static final String TEMPORARY = "verified.new";
    private static final int MAX_BYTES = 200;

    private final StorageIo storage;

    /** @param storage that holds checkpoints which may be written to */
    public VerifiedMark(StorageIo storage) {
        this.storage = storage;
    }

    /** Marks the checkpoint as verified now. @throws IOException where nothing can be written (an archive, say) */
    public void write(Path checkpoint) throws IOException {
        try (StorageIo.Session io = storage.session()) {
            Path temporary = checkpoint.resolve(TEMPORARY);
            deleteIfThere(temporary, io); // of one that was ended
            SmallFiles.write(io, temporary,
                    (digest(checkpoint, io) + " " + Instant.now() + "\n").getBytes(StandardCharsets.US_ASCII));
            io.rename(temporary, checkpoint.resolve(NAME));
        }
    }

    /** Removes the mark of a checkpoint that was found damaged. @throws IOException where nothing can be removed */
    public void remove(Path checkpoint) throws IOException {
        try (StorageIo.Session io = storage.session()) {
            deleteIfThere(checkpoint.resolve(NAME), io);
        }
    }

    private static void deleteIfThere(Path file, StorageIo io) throws IOException {
        if (io.kind(file) == StorageIo.Kind.NOTHING) {
            return;
        }
        try {
            io.delete(file);
        } catch (NoSuchFileException e) {
            return; // somebody else was first
        }
    }

    /** When it was marked; empty without a mark, or with one that is not this manifest's. */
    public Optional<Instant> read(Path checkpoint) throws IOException {
        try (StorageIo.Session io = storage.session()) {
            String[] words =
                    new String(SmallFiles.read(io, checkpoint.resolve(NAME), -1, MAX_BYTES), StandardCharsets.US_ASCII)
                            .strip().split(" ");
            return words.length == 2 && words[0].equals(digest(checkpoint, io)) ? Optional.of(Instant.parse(words[1]))
                    : Optional.empty();
        } catch (DateTimeParseException | ImageError.Corrupt e) {
            return Optional.empty(); // somebody else's file
        } catch (ImageError.Missing e) {
            return Optional.empty(); // no mark; or the checkpoint is just being removed, the manifest first
        }
    }

    private static String digest(Path checkpoint, StorageIo io) throws IOException {
        return HexFormat.of().formatHex(ImageKey
                .sha256(SmallFiles.read(io, checkpoint.resolve(ImageNames.MANIFEST), -1, ManifestParser.MAX_BYTES)));
    }
}
