package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.linux.Folder;
import org.udckpt.linux.Trust;

/** A process waits for the lock of a directory of checkpoints for a limited time, and its message names the holder. */
@Timeout(60)
class ExclusiveLockTest {
    @TempDir
    Path temp;

    private Closeable take(Folder folder, long seconds) throws ImageError {
        return ExclusiveLock.take(temp.resolve("lock"), folder, "lock", seconds);
    }

    @Test
    void anotherProcessIsNamed() throws Exception {
        try (Folder folder = Folder.reach(temp.toString(), Trust.OWN)) {
            take(folder, 1).close();
            assertEquals("rw-------",
                    PosixFilePermissions.toString(Files.getPosixFilePermissions(temp.resolve("lock"))));
            Process holder =
                    new ProcessBuilder(Path.of(System.getProperty("udckpt.native"), "attacks", "hold_lock").toString(),
                            temp.resolve("lock").toString()).start();
            try {
                assertEquals(3, Integer.parseInt(holder.inputReader().readLine()),
                        "a process of the same user can have it");
                String message = assertThrows(ImageError.Busy.class, () -> take(folder, 1)).getMessage();
                assertTrue(
                        message.startsWith(
                                temp.resolve("lock") + ": is locked by process " + holder.pid() + " (hold_lock)"),
                        message);
                CompletableFuture<Closeable> waiting = CompletableFuture.supplyAsync(() -> {
                    try {
                        return take(folder, 30);
                    } catch (ImageError e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                });
                Thread.sleep(300);
                assertTrue(!waiting.isDone(), "it waits");
                holder.outputWriter().close();
                waiting.get(20, TimeUnit.SECONDS);
            } finally {
                holder.destroyForcibly();
            }
        }
    }

    @Test
    void anotherThreadIsWaitedFor() throws Exception {
        try (Folder folder = Folder.reach(temp.toString(), Trust.OWN); Closeable held = take(folder, 1)) {
            String message = CompletableFuture
                    .supplyAsync(() -> assertThrows(ImageError.Busy.class, () -> take(folder, 1)).getMessage())
                    .get(20, TimeUnit.SECONDS);
            assertTrue(message.contains("is locked by another thread of this process"), message);
        }
    }

    @Test
    void aFileThatOthersCanOpenIsRefused() throws Exception {
        Path lock = Files.createFile(temp.resolve("lock"));
        Files.setPosixFilePermissions(lock, PosixFilePermissions.fromString("rw-rw-rw-"));
        assertTrue(assertThrows(ImageError.Untrusted.class, () -> LocalStorage.INSTANCE.lock(lock)).getMessage()
                .contains("other users could hold it forever"));
        Files.setPosixFilePermissions(lock, PosixFilePermissions.fromString("rw-------"));
        Files.createLink(temp.resolve("other name"), lock);
        assertThrows(ImageError.Untrusted.class, () -> LocalStorage.INSTANCE.lock(lock));
    }
}
