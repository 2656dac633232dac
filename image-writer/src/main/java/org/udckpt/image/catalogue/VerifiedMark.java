package org.udckpt.image.catalogue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.HexFormat;
import java.util.Optional;
import org.udckpt.image.ImageNames;

/**
 * When a checkpoint was last read whole and found as it was written: the file {@code verified} in its directory. It says
 * which manifest was there (SHA-256, so that a mark of another image counts for nothing) and when. A hint for people, of
 * which nothing else depends: a restart checks what it reads all the same.
 */
public final class VerifiedMark {
    private static final String NAME = "verified";
    private static final int MAX_BYTES = 200;

    private VerifiedMark() {}

    /** Marks the checkpoint as verified now. @throws IOException where nothing can be written (an archive, say) */
    public static void write(Path checkpoint) throws IOException {
        Path temporary = Files.createTempFile(checkpoint, NAME, ".new", PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        try {
            Files.writeString(temporary, digest(checkpoint) + " " + Instant.now() + "\n");
            Files.move(temporary, checkpoint.resolve(NAME), StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** It has since been found damaged. @throws IOException where nothing can be removed */
    public static void remove(Path checkpoint) throws IOException {
        Files.deleteIfExists(checkpoint.resolve(NAME));
    }

    /** When it was marked; empty without a mark, or with one that is not this manifest's. */
    public static Optional<Instant> read(Path checkpoint) throws IOException {
        Path mark = checkpoint.resolve(NAME);
        if (!Files.isRegularFile(mark) || Files.size(mark) > MAX_BYTES) {
            return Optional.empty();
        }
        String[] words = new String(Files.readAllBytes(mark), StandardCharsets.US_ASCII).strip().split(" ");
        try {
            return words.length == 2 && words[0].equals(digest(checkpoint)) ? Optional.of(Instant.parse(words[1])) : Optional.empty();
        } catch (DateTimeParseException e) {
            return Optional.empty(); // somebody else's file
        } catch (NoSuchFileException e) {
            return Optional.empty(); // just being removed, the manifest first
        }
    }

    private static String digest(Path checkpoint) throws IOException {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(checkpoint.resolve(ImageNames.MANIFEST))));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }
}
