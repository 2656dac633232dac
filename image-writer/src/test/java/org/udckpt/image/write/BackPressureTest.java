package org.udckpt.image.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.Images;
import org.udckpt.image.Range;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.StorageIo;

@Timeout(180)
class BackPressureTest {
    private static final long BUDGET = 4 << 20;
    private static final long MEMORY = 64 << 20;
    @TempDir
    Path temp;

    /** A local file system whose stripes take nothing until the gate opens. */
    private record Stuck(CountDownLatch gate) implements StorageIo.Session {
        private static final StorageIo REAL = LocalStorage.INSTANCE;

        @Override
        public Output create(Path file, boolean direct) throws IOException {
            Output real = REAL.create(file, direct);
            return new Output() {
                @Override
                public boolean direct() {
                    return real.direct();
                }

                @Override
                public void append(ByteBuffer[] buffers, int count) throws IOException {
                    try {
                        if (file.toString().contains("stripe")) {
                            gate.await();
                        }
                    } catch (InterruptedException e) {
                        throw new IOException(e);
                    }
                    real.append(buffers, count);
                }

                @Override
                public void sync() throws IOException {
                    real.sync();
                }

                @Override
                public long length() throws IOException {
                    return real.length();
                }

                @Override
                public void close() throws IOException {
                    real.close();
                }
            };
        }

        @Override
        public Session session() {
            return this;
        }

        @Override
        public void close() {}

        @Override
        public boolean hasDirectory(Path directory) throws IOException {
            return REAL.hasDirectory(directory);
        }

        @Override
        public void makeDirectories(Path directory) throws IOException {
            REAL.makeDirectories(directory);
        }

        @Override
        public Kind kind(Path path) throws IOException {
            return REAL.kind(path);
        }

        @Override
        public void createDirectory(Path directory) throws IOException {
            REAL.createDirectory(directory);
        }

        @Override
        public Input open(Path file) throws IOException {
            return REAL.open(file);
        }

        @Override
        public void rename(Path from, Path to) throws IOException {
            REAL.rename(from, to);
        }

        @Override
        public void syncDirectory(Path directory) throws IOException {
            REAL.syncDirectory(directory);
        }

        @Override
        public void delete(Path path) throws IOException {
            REAL.delete(path);
        }

        @Override
        public List<Path> list(Path directory) throws IOException {
            return REAL.list(directory);
        }

        @Override
        public Closeable hold(Path file) throws IOException {
            return REAL.hold(file);
        }

        @Override
        public Optional<Closeable> exclude(Path file) throws IOException {
            return REAL.exclude(file);
        }

        @Override
        public Closeable lock(Path file) throws IOException {
            return REAL.lock(file);
        }
    }

    @Test
    void aStuckDiskStopsTheReadersAtTheBudget() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        AtomicLong read = new AtomicLong();
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"),
                Images.options().withBufferBytes(BUDGET).withStorage(new Stuck(gate)))) {
            CompletableFuture<MemoryResult> result =
                    writer.node(0, "a").memory(1, List.of(new Range(0, MEMORY)), (address, into) -> {
                        into.fill((byte) (1 + (address >> 20)));
                        read.addAndGet(into.byteSize());
                        return into.byteSize();
                    });
            long before;
            do {
                before = read.get();
                Thread.sleep(500);
            } while (read.get() != before);
            assertTrue(before > 0 && before <= BUDGET, before + " bytes were read into a budget of " + BUDGET);
            gate.countDown();
            assertEquals(MEMORY, result.get().storedBytes());
            writer.commit(Images.INFO);
        } finally {
            gate.countDown();
        }
        try (CheckpointReader reader = CheckpointReader.open(temp.resolve("c/ckpt-0001"), Images.KEY)) {
            reader.verify((_, _) -> {});
        }
    }
}
