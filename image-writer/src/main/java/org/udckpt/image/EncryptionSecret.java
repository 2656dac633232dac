package org.udckpt.image;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;

/** What encrypted images are encrypted with: 32 bytes that a file or a command of the user gives. Never stored in an image. */
public final class EncryptionSecret {
    private static final int BYTES = 32;
    private static final int MOST_OUTPUT = 4096;
    private static final long COMMAND_SECONDS = 60;
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
     * @param source {@code file:PATH}, a file of 64 hexadecimal digits that only its owner may read, or {@code command:COMMAND},
     *               which {@code /bin/sh} runs and which prints them
     * @throws IllegalArgumentException when {@code source} is neither
     * @throws IOException              naming the file or the command, never the key
     */
    public static EncryptionSecret from(String source) throws IOException {
        AesGcm.require();
        if (source.startsWith("file:") && source.length() > "file:".length()) {
            Path file = Path.of(source.substring("file:".length()));
            if (!Files.isRegularFile(file)) {
                throw new IOException("encryption key file " + file + " is not there; make one: (umask 077; openssl rand -hex 32 > " + file + ")");
            }
            return new EncryptionSecret(ImageKey.readFile(file));
        }
        if (source.startsWith("command:") && source.length() > "command:".length()) {
            String command = source.substring("command:".length());
            return parse(output(command), "the command '" + command + "'");
        }
        throw new IllegalArgumentException("an encryption key comes from file:PATH or command:COMMAND, not '" + source + "'");
    }

    private static EncryptionSecret parse(String text, String origin) throws IOException {
        try {
            return of(HexFormat.of().parseHex(text.strip()));
        } catch (IllegalArgumentException e) {
            throw new IOException(origin + " did not give an encryption key of " + 2 * BYTES + " hexadecimal digits");
        }
    }

    /** The command may ask on the terminal: it has the caller's standard input and error. */
    private static String output(String command) throws IOException {
        Process process = new ProcessBuilder("/bin/sh", "-c", command).redirectInput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try (InputStream out = process.getInputStream()) {
            byte[] text = out.readNBytes(MOST_OUTPUT);
            if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the command '" + command + "' for the encryption key "
                        + (process.isAlive() ? "did not end" : "ended with code " + process.exitValue()));
            }
            return new String(text, StandardCharsets.US_ASCII);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while the command '" + command + "' gave the encryption key", e);
        } finally {
            process.destroyForcibly();
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
