package org.udckpt.image.key;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import org.udckpt.image.FileErrors;
import org.udckpt.linux.HmacSha256;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.SecretFile;
import org.udckpt.linux.Sha256;
import org.udckpt.linux.SystemRandom;
import org.udckpt.linux.UntrustedPath;

/**
 * The secret that seals a user's images: 32 bytes, kept as 64 hexadecimal digits in a file that only the user reads.
 * Whoever lacks it can neither make an image that is accepted nor change one.
 */
public final class ImageKey {
    private static final int BYTES = 32, LONGEST = 2 * BYTES + 1;
    private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rw-------");
    /** Null where there is no key. */
    private final byte[] secret;
    private final EncryptionSecret encryption;
    /** Null where there is a key. */
    private final Path missing;

    private ImageKey(byte[] secret, EncryptionSecret encryption, Path missing) {
        this.secret = secret;
        this.encryption = encryption;
        this.missing = missing;
    }

    /** A key of exactly 32 bytes. */
    public static ImageKey of(byte[] secret) {
        if (secret.length != BYTES) {
            throw new IllegalArgumentException("a key has " + BYTES + " bytes, not " + secret.length);
        }
        return new ImageKey(secret.clone(), null, null);
    }

    /** The same seal, and what images are encrypted with: new ones are, and encrypted ones can be read. */
    public ImageKey with(EncryptionSecret other) {
        return new ImageKey(secret, other, missing);
    }

    /** Null when images are not encrypted. */
    public EncryptionSecret encryption() {
        return encryption;
    }

    /** The user's key: UDCKPT_KEY_FILE, else ~/.config/udckpt/key; made on first use. For who writes images. */
    public static ImageKey ofUser(Map<String, String> environment) throws IOException {
        return load(file(environment));
    }

    /**
     * The same for who only reads: none is made. Where there is none, a directory without images can be looked at all
     * the same, and what is sealed is an {@link org.udckpt.image.ImageError.NoKey}.
     */
    public static ImageKey ofReader(Map<String, String> environment) throws IOException {
        Path file = file(environment);
        return Files.notExists(file) ? new ImageKey(null, null, file) : load(file);
    }

    private static Path file(Map<String, String> environment) {
        String file = environment.get("UDCKPT_KEY_FILE");
        return file != null ? Path.of(file) : Path.of(System.getProperty("user.home"), ".config", "udckpt", "key");
    }

    /** Where there should be a key; null: there is one. */
    public Path missing() {
        return missing;
    }

    /**
     * Reads a key file, or makes one where there is none.
     *
     * @throws IOException when it is open to others than its owner, or not a key; it names the file and the way out
     */
    public static ImageKey load(Path file) throws IOException {
        if (Files.notExists(file)) {
            try {
                create(file);
            } catch (FileSystemException e) {
                throw new IOException("key file " + file + " cannot be created: " + FileErrors.text(e)
                        + "; set UDCKPT_KEY_FILE to another one", e);
            }
        }
        return of(readFile(file));
    }

    /** The 32 bytes in a key file that only its owner may read, who is this user. */
    static byte[] readFile(Path file) throws IOException {
        if (Files.exists(file) && !Files.isRegularFile(file)) { // not even opened: that of a device may do something
            throw new IOException("key file " + file + " is not a regular file: give the file that holds the key");
        }
        byte[] bytes;
        try {
            bytes = SecretFile.read("key file", file.toString(), LONGEST + 1);
        } catch (UntrustedPath e) {
            throw new IOException(e.getMessage(), e);
        } catch (LinuxError e) {
            throw new IOException("key file " + file + " cannot be read: " + reason(e)
                    + "; make it yours and readable (chown, chmod 600), or set UDCKPT_KEY_FILE to another one", e);
        }
        String text = new String(bytes, StandardCharsets.US_ASCII).strip();
        if (bytes.length > LONGEST || !text.matches("[0-9a-fA-F]{" + 2 * BYTES + "}")) {
            throw new IOException("key file " + file + " is not a key of " + 2 * BYTES + " hexadecimal digits");
        }
        return HexFormat.of().parseHex(text);
    }

    private static String reason(LinuxError e) {
        return e.errno() == LinuxError.ELOOP ? "Too many levels of symbolic links" : LinuxError.name(e.errno());
    }

    /** Two first uses at once must agree on one key: the file appears whole, by link(2), or was already there. */
    private static void create(Path file) throws IOException {
        byte[] secret = SystemRandom.bytes(BYTES);
        Path directory = file.toAbsolutePath().getParent();
        if (Files.exists(directory) && !Files.isDirectory(directory)) {
            throw new NotDirectoryException(directory.toString());
        }
        createDirectories(directory);
        Path temporary =
                Files.createTempFile(directory, ".key", null, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
        try {
            Files.setPosixFilePermissions(temporary, OWNER_ONLY); // whatever the umask
            Files.writeString(temporary, HexFormat.of().formatHex(secret) + "\n");
            Files.createLink(file, temporary);
        } catch (FileAlreadyExistsException e) {
            // Another process was first; its key is the key.
            return;
        } finally {
            Files.delete(temporary);
        }
    }

    private static void createDirectories(Path directory) throws IOException {
        if (!Files.exists(directory)) {
            createDirectories(directory.getParent());
            try {
                Files.setPosixFilePermissions(Files.createDirectory(directory),
                        PosixFilePermissions.fromString("rwx------"));
            } catch (FileAlreadyExistsException e) {
                return; // another first use
            }
        }
    }

    /** Names the key without giving it away: the first 8 bytes of the SHA-256 of a MAC under it. */
    public String id() {
        return HexFormat.of().formatHex(sha256(mac("udckpt key id".getBytes(StandardCharsets.US_ASCII))), 0, 8);
    }

    public byte[] mac(byte[] message) {
        return HmacSha256.of(secret(), message);
    }

    /** @throws IllegalStateException where there is none; who reads has looked for that before */
    private byte[] secret() {
        if (secret == null) {
            throw new IllegalStateException("there is no key in " + missing);
        }
        return secret;
    }

    /** Another key, for one purpose: HKDF-SHA256 (RFC 5869) of this one. */
    byte[] derive(byte[] salt, String purpose, int bytes) {
        return KeyDerivation.derive(secret(), salt, purpose, bytes);
    }

    public static byte[] sha256(byte[] message) {
        return Sha256.of(message);
    }

    public static MessageDigest newSha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (GeneralSecurityException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return missing != null ? "no ImageKey in " + missing : "ImageKey " + id();
    }
}
