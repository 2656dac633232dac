package org.udckpt.image;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.block.Block;
import org.udckpt.image.catalogue.Catalogue;
import org.udckpt.image.key.EncryptionSecret;
import org.udckpt.image.key.ImageCipher;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.read.MemoryReader;
import org.udckpt.image.read.NodeReader;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.storage.WatchedStorage;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.PageHistory;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.PartWriter;
import org.udckpt.image.write.Phase;
import org.udckpt.image.write.PhaseTime;
import org.udckpt.image.write.WriterOptions;

/** Checkpoints of several nodes, whose parts are written by others than the one who commits. */
@Timeout(120)
class PartTest {
    private static final int NODES = 3, CHECKPOINTS = 4;

    @TempDir
    Path temp;

    /** One at work on its own node, who knows of the others what went over the wire. */
    private static final class Peer {
        final int index;
        final List<FakeProcess> processes;
        private PageHistory committed;

        Peer(int index, Random random) {
            this.index = index;
            this.processes = Images.processes(random, 1 + random.nextInt(3));
        }

        /** @return its report */
        byte[] write(byte[] order, WriterOptions options) throws IOException {
            try (PartWriter part =
                    PartWriter.open(PartOrder.decode(order), index, "host " + index, options, committed)) {
                for (FakeProcess process : processes) {
                    part.node().memory(process.id, process.ranges(), process);
                }
                part.node().table("names", Images.Named.class, List.of(new Images.Named(index, "of node " + index)));
                byte[] report = part.finish().encode();
                committed = part.pages();
                return report;
            }
        }
    }

    @Tag("slow")
    @Test
    void writtenByManyReadAsOne() throws Exception {
        Random random = new Random(Images.seed("PartTest.writtenByManyReadAsOne"));
        for (int round = 0; round < 6; round++) {
            chain(temp.resolve("c" + round), Images.randomOptions(random), random);
        }
    }

    private static void chain(Path parent, WriterOptions options, Random random) throws IOException {
        List<Peer> peers = new ArrayList<>();
        for (int index = 0; index < NODES; index++) {
            peers.add(new Peer(index, random));
        }
        History history = null;
        for (int id = 1; id <= CHECKPOINTS; id++) {
            try (CheckpointWriter writer = CheckpointWriter.create(parent, options, history)) {
                byte[] order = writer.order(NODES).encode();
                for (Peer peer : peers) {
                    writer.add(PartReport.decode(peer.write(order, options)));
                }
                Manifest manifest = writer.commit(Images.INFO);
                assertEquals(NODES, manifest.nodes().size());
                boolean based = id > 1 && options.form().incremental();
                assertTrue(based || manifest.bases().isEmpty(), "without a history all is stored");
                history = writer.history();
            }
            holds(parent.resolve(ImageNames.directory(id)), peers);
            peers.forEach(peer -> peer.processes.forEach(process -> process.goOn(random)));
        }
    }

    private static void holds(Path checkpoint, List<Peer> peers) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
            for (Peer peer : peers) {
                NodeReader node = reader.node(peer.index);
                assertEquals("host " + peer.index, node.host());
                assertEquals(peer.processes.stream().map(process -> process.id).sorted().toList(), node.processes(),
                        "and none of another node");
                for (FakeProcess process : peer.processes) {
                    process.assertEqualTo(node.memory(process.id));
                }
                assertEquals(List.of(new Images.Named(peer.index, "of node " + peer.index)),
                        node.table("names", Images.Named.class));
                assertEquals("node-000" + peer.index + ".names.arrow",
                        node.file("names").getFileName().toString().replace(".aes", ""));
                assertEquals(List.of(), node.tableIfThere("phases", PhaseTime.class), "it is the job's");
                assertThrows(ImageError.Missing.class, () -> node.table("phases", PhaseTime.class));
            }
        }
    }

    @Test
    void stopsAreThoseOfTheNodesRanks() throws Exception {
        Path parent = temp.resolve("c");
        long[][] stops = {{7, 9}, {40, 1}, {3}};
        try (CheckpointWriter writer = CheckpointWriter.create(parent, Images.options())) {
            byte[] order = writer.order(stops.length).encode();
            int rank = 0;
            for (int node = 0; node < stops.length; node++) {
                List<PhaseTime> phases = new ArrayList<>(List.of(new PhaseTime(PhaseTime.JOB, Phase.SUSPEND, 100),
                        new PhaseTime(PhaseTime.JOB, Phase.WAIT, 1000 * node)));
                for (long stop : stops[node]) {
                    phases.add(new PhaseTime(rank++, Phase.RESUME, stop));
                }
                try (PartWriter part =
                        PartWriter.open(PartOrder.decode(order), node, "host " + node, Images.options(), null)) {
                    part.statistics(phases);
                    writer.add(PartReport.decode(part.finish().encode()));
                }
            }
            writer.statistics(List.of(new PhaseTime(PhaseTime.JOB, Phase.SUSPEND, 5555)));
            Manifest manifest = writer.commit(Images.INFO);
            assertEquals(2103, manifest.stopMaxNanos());
            assertEquals(1101, manifest.stopMedianNanos(), "of 107, 109, 1101, 1140 and 2103");
        }
        try (CheckpointReader reader = CheckpointReader.open(parent.resolve("ckpt-0001"), Images.SECRET_KEY)) {
            reader.verify((_, _) -> {});
            assertEquals(
                    List.of(new PhaseTime(PhaseTime.JOB, Phase.SUSPEND, 100),
                            new PhaseTime(PhaseTime.JOB, Phase.WAIT, 1000), new PhaseTime(2, Phase.RESUME, 40),
                            new PhaseTime(3, Phase.RESUME, 1), new PhaseTime(PhaseTime.JOB, Phase.WRITE, 0)),
                    reader.node(1).table("phases", PhaseTime.class));
            assertEquals(5555, reader.jobTable("phases", PhaseTime.class).getFirst().nanoseconds(),
                    "the job's are beside");
        }
    }

    @Test
    void whoReadsOneNodeLooksAtNoOthersFiles() throws Exception {
        WriterOptions options = Images.options().withForm(Images.options().form().withIncremental(true));
        Path parent = temp.resolve("c");
        chain(parent, options, new Random(Images.seed("PartTest.whoReadsOneNode")));
        Path newest = parent.resolve(ImageNames.directory(CHECKPOINTS));
        Set<String> opened = new TreeSet<>();
        StorageIo io = WatchedStorage.of((call, path) -> {
            if (call.equals("open")) {
                opened.add(path.getFileName().toString());
            }
        });
        try (CheckpointReader reader = CheckpointReader.openNode(newest, Images.SECRET_KEY, io, 1)) {
            NodeReader node = reader.node(1);
            for (int process : node.processes()) {
                MemoryReader memory = node.memory(process);
                for (Range range : memory.ranges()) {
                    memory.read(range.address(), java.lang.foreign.Arena.ofAuto().allocate(range.length()));
                }
            }
            assertTrue(opened.contains("node-0001.chunks.arrow") && opened.contains("job.phases.arrow"),
                    opened.toString());
            assertTrue(opened.stream().noneMatch(file -> file.startsWith("node-0000") || file.startsWith("node-0002")),
                    opened.toString());
        }
        assertThrows(ImageError.Missing.class, () -> CheckpointReader.openNode(newest, Images.SECRET_KEY, io, NODES));
        Files.write(newest.resolve("node-0002.names.arrow"), new byte[1]);
        try (CheckpointReader reader = CheckpointReader.openNode(newest, Images.SECRET_KEY, io, 1)) {
            assertThrows(ImageError.Corrupt.class, () -> reader.node(2).table("names", Images.Named.class),
                    "found when it is read");
        }
        assertThrows(ImageError.Corrupt.class, () -> CheckpointReader.open(newest, Images.SECRET_KEY),
                "who opens all looks at all");
        Files.write(newest.resolve("node-0001.names.arrow"), new byte[1]);
        assertThrows(ImageError.Corrupt.class, () -> CheckpointReader.openNode(newest, Images.SECRET_KEY, io, 1),
                "and at its own");
    }

    @Test
    void noNonceOfTwoNodesIsTheSame() throws Exception {
        Path parent = temp.resolve("c");
        List<Peer> peers = List.of(new Peer(0, new Random(1)), new Peer(1, new Random(2)));
        Manifest manifest;
        try (CheckpointWriter writer = CheckpointWriter.create(parent, Images.encrypted())) {
            byte[] order = writer.order(peers.size()).encode();
            for (Peer peer : peers) {
                writer.add(PartReport.decode(peer.write(order, Images.encrypted())));
            }
            writer.table("job", Images.Named.class, List.of());
            manifest = writer.commit(Images.INFO);
        }
        Set<ByteBuffer> nonces = new HashSet<>();
        int sealed = 0;
        try (CheckpointReader reader = CheckpointReader.open(parent.resolve("ckpt-0001"), Images.SECRET_KEY)) {
            for (Peer peer : peers) {
                for (Block block : reader.table(peer.index, "blocks", Block.class)) {
                    nonces.add(ByteBuffer.wrap(block.seal(), 0, ImageCipher.NONCE_BYTES));
                    sealed++;
                }
            }
        }
        for (Manifest.FileEntry entry : manifest.files()) {
            if (entry.sha256() != null) {
                nonces.add(ByteBuffer.wrap(Files.readAllBytes(parent.resolve("ckpt-0001").resolve(entry.name())), 0,
                        ImageCipher.NONCE_BYTES));
                sealed++;
            }
        }
        assertTrue(sealed > 10, sealed + " sealed pieces");
        assertEquals(sealed, nonces.size());
    }

    @Test
    void aNodeThatSeesAnotherDirectoryIsToldApart() throws Exception {
        Peer peer = new Peer(1, new Random(3));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            PartOrder elsewhere = new PartOrder(temp.resolve("other").resolve(writer.name()), 0, Images.KEY.id(),
                    Manifest.Integrity.XXH3, null, null);
            String message =
                    assertThrows(ImageError.Missing.class, () -> peer.write(elsewhere.encode(), Images.options()))
                            .getMessage();
            assertTrue(message.contains("not visible on host 1"), message);

            PartReport report = PartReport.decode(peer.write(writer.order(1).encode(), Images.options()));
            Files.delete(writer.directory().resolve(report.files().getFirst().name()));
            message = assertThrows(ImageError.Missing.class, () -> writer.add(report)).getMessage();
            assertTrue(message.contains("written by node 1 (host 1), but not visible here"), message);
            assertThrows(IllegalStateException.class, () -> writer.commit(Images.INFO),
                    "nobody commits without a part that was lost");
        }
        assertEquals(List.of(), new Catalogue(temp.resolve("c"), Images.KEY).list(), "all parts are gone with it");
    }

    @Test
    void nothingExistsWithoutAPartThatWasOrdered() throws Exception {
        Path parent = temp.resolve("c");
        try (CheckpointWriter writer = CheckpointWriter.create(parent, Images.options())) {
            byte[] order = writer.order(2).encode();
            writer.add(PartReport.decode(new Peer(1, new Random(7)).write(order, Images.options())));
            String message = assertThrows(IOException.class, () -> writer.commit(Images.INFO)).getMessage();
            assertTrue(
                    message.contains(
                            "2 nodes had to write their parts, but 1 have reported durable parts: [1 (host 1)]"),
                    message);
        }
        assertEquals(List.of(), new Catalogue(parent, Images.KEY).list());
    }

    @Test
    void aPartThatIsShorterHereIsRefused() throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            PartReport report =
                    PartReport.decode(new Peer(1, new Random(4)).write(writer.order(1).encode(), Images.options()));
            Files.write(writer.directory().resolve(report.files().getFirst().name()), new byte[1]);
            String message = assertThrows(ImageError.Corrupt.class, () -> writer.add(report)).getMessage();
            assertTrue(message.contains("1 bytes long here; node 1 (host 1) wrote"), message);
        }
    }

    @Test
    void aPartOfAChainThatIsNotTheCheckpointsIsRefused() throws Exception {
        WriterOptions options = Images.options().withForm(Images.options().form().withIncremental(true));
        Path parent = temp.resolve("c");
        Peer peer = new Peer(0, new Random(5));
        History history;
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            writer.add(PartReport.decode(peer.write(writer.order(1).encode(), options)));
            writer.commit(Images.INFO);
            history = writer.history();
        }
        byte[] based;
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options, history)) {
            based = peer.write(writer.order(1).encode(), options);
        }
        try (CheckpointWriter writer = CheckpointWriter.create(parent, options)) {
            PartReport whole = PartReport.decode(based);
            PartReport report = new PartReport(whole.node(), List.of(), whole.bytes(), 0, List.of(), whole.bases());
            String message = assertThrows(ImageError.Corrupt.class, () -> writer.add(report)).getMessage();
            assertTrue(message.contains("has memory in checkpoint 1, which this one is not based on"), message);
        }
    }

    @Test
    void keysAreTheSameOnAllNodesOrItIsRefused() throws Exception {
        Peer peer = new Peer(0, new Random(6));
        WriterOptions other = WriterOptions.of(Images.KEY
                .with(EncryptionSecret.of("a secret of thirty-two bytes too".getBytes(StandardCharsets.US_ASCII))));
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.encrypted())) {
            byte[] order = writer.order(1).encode();
            assertThrows(ImageError.NoKey.class, () -> peer.write(order, other));
            assertThrows(ImageError.NoKey.class, () -> peer.write(order, Images.options()));
        }
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.options())) {
            byte[] order = writer.order(1).encode();
            assertThrows(ImageError.NoKey.class, () -> peer.write(order, Images.encrypted()));
        }
    }

    @Test
    void ordersAndReportsThatWereChangedAreRefusedOrAreOthers() throws Exception {
        Random random = new Random(Images.seed("PartTest.ordersAndReports"));
        byte[] order;
        byte[] report;
        try (CheckpointWriter writer = CheckpointWriter.create(temp.resolve("c"), Images.encrypted())) {
            order = writer.order(1).encode();
            report = new Peer(2, random).write(order, Images.encrypted());
        }
        for (int round = 0; round < 20_000; round++) {
            byte[] changed = changed(round % 2 == 0 ? order : report, random);
            try {
                byte[] again =
                        round % 2 == 0 ? PartOrder.decode(changed).encode() : PartReport.decode(changed).encode();
                assertEquals(new String(changed, StandardCharsets.US_ASCII),
                        new String(again, StandardCharsets.US_ASCII), "there is one form");
            } catch (ImageError.Corrupt refused) {
                assertFalse(refused.getMessage().isEmpty());
            }
        }
        PartReport own = PartReport.decode(report);
        PartReport foreign = new PartReport(new Manifest.Node(1, "host 1"), own.files(), 0, 0, List.of(), own.bases());
        String message = assertThrows(ImageError.Corrupt.class, () -> PartReport.decode(foreign.encode())).getMessage();
        assertTrue(message.contains("a file of another node"), message);
    }

    private static byte[] changed(byte[] bytes, Random random) {
        byte[] changed = random.nextInt(4) == 0 ? java.util.Arrays.copyOf(bytes, random.nextInt(bytes.length + 3))
                : bytes.clone();
        for (int i = 0; i < 1 + random.nextInt(2) && changed.length > 0; i++) {
            changed[random.nextInt(changed.length)] =
                    (byte) (random.nextBoolean() ? random.nextInt(256) : bytes[random.nextInt(bytes.length)]);
        }
        return changed;
    }
}
