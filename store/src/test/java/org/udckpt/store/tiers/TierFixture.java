package org.udckpt.store.tiers;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.Range;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.WriterOptions;
import org.udckpt.store.Tiers;

/** Two tiers in a temporary directory, and small checkpoints in the fast one. */
abstract class TierFixture {
    static final int MEMORY = 64 * Range.PAGE;
    static final Duration LONG = Duration.ofMinutes(2);

    @TempDir
    Path temp;
    Tiers tiers;
    WriterOptions options;

    @BeforeEach
    void open() throws Exception {
        tiers = Tiers.parse("slow=" + temp.resolve("slow") + ",fast=" + temp.resolve("fast")).orElseThrow();
        options = WriterOptions.of(ImageKey.ofUser(Map.of("UDCKPT_KEY_FILE", temp.resolve("key").toString())))
                .withBufferBytes(4 << 20);
    }

    String write() throws IOException {
        return write("a");
    }

    String write(String job) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(tiers.fast().path(), options)) {
            writer.node(0, "a").memory(1, List.of(new Range(0, MEMORY)), (address, into) -> {
                into.fill((byte) (1 + writer.id()));
                return into.byteSize();
            });
            writer.commit(CheckpointInfo.now(1, Map.of("job", job)));
            return writer.name();
        }
    }

    List<String> complete(Path directory) throws IOException {
        return !Files.isDirectory(directory) ? List.of() : new Catalogue(directory, options.key()).list().stream()
                .filter(entry -> entry.state() == Catalogue.State.COMPLETE).map(Catalogue.Entry::name).toList();
    }

    void assertTiers(List<String> fast, List<String> slow) throws IOException {
        assertEquals(fast, complete(tiers.fast().path()), "fast");
        assertEquals(slow, complete(tiers.slow().path()), "slow");
        for (String name : slow) {
            try (CheckpointReader reader = CheckpointReader.open(tiers.slow().path().resolve(name), options.key())) {
                reader.verify((done, total) -> {});
            }
        }
    }

    void await(TierFlush flush, String id) throws InterruptedException {
        while (!flush.state().drained().equals(id)) {
            Thread.sleep(5);
        }
    }

    void awaitProblem(TierFlush flush, String id) throws InterruptedException {
        while (!flush.state().problem().contains("copying " + id)) {
            Thread.sleep(5);
        }
    }
}
