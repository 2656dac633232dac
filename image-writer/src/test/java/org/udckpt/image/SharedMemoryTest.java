package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.NodeWriter;
import org.udckpt.image.write.WriterOptions;

/** Memory that several processes have in common, and that is stored once. */
@Timeout(180)
class SharedMemoryTest {
    private static final int PAGES = 400;
    private static final long START = 0x100000L;

    @TempDir
    Path temp;
    private History history;

    /** A child: its parent's memory, but for some pages. */
    private static FakeProcess child(int id, FakeProcess parent, Random random) {
        FakeProcess child = new FakeProcess(id, random, 1, 1);
        child.memory.clear();
        byte[] bytes = parent.memory.get(START).clone();
        for (int page = 0; page < PAGES; page++) {
            if (random.nextInt(6) == 0) {
                bytes[page * Range.PAGE + random.nextInt(Range.PAGE)]++;
            }
        }
        child.memory.put(START, bytes);
        return child;
    }

    private static FakeProcess parent(Random random) {
        FakeProcess parent = new FakeProcess(1, random, 1, 1);
        parent.memory.clear();
        byte[] bytes = new byte[PAGES * Range.PAGE];
        random.nextBytes(bytes);
        for (int page = 0; page < PAGES; page++) {
            if (random.nextInt(3) == 0) {
                java.util.Arrays.fill(bytes, page * Range.PAGE, (page + 1) * Range.PAGE, (byte) 0);
            }
        }
        parent.memory.put(START, bytes);
        return parent;
    }

    private static List<Range> pages(FakeProcess one, FakeProcess other, boolean same) {
        List<Range> ranges = new ArrayList<>();
        byte[] a = one.memory.get(START);
        byte[] b = other.memory.get(START);
        for (int at = 0; at < a.length; at += Range.PAGE) {
            if (java.util.Arrays.equals(a, at, at + Range.PAGE, b, at, at + Range.PAGE) == same) {
                ranges.add(new Range(START + at, Range.PAGE));
            }
        }
        return ranges;
    }

    private Manifest write(WriterOptions options, List<FakeProcess> family) throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), options, history)) {
            NodeWriter node = writer.node(0, "host");
            FakeProcess parent = family.getFirst();
            node.memory(parent.id, parent.ranges(), parent);
            for (FakeProcess child : family.subList(1, family.size())) {
                node.memory(child.id, pages(child, parent, false), child);
                node.share(child.id, parent.id, pages(child, parent, true));
            }
            Manifest manifest = writer.commit(Images.INFO);
            history = options.form().incremental() ? writer.history() : null;
            return manifest;
        }
    }

    private static void goOn(FakeProcess process, Random random) {
        byte[] bytes = process.memory.get(START);
        for (int i = 0; i < 20; i++) {
            bytes[random.nextInt(bytes.length)]++;
        }
    }

    @Tag("slow")
    @Test
    void everyProcessHasItsOwnMemory() throws Exception {
        Random random = new Random(Images.seed("SharedMemoryTest"));
        for (int round = 0; round < 12; round++) {
            WriterOptions any = Images.randomOptions(random);
            WriterOptions options = any.withForm(any.form().withIncremental(round % 2 == 0));
            history = null;
            FakeProcess parent = parent(random);
            List<FakeProcess> family = List.of(parent, child(2, parent, random), child(3, parent, random));
            for (int generation = 0; generation < 3; generation++) {
                Manifest manifest = write(options, family);
                Path directory = temp.resolve("c").resolve(ImageNames.directory(manifest.id()));
                Images.assertHolds(directory, family);
                try (CheckpointReader reader = CheckpointReader.open(directory, Images.SECRET_KEY)) {
                    reader.verify((_, _) -> {});
                    assertNamesTheSame(reader, parent, family.get(1));
                }
                goOn(family.get(random.nextInt(family.size())), random);
            }
        }
    }

    /** A restart knows what is shared by the blocks that rows name. */
    private static void assertNamesTheSame(CheckpointReader reader, FakeProcess parent, FakeProcess child)
            throws IOException {
        List<Chunk> theirs = reader.memory(parent.id).chunks();
        List<Chunk> own = reader.memory(child.id).chunks();
        for (Range page : pages(parent, child, true)) {
            Chunk a = at(theirs, page.address());
            Chunk b = at(own, page.address());
            assertEquals(a.kind(), b.kind());
            assertEquals(a.block(), b.block());
            assertEquals(a.checkpoint(), b.checkpoint());
            assertTrue(a.kind() == Chunk.Kind.ZERO || a.within() - a.address() == b.within() - b.address(),
                    a + " and " + b);
        }
    }

    private static Chunk at(List<Chunk> chunks, long address) {
        return chunks.stream().filter(chunk -> chunk.address() <= address && address < chunk.end()).findFirst()
                .orElseThrow();
    }

    @Test
    void itIsStoredOnce() throws Exception {
        FakeProcess parent = parent(new Random(1));
        FakeProcess child = child(2, parent, new Random(2));
        long alone = stripes(write(Images.options(), List.of(parent)));
        long both = stripes(write(Images.options(), List.of(parent, child)));
        int own = pages(parent, child, false).size();
        assertTrue(both <= alone + (long) own * Range.PAGE,
                both + " bytes, and " + alone + " of one process and " + own + " pages");
    }

    @Test
    void whatIsNotStoredCannotBeShared() throws Exception {
        FakeProcess parent = parent(new Random(1));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options(), null)) {
            NodeWriter node = writer.node(0, "host");
            node.memory(1, parent.ranges(), parent);
            node.share(2, 1, List.of(new Range(START + (long) PAGES * Range.PAGE, Range.PAGE)));
            assertThrows(IllegalArgumentException.class, () -> writer.commit(Images.INFO));
        }
    }

    private static long stripes(Manifest manifest) {
        return manifest.files().stream().filter(file -> file.name().contains("stripe"))
                .mapToLong(Manifest.FileEntry::length).sum();
    }
}
