package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.block.Block;
import org.udckpt.image.block.Chunk;
import org.udckpt.image.block.Codec;
import org.udckpt.image.key.ImageKey;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.image.table.RecordTable;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.WriterOptions;

/**
 * Images whose seal is right and whose tables say what no writer says: made by a writer gone wrong, or by who has the
 * key. They end in an {@link ImageError} or are read, never in another exception, a hang, or memory for a length that
 * nobody has checked.
 */
@Timeout(240)
class ImageFuzzTest {
    private static final long[] ODD =
            {0, 1, -1, 4095, 4096, -4096, 1 << 20, (1 << 20) + 4096, Integer.MAX_VALUE, Integer.MIN_VALUE, 1L << 32,
                    1L << 40, Long.MAX_VALUE, Long.MAX_VALUE & -4096, Long.MIN_VALUE};
    @TempDir
    Path temp;
    private Path target;

    /** The second of a chain, compressed. */
    @BeforeEach
    void write() throws IOException {
        Random random = new Random(11);
        WriterOptions options =
                Images.options().withForm(ImageForm.PLAIN.withIncremental(true).withZstdLevel(ImageForm.ADAPTIVE));
        List<FakeProcess> processes = Images.processes(random, 2);
        History history;
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), options)) {
            Images.fill(writer, processes);
            writer.commit(Images.INFO);
            history = writer.history();
        }
        processes.forEach(process -> process.goOn(random));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), options, history)) {
            Images.fill(writer, processes);
            writer.commit(Images.INFO);
        }
        target = temp.resolve("c/ckpt-0002");
    }

    @Tag("slow")
    @Test
    void tablesOfMemory() throws Exception {
        Random random = new Random(Images.seed("ImageFuzzTest"));
        List<Block> blocks;
        List<Chunk> chunks;
        try (CheckpointReader reader = CheckpointReader.open(target, Images.KEY)) {
            blocks = reader.table("blocks", Block.class);
            chunks = reader.table("chunks", Chunk.class);
        }
        Map<Path, byte[]> good = contents();
        int refused = 0;
        for (int i = 0; i < 1500; i++) {
            if (random.nextBoolean()) {
                replace("node-0000.blocks.arrow",
                        RecordTable.of(Block.class).encode(damaged(blocks, random, ImageFuzzTest::block)));
            } else {
                replace("node-0000.chunks.arrow",
                        RecordTable.of(Chunk.class).encode(damaged(chunks, random, ImageFuzzTest::chunk)));
            }
            refused += isRefused() ? 1 : 0;
            for (var file : good.entrySet()) {
                Files.write(file.getKey(), file.getValue());
            }
        }
        assertTrue(refused > 900, "only " + refused + " refused");
        assertTrue(!isRefused(), "the good one");
    }

    /** Only the three files that a change touches. */
    private Map<Path, byte[]> contents() throws IOException {
        Map<Path, byte[]> contents = new java.util.HashMap<>();
        for (String name : List.of("manifest", "node-0000.blocks.arrow", "node-0000.chunks.arrow")) {
            contents.put(target.resolve(name), Files.readAllBytes(target.resolve(name)));
        }
        return contents;
    }

    private interface Change<T> {
        T of(T row, Random random);
    }

    private static <T> List<T> damaged(List<T> rows, Random random, Change<T> change) {
        List<T> damaged = new ArrayList<>(rows);
        for (int n = 1 + random.nextInt(2); n > 0; n--) {
            int at = random.nextInt(damaged.size());
            switch (random.nextInt(8)) {
                case 0 -> damaged.remove(at);
                case 1 -> damaged.add(at, damaged.get(random.nextInt(damaged.size())));
                default -> damaged.set(at, change.of(damaged.get(at), random));
            }
        }
        return damaged;
    }

    private static long odd(Random random, long value) {
        return random.nextInt(3) > 0 ? ODD[random.nextInt(ODD.length)] : value + (random.nextBoolean() ? 4096 : -4096);
    }

    private static Block block(Block b, Random random) {
        long odd = odd(random, b.length());
        return switch (random.nextInt(8)) {
            case 0 -> new Block((int) odd, b.offset(), b.length(), b.packed(), b.codec(), b.checksum(), b.digest(),
                    b.seal());
            case 1 -> new Block(b.stripe(), odd(random, b.offset()), b.length(), b.packed(), b.codec(), b.checksum(),
                    b.digest(), b.seal());
            case 2 -> new Block(b.stripe(), b.offset(), (int) odd, b.packed(), b.codec(), b.checksum(), b.digest(),
                    b.seal());
            case 3 -> new Block(b.stripe(), b.offset(), b.length(), (int) odd(random, b.packed()), b.codec(),
                    b.checksum(), b.digest(), b.seal());
            case 4 -> new Block(b.stripe(), b.offset(), b.length(), b.packed(),
                    random.nextBoolean() ? null : other(b.codec(), random),
                    b.checksum(), b.digest(), b.seal());
            case 5 -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), odd, b.digest(), b.seal());
            case 6 -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), b.checksum(),
                    random.nextBoolean() ? null : new byte[random.nextInt(40)], b.seal());
            default -> new Block(b.stripe(), b.offset(), b.length(), b.packed(), b.codec(), b.checksum(), b.digest(),
                    new byte[random.nextInt(40)]);
        };
    }

    private static Codec other(Codec codec, Random random) {
        Codec[] all = Codec.values();
        return codec == null ? all[random.nextInt(all.length)]
                : all[(codec.ordinal() + 1 + random.nextInt(all.length - 1)) % all.length];
    }

    private static Chunk chunk(Chunk c, Random random) {
        return switch (random.nextInt(7)) {
            case 0 -> new Chunk((int) odd(random, c.process()), c.address(), c.length(), c.checkpoint(), c.block(),
                    c.within(), c.kind());
            case 1 -> new Chunk(c.process(), odd(random, c.address()), c.length(), c.checkpoint(), c.block(),
                    c.within(), c.kind());
            case 2 -> new Chunk(c.process(), c.address(), odd(random, c.length()), c.checkpoint(), c.block(),
                    c.within(), c.kind());
            case 3 -> new Chunk(c.process(), c.address(), c.length(), random.nextInt(4), c.block(), c.within(),
                    c.kind());
            case 4 -> new Chunk(c.process(), c.address(), c.length(), c.checkpoint(), (int) odd(random, c.block()),
                    c.within(), c.kind());
            case 5 -> new Chunk(c.process(), c.address(), c.length(), c.checkpoint(), c.block(),
                    (int) odd(random, c.within()), c.kind());
            default -> new Chunk(c.process(), c.address(), c.length(), c.checkpoint(), c.block(), c.within(),
                    random.nextBoolean() ? null : c.kind() == Chunk.Kind.DATA ? Chunk.Kind.ZERO : Chunk.Kind.DATA);
        };
    }

    /** Another content of a table, and a manifest that vouches for it. */
    private void replace(String name, byte[] content) throws IOException {
        Files.write(target.resolve(name), content);
        Path manifest = target.resolve("manifest");
        String text = Files.readString(manifest, StandardCharsets.US_ASCII);
        String body =
                text.substring(0, text.lastIndexOf("mac ")).replaceFirst("file " + name + " \\d+ sha256 [0-9a-f]{64}",
                        "file " + name + " " + content.length + " sha256 "
                                + HexFormat.of().formatHex(ImageKey.sha256(content)));
        Files.writeString(manifest, body + "mac "
                + HexFormat.of().formatHex(Images.KEY.mac(body.getBytes(StandardCharsets.US_ASCII))) + "\n");
    }

    /** Verifies it, and reads both ends of all memory that it says it has. */
    private boolean isRefused() throws IOException {
        try (Arena arena = Arena.ofConfined(); CheckpointReader reader = CheckpointReader.open(target, Images.KEY)) {
            for (int process : reader.processes().get(0)) {
                MemoryReader memory = reader.memory(0, process);
                MemorySegment page = arena.allocate(Range.PAGE, Range.PAGE);
                for (Range range : memory.ranges()) {
                    memory.read(range.address(), page);
                    memory.read(range.end() - Range.PAGE, page);
                }
            }
            reader.verify((_, _) -> {});
            return false;
        } catch (ImageError e) {
            return true;
        }
    }
}
