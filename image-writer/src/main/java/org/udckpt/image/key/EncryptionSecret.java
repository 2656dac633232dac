package org.udckpt.image.key;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * What encrypted images are encrypted with: 32 bytes that a file or a command of the user gives. Never stored in an
 * image.
 */
public final class EncryptionSecret {
    private static final int BYTES = 32;
    private final byte[] bytes;

    private EncryptionSecret(byte[] bytes) {
        this.bytes = bytes;
    }

    /** A secret of exactly 32 bytes. */
    public static EncryptionSecret of(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("an encryption key has " + BYTES + " bytes, not " + bytes.length);
        }
        return new EncryptionSecret(bytes.clone());
    }

    /**
     * @param source {@code file:PATH}, a file of 64 hexadecimal digits that only its owner may read, or
     *     {@code command:COMMAND}, which {@code /bin/sh} runs and which prints them
     * @throws IllegalArgumentException when {@code source} is neither
     * @throws IOException naming the file, never the key, nor a command, which may hold it
     */
    public static EncryptionSecret from(String source) throws IOException {
        AesGcm.require();
        if (source.startsWith("file:") && source.length() > "file:".length()) {
            Path file = Path.of(source.substring("file:".length()));
            if (!Files.isRegularFile(file)) {
                throw new IOException("encryption key file " + file + " does not exist; create it: (umask 077; "
                        + "openssl rand -hex 32 > " + file + ")");
            }
            return new EncryptionSecret(ImageKey.readFile(file));
        }
        if (source.startsWith("command:") && source.length() > "command:".length()) {
            return parse(KeyCommand.output(source.substring("command:".length())));
        }
        // what was given may be the key
        throw new IllegalArgumentException("an encryption key comes from file:PATH or command:COMMAND");
    }

    private static EncryptionSecret parse(String text) throws IOException {
        try {
            return of(HexFormat.of().parseHex(text.strip()));
        } catch (IllegalArgumentException e) { // whose message has the text
            throw new IOException(
                    KeyCommand.NAME + " did not print an encryption key of " + 2 * BYTES + " hexadecimal digits");
        }
    }

    byte[] bytes() {
        return bytes;
    }

    @Override
    public String toString() {
        return "EncryptionSecret";
    }
}
