package org.udckpt.system;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A file system in memory, whose size is the test's. Mounting one takes root. */
final class SmallDisk implements AutoCloseable {
    static final long ROOMY = 1L << 30;
    private final Path directory;

    private SmallDisk(Path directory) {
        this.directory = directory;
    }

    /** Null: it is not permitted here. @param directory which is there, and empty */
    static SmallDisk mount(Path directory) throws Exception {
        return run("mount", "-t", "tmpfs", "-o", "size=" + ROOMY + ",mode=700", "udckpt-test", directory.toString())
                == 0 ? new SmallDisk(directory) : null;
    }

    /** Leaves room for so many bytes. */
    void shrink(long left) throws Exception {
        FileStore store = Files.getFileStore(directory);
        resize(store.getTotalSpace() - store.getUnallocatedSpace() + left);
    }

    void resize(long bytes) throws Exception {
        assertEquals(0, run("mount", "-o", "remount,size=" + bytes, directory.toString()));
    }

    static int run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(List.of(command)).inheritIO().start().waitFor();
    }

    @Override
    public void close() throws IOException, InterruptedException {
        run("umount", "-l", directory.toString());
    }
}
