package org.udckpt.image.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.Images;
import org.udckpt.image.Range;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.write.CheckpointWriter;

@Timeout(60)
class CourtesyTest {
    private static final long MEMORY = 8 << 20;
    @TempDir
    Path temp;

    /** The thread that reads a process says what the system thinks of it, and of the other threads of the pipeline. */
    @Test
    void threadsInTheBackground() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        write(new Courtesy(RateLimit.NONE, true), seen);
        assertTrue(seen.contains("nice 19, idle"), seen.toString());
        assertTrue(seen.stream().allMatch(text -> text.endsWith("idle")), seen + ": a thread is idle first, then nice");
        seen.clear();
        awaitNone();
        write(Courtesy.NONE, seen);
        assertTrue(seen.stream().noneMatch(text -> text.startsWith("nice 19") || text.endsWith("idle")),
                seen.toString());
    }

    private void write(Courtesy courtesy, Set<String> seen) throws Exception {
        try (CheckpointWriter writer =
                CheckpointWriter.create(temp.resolve("c"), Images.options().withCourtesy(courtesy))) {
            writer.node(0, "a").memory(1, List.of(new Range(0, MEMORY)), (address, into) -> {
                if (seen.isEmpty()) {
                    seen.addAll(whenBegun(courtesy));
                }
                into.fill((byte) 1);
                return into.byteSize();
            });
            writer.commit(Images.INFO);
        }
    }

    /** Each thread makes itself so when it begins, and some may not have begun. */
    private static Set<String> whenBegun(Courtesy courtesy) throws IOException {
        long end = System.nanoTime() + 30_000_000_000L;
        Set<String> threads = imageThreads();
        while (courtesy.background() && !threads.stream().allMatch(text -> text.endsWith("idle"))
                && System.nanoTime() < end) {
            java.util.concurrent.locks.LockSupport.parkNanos(10_000_000);
            threads = imageThreads();
        }
        return threads;
    }

    /** The first write's threads end behind it, and are not the second's. */
    private static void awaitNone() throws Exception {
        long end = System.nanoTime() + 30_000_000_000L;
        while (!imageThreads().isEmpty() && System.nanoTime() < end) {
            Thread.sleep(10);
        }
    }

    /** Only threads with the pipeline's names (15 bytes of them, PR_SET_NAME). */
    private static Set<String> imageThreads() throws IOException {
        Set<String> found = ConcurrentHashMap.newKeySet();
        try (var tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                String name = Files.readString(task.resolve("comm")).strip();
                if (name.startsWith("udckpt-image") || name.startsWith("udckpt-read")) {
                    String stat = Files.readString(task.resolve("stat"), StandardCharsets.ISO_8859_1);
                    String nice = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19 - 3]; // proc_pid_stat(5)
                    found.add("nice " + nice + ", " + ioClass(task.getFileName().toString()));
                }
            }
        }
        return found;
    }

    private static String ioClass(String tid) throws IOException {
        Process ionice = new ProcessBuilder("ionice", "-p", tid).redirectErrorStream(true).start();
        return new String(ionice.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
    }

    /** A checkpoint that would take years is given up at once. */
    @Test
    void aLimitedWriteCanBeGivenUp() throws Exception {
        CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"),
                Images.options().withCourtesy(new Courtesy(RateLimit.of(1), false)));
        var result = writer.node(0, "a").memory(1, List.of(new Range(0, 16 * MEMORY)), (address, into) -> {
            into.fill((byte) 1);
            return into.byteSize();
        });
        Thread.sleep(300);
        assertFalse(result.isDone());
        long begin = System.nanoTime();
        writer.close();
        assertTrue(System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(30));
        assertTrue(result.isCompletedExceptionally());
        assertEquals(List.of(), new Catalogue(temp.resolve("c"), Images.KEY).list());
    }

    /** Half a second of debt, of which a tenth is saved up; the bound is below, so a slow machine does not matter. */
    @Test
    void aLimitedWriteTakesItsTime() throws Exception {
        RateLimit limit = RateLimit.of(16 << 20);
        limit.claim(8 << 20);
        long begin = System.nanoTime();
        write(new Courtesy(limit, false), ConcurrentHashMap.newKeySet());
        assertTrue(System.nanoTime() - begin > 300_000_000L, "nobody waited");
    }
}
