package org.udckpt.lifecycle.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.Manifest;
import org.udckpt.image.Range;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.write.CheckpointInfo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.WriteMeter;
import org.udckpt.store.Damage;
import org.udckpt.store.ImageOptions;
import org.udckpt.store.Keys;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Checkpoints that are based on each other, of which older ones go. */
@Timeout(60)
class ImageChainTest {
    private static final int PAGES = 16;
    private static final String JOB = "job";

    @TempDir
    Path directory;
    private final Settings settings = Settings.load().flag(Option.KEEP, "1").flag(Option.FULL_INTERVAL, "6");
    private final Damage damage = new Damage();

    private Path images() {
        return directory.resolve("images");
    }

    /** Memory of which the first page changes. */
    private Manifest take(ImageChain chain) throws IOException {
        return take(chain, JOB);
    }

    private Manifest take(ImageChain chain, String job) throws IOException {
        try (CheckpointWriter writer = chain.begin(new WriteMeter())) {
            writer.node(0, "a").memory(1, List.of(new Range(0, PAGES * Range.PAGE)), (address, into) -> {
                for (long page = 0; page < into.byteSize(); page += Range.PAGE) {
                    into.set(ValueLayout.JAVA_LONG, page,
                            address + page == 0 ? 1000 + writer.id() : 1 + address + page);
                }
                return into.byteSize();
            });
            Manifest manifest = writer.commit(CheckpointInfo.now(1, Map.of("job", job)));
            chain.complete(writer);
            return manifest;
        }
    }

    private ImageChain chain() {
        return new ImageChain(settings, images(), ImageOptions.of(settings), () -> {}, damage);
    }

    private String pruned() {
        PrintStream before = System.err;
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        System.setErr(new PrintStream(errors, true));
        try {
            new DirectoryRetention(settings, images(), entry -> entry.manifest().labels().get("job").equals(JOB),
                    damage).run();
        } finally {
            System.setErr(before);
        }
        return errors.toString();
    }

    private List<String> names() throws IOException {
        return new Catalogue(images(), Keys.user(settings)).list().stream().map(Catalogue.Entry::name).toList();
    }

    /**
     * What pruning has just found damaged is not what the next checkpoint is based on: it is whole, and then the
     * damaged ones may go.
     */
    @Test
    void theCheckpointAfterADamagedOneHoldsEverything() throws Exception {
        ImageChain chain = chain();
        assertEquals(List.of(), take(chain).bases());
        assertEquals("", pruned());
        try (RandomAccessFile stripe =
                new RandomAccessFile(images().resolve("ckpt-0001/node-0000.stripe-00").toFile(), "rw")) {
            stripe.seek(2 * Range.PAGE);
            stripe.write(0x55);
        }
        assertEquals(List.of(1L), take(chain).bases().stream().map(Manifest.Base::id).toList());
        String said = pruned();
        assertTrue(said.contains("old checkpoints are kept: ") && said.contains("ckpt-0001/node-0000.stripe-00"), said);
        assertEquals(List.of("ckpt-0001", "ckpt-0002"), names());
        assertEquals(List.of(), take(chain).bases());
        assertEquals("", pruned());
        assertEquals(List.of("ckpt-0003"), names());
        assertEquals(List.of(3L), take(chain).bases().stream().map(Manifest.Base::id).toList());
    }

    /** Two jobs take their checkpoints in one directory: each counts its own, and removes its own. */
    @Test
    void anotherJobsCheckpointsNeitherCountNorGo() throws Exception {
        ImageChain own = chain();
        ImageChain other = chain();
        take(other, "other");
        take(own);
        assertEquals("", pruned());
        assertEquals(List.of("ckpt-0001", "ckpt-0002"), names(), "one each");
        assertEquals(List.of(1L), take(other, "other").bases().stream().map(Manifest.Base::id).toList());
        settings.flag(Option.FULL_INTERVAL, "1");
        take(chain());
        assertEquals("", pruned());
        assertEquals(List.of("ckpt-0001", "ckpt-0003", "ckpt-0004"), names());
    }

    @Test
    void aFileInPlaceOfTheDirectoryIsSaid() throws Exception {
        Files.createFile(images());
        ImageChain chain = chain();
        Failure failure = assertThrows(Failure.class, () -> chain.begin(new WriteMeter()));
        assertEquals(ExitCode.IO, failure.code());
        assertTrue(failure.getMessage().contains("starting a checkpoint in " + images() + ": not a directory: "
                + images()), failure.getMessage());
    }
}
