package org.udckpt.process.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.linux.Syscall;

/** Files that a process which runs has open for writing are not put back beneath it, and nothing else is then. */
@Timeout(60)
class FilesInUseTest {
    private static final byte[] THEN = "then".getBytes(), NOW = "now, and longer".getBytes();

    @TempDir
    Path directory;

    @Test
    void whoWritesIsNamed() throws Exception {
        refused("exec 3>>log; echo ready; read end");
    }

    /** Also when it has not written yet: both would write from then on. */
    @Test
    void whoMapsToWriteIsNamed() throws Exception {
        refused("exec python3 -c 'import mmap; f = open(\"log\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); f.close(); "
                + "print(\"ready\", flush=True); input()'");
    }

    @Test
    void whoReadsIsLeftAlone() throws Exception {
        SavedFiles saved = saved();
        Process reader = holder("exec 3<log; echo ready; read end");
        try {
            saved.restore(true);
            assertArrayEquals(THEN, Files.readAllBytes(directory.resolve("log")));
        } finally {
            reader.destroyForcibly().waitFor();
        }
    }

    /** As the old incarnation of a job that was killed a moment ago. */
    @Test
    void whoIsAboutToEndIsWaitedFor() throws Exception {
        SavedFiles saved = saved();
        Process writer = holder("exec 3>>log; echo ready; sleep 0.3");
        saved.restore(true);
        assertArrayEquals(THEN, Files.readAllBytes(directory.resolve("log")));
        writer.waitFor();
    }

    private void refused(String program) throws Exception {
        SavedFiles saved = saved();
        Process writer = holder(program);
        try {
            RollbackRequest request = new RollbackRequest("ckpt-0001", true, List.of(), "", new long[0], Set.of());
            for (boolean plan : new boolean[]{true, false}) {
                FilesInUse refused = assertThrows(FilesInUse.class, () -> {
                    if (plan) {
                        Forecast.of(saved.image(), saved.contents(), request);
                    } else {
                        Rollback.prepare(saved.image(), saved.contents(), request).close();
                    }
                });
                assertTrue(
                        refused.getMessage().contains(directory.resolve("log") + ", which")
                                && refused.getMessage().contains("process " + writer.pid() + " ("),
                        refused.getMessage());
            }
            assertArrayEquals(NOW, Files.readAllBytes(directory.resolve("log")));
            try (var left = Files.list(directory)) {
                assertEquals(2, left.count());
            }
        } finally {
            writer.destroyForcibly().waitFor();
        }
        saved.restore(true);
        assertArrayEquals(THEN, Files.readAllBytes(directory.resolve("log")));
    }

    private SavedFiles saved() throws Exception {
        Path log = Files.write(directory.resolve("log"), THEN);
        Path other = Files.write(directory.resolve("other"), THEN);
        SavedFiles saved = SavedFiles.of(SavedFiles.OPEN, cut -> {
            SavedFiles.open(other, Syscall.O_RDWR).accept(cut);
            SavedFiles.open(log, Syscall.O_RDWR).accept(cut);
        }, () -> {});
        Files.write(log, NOW);
        Files.write(other, NOW);
        return saved;
    }

    private Process holder(String program) throws Exception {
        Process process =
                new ProcessBuilder("sh", "-c", program).directory(directory.toFile()).redirectErrorStream(true).start();
        assertEquals("ready", process.inputReader().readLine());
        return process;
    }
}
