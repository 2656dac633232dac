package org.udckpt.image.key;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A command of the user that prints a key. It may ask on the terminal: it has the caller's standard input and error.
 */
final class KeyCommand {
    /** In messages, which must not quote it: it may hold the key. */
    static final String NAME = "the command of --encrypt";
    private static final int MOST_OUTPUT = 4096;
    static final long SECONDS = 60;

    private KeyCommand() {}

    static String output(String command) throws IOException {
        return output(command, SECONDS);
    }

    /**
     * @throws IOException when it fails, prints too much, or it or who has its standard output has not ended in time
     */
    static String output(String command, long seconds) throws IOException {
        Process process = new ProcessBuilder("/bin/sh", "-c", command).redirectInput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        CompletableFuture<byte[]> text = new CompletableFuture<>();
        // The read ends with the last process that has the pipe, which may be never: so it is another thread's.
        Thread.ofPlatform().daemon().name("encryption-key").start(() -> read(process, text));
        try {
            byte[] bytes = text.get(seconds, TimeUnit.SECONDS);
            if (bytes.length > MOST_OUTPUT) {
                throw new IOException(NAME + " prints more than a key");
            }
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                throw new TimeoutException();
            }
            if (process.exitValue() != 0) {
                throw new IOException(NAME + " ended with code " + process.exitValue());
            }
            return new String(bytes, StandardCharsets.US_ASCII);
        } catch (TimeoutException e) {
            throw new IOException(NAME + " did not end in " + seconds + " s and was killed: it has to print the key "
                    + "and end, with all processes that it starts", e);
        } catch (ExecutionException e) {
            throw new IOException("the output of " + NAME + " could not be read: "
                    + e.getCause().getMessage(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while " + NAME + " ran", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    private static void read(Process process, CompletableFuture<byte[]> text) {
        try (InputStream out = process.getInputStream()) {
            text.complete(out.readNBytes(MOST_OUTPUT + 1));
        } catch (IOException e) {
            text.completeExceptionally(e);
        }
    }
}
