package org.udckpt.image.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.image.ImageError;
import org.udckpt.image.Images;
import org.udckpt.image.directory.PartDirectory;
import org.udckpt.image.manifest.HostParts;
import org.udckpt.image.manifest.PartReport;
import org.udckpt.image.read.CheckpointReader;
import org.udckpt.image.storage.FaultyStorage;
import org.udckpt.image.storage.LocalStorage;
import org.udckpt.image.storage.RateLimit;
import org.udckpt.image.storage.StorageIo;
import org.udckpt.image.write.CheckpointWriter;
import org.udckpt.image.write.FakeProcess;
import org.udckpt.image.write.History;
import org.udckpt.image.write.ImageForm;
import org.udckpt.image.write.PageHistory;
import org.udckpt.image.write.PartOrder;
import org.udckpt.image.write.PartWriter;
import org.udckpt.image.write.WriterOptions;

/** Checkpoints of which each host has the part of its nodes for itself, and their copies. */
@Timeout(300)
class HostPartsTest {
    private static final int NODES = 3;

    @TempDir
    Path temp;
    private final List<List<FakeProcess>> processes = new ArrayList<>();
    private final PageHistory[] pages = new PageHistory[NODES];
    private final List<Path> passedOver = new ArrayList<>();
    private WriterOptions options = Images.options();
    private Path lead;
    private Path slow;
    private History history;
    private Random random;

    @BeforeEach
    void begin() {
        lead = temp.resolve("lead");
        slow = temp.resolve("slow");
        random = new Random(Images.seed("HostPartsTest"));
        for (int node = 0; node < NODES; node++) {
            processes.add(Images.processes(random, 1));
        }
    }

    /** Each host's storage is another directory here; there it has one name. */
    private HostParts parts(int node) {
        return new HostParts(temp.resolve("host" + node + "/job"));
    }

    private Path write() throws IOException {
        try (CheckpointWriter writer = CheckpointWriter.create(lead, options, history)) {
            byte[] order = writer.order(NODES, new HostParts(Path.of("/ssd/job"))).encode();
            for (int node = 0; node < NODES; node++) {
                writer.add(PartReport.decode(part(node, order)));
            }
            writer.commit(Images.INFO);
            history = writer.history();
            return writer.directory();
        }
    }

    private byte[] part(int node, byte[] order) throws IOException {
        try (PartWriter part =
                PartWriter.open(PartOrder.decode(order), parts(node), node, "host" + node, options, pages[node])) {
            assertEquals(parts(node).part(node, PartOrder.decode(order).checkpoint()), part.directory());
            for (FakeProcess process : processes.get(node)) {
                part.node().memory(process.id, process.ranges(), process);
            }
            byte[] report = part.finish().encode();
            pages[node] = part.pages();
            return report;
        }
    }

    /** As agents on the hosts would. */
    private CheckpointCopy.Hosts hosts(StorageIo io) {
        return (order, _) -> {
            for (int node = 0; node < NODES; node++) {
                new PartCopy(parts(node), order.copy(), Images.KEY, RateLimit.NONE, order.givenUp(), io).run(node);
            }
        };
    }

    private void copy(Path checkpoint, StorageIo io) throws IOException {
        new CheckpointCopy(checkpoint, slow, Images.KEY, RateLimit.NONE, () -> false, io).run((_, _) -> {}, hosts(io));
    }

    private void assertWhole(Path checkpoint) throws IOException {
        try (CheckpointReader reader = CheckpointReader.open(checkpoint, Images.KEY)) {
            reader.verify((_, _) -> {});
            for (int node = 0; node < NODES; node++) {
                for (FakeProcess process : processes.get(node)) {
                    process.assertEqualTo(reader.memory(node, process.id));
                }
            }
        }
    }

    private static Catalogue.Entry newest(Path parent) throws IOException {
        return new Catalogue(parent, Images.KEY).list().getLast();
    }

    @Test
    void theLeadHasTheManifestAndTheCopyIsWhole() throws Exception {
        Path checkpoint = write();
        assertEquals(Set.of("manifest", "parts", "writer", "job.phases.arrow"), names(checkpoint));
        Catalogue.Entry entry = newest(lead);
        assertTrue(entry.state() == Catalogue.State.COMPLETE && entry.onHosts(), entry.toString());
        assertEquals(new HostParts(Path.of("/ssd/job")), HostParts.of(checkpoint, LocalStorage.INSTANCE).orElseThrow());
        String alone = assertThrows(ImageError.Missing.class,
                () -> new CheckpointCopy(checkpoint, slow, Images.KEY, RateLimit.NONE, () -> false).run((_, _) -> {}))
                .getMessage();
        assertTrue(alone.contains("/ssd/job"), alone);
        assertEquals(List.of(), new Catalogue(slow, Images.KEY).list(), "nothing is left of it");
        copy(checkpoint, LocalStorage.INSTANCE);
        assertFalse(newest(slow).onHosts());
        assertWhole(slow.resolve("ckpt-0001"));
        Tier inLead = new Tier.Directory("local", lead);
        TieredCatalogue.Entry both = new TieredCatalogue(List.of(inLead, new Tier.Directory("slow", slow)), Images.KEY)
                .list().entries().getFirst();
        assertTrue(both.completeIn(inLead));
        assertEquals(slow.resolve("ckpt-0001"), both.best().entry().directory(), "where it can be read");
    }

    private static Set<String> names(Path directory) throws IOException {
        Set<String> names = new HashSet<>();
        try (var files = Files.list(directory)) {
            files.forEach(file -> names.add(file.getFileName().toString()));
        }
        return names;
    }

    @Test
    void aChainIsOneOnEachHost() throws Exception {
        options = options.withForm(ImageForm.PLAIN.withIncremental(true));
        for (int i = 0; i < 3; i++) {
            processes.forEach(own -> own.forEach(process -> process.goOn(random)));
            copy(write(), LocalStorage.INSTANCE);
        }
        assertFalse(newest(slow).manifest().bases().isEmpty());
        assertWhole(slow.resolve("ckpt-0003"));
        Files.delete(lead.resolve("ckpt-0002/manifest"));
        assertThrows(ImageError.class, this::write, "a base is gone: nothing may be based on it");
    }

    @Test
    void aLostAndADamagedPartAreNamed() throws Exception {
        Path checkpoint = write();
        Path stripe = parts(1).part(1, 1).resolve("node-0001.stripe-00");
        byte[] content = Files.readAllBytes(stripe);
        byte[] changed = content.clone();
        changed[changed.length / 2] ^= 4;
        Files.write(stripe, changed);
        String damaged =
                assertThrows(ImageError.Corrupt.class, () -> copy(checkpoint, LocalStorage.INSTANCE)).getMessage();
        assertTrue(damaged.contains("node-0001.stripe-00") && damaged.contains("host1"), damaged);
        Files.delete(stripe);
        String lost =
                assertThrows(ImageError.Missing.class, () -> copy(checkpoint, LocalStorage.INSTANCE)).getMessage();
        assertTrue(lost.contains(stripe.toString()) && lost.contains("this host does not have that part"), lost);
        assertEquals(List.of(), new Catalogue(slow, Images.KEY).list());
        Files.write(stripe, content);
        copy(checkpoint, LocalStorage.INSTANCE);
        assertWhole(slow.resolve("ckpt-0001"));
    }

    @Test
    void aPartThatIsStillThereIsReadFromThere() throws Exception {
        copy(write(), LocalStorage.INSTANCE);
        Path shared = slow.resolve("ckpt-0001/node-0002.stripe-00");
        byte[] content = Files.readAllBytes(shared);
        Files.write(shared, new byte[content.length]);
        assertReads(2, false, true);
        Path own = parts(2).part(2, 1).resolve("node-0002.stripe-00");
        Files.write(own, new byte[content.length]);
        try (CheckpointReader reader =
                CheckpointReader.openNode(slow.resolve("ckpt-0001"), Images.KEY, parts(2), 2, passedOver::add)) {
            String said = assertThrows(ImageError.Corrupt.class, () -> reader.verifyNode(2, (_, _) -> {})).getMessage();
            assertTrue(said.startsWith(own.toString()) && said.endsWith("; remove this file to read the copy in "
                    + slow.resolve("ckpt-0001")), said);
        }
        Files.write(own, new byte[content.length - 1]); // not as long: not the same
        assertReads(2, false, false);
        Files.write(shared, content);
        assertReads(2, true, true);
    }

    private void assertReads(int node, boolean shared, boolean own) throws IOException {
        try (CheckpointReader reader = CheckpointReader.openNode(slow.resolve("ckpt-0001"), Images.KEY, node)) {
            assertEquals(shared, verifies(reader, node));
        }
        try (CheckpointReader reader =
                CheckpointReader.openNode(slow.resolve("ckpt-0001"), Images.KEY, parts(node), node, passedOver::add)) {
            assertEquals(own, verifies(reader, node));
        }
    }

    /** A number that was given out twice: the host's part is of the one that was not copied. */
    @Test
    void thePartOfAnotherCheckpointIsPassedOver() throws Exception {
        copy(write(), LocalStorage.INSTANCE);
        Path own = parts(1).part(1, 1);
        Path table = own.resolve("node-0001.chunks.arrow");
        byte[] content = Files.readAllBytes(table);
        content[content.length - 1] ^= 1; // as long, and of the same form
        Files.write(table, content);
        Files.write(own.resolve("node-0001.stripe-00"), new byte[(int) Files.size(own.resolve("node-0001.stripe-00"))]);
        assertReads(1, true, true);
        assertEquals(List.of(own), passedOver);
        assertReads(2, true, true);
        assertEquals(1, passedOver.size());
        removeTree(parts(0).part(0, 1));
        assertReads(0, true, true);
        assertEquals(1, passedOver.size(), "what is not there needs no word");
    }

    /** Its lead died before it was copied, and the next one, on another machine, began with its number. */
    @Test
    void whatWasAbandonedHidesNothing() throws Exception {
        Path abandoned = write();
        Path before = lead;
        lead = temp.resolve("lead on another machine");
        history = null;
        copy(write(), LocalStorage.INSTANCE);
        Tier local = new Tier.Directory("local", before), both = new Tier.Directory("slow", slow);
        List<TieredCatalogue.Entry> listed = new TieredCatalogue(List.of(local, both), Images.KEY).list().entries();
        assertEquals(1, listed.size());
        assertEquals(List.of(slow.resolve("ckpt-0001")),
                listed.getFirst().places().stream().map(place -> place.entry().directory()).toList());
        assertEquals(List.of(abandoned), new TieredCatalogue(List.of(local), Images.KEY).list().entries().getFirst()
                .places().stream().map(place -> place.entry().directory()).toList());
        assertWhole(slow.resolve("ckpt-0001"));
    }

    /** A unit that is on another host now has left its parts. */
    @Test
    void whatAMovedUnitHasLeftGoes() throws Exception {
        HostParts parts = parts(0);
        for (int node : new int[]{0, 3, 12345}) {
            for (long checkpoint = 1; checkpoint <= 3; checkpoint++) {
                PartDirectory.make(parts, node, checkpoint, LocalStorage.INSTANCE);
            }
        }
        Files.createDirectory(parts.directory().resolve("something else"));
        PartDirectory.keepOfMoved(parts, Set.of(0), 2, Set.of(2L), LocalStorage.INSTANCE);
        assertEquals(Set.of("ckpt-0001", "ckpt-0002", "ckpt-0003"), names(parts.ofNode(0)));
        assertEquals(Set.of("ckpt-0002", "ckpt-0003"), names(parts.ofNode(3)));
        PartDirectory.keepOfMoved(parts, Set.of(0), 3, Set.of(), LocalStorage.INSTANCE);
        assertEquals(Set.of("node-0000", "something else"), names(parts.directory()));
        PartDirectory.keepOfMoved(new HostParts(temp.resolve("nowhere/job")), Set.of(0), 3, Set.of(),
                LocalStorage.INSTANCE);
    }

    private static boolean verifies(CheckpointReader reader, int node) throws IOException {
        try {
            reader.verifyNode(node, (_, _) -> {});
            return true;
        } catch (ImageError.Corrupt e) {
            return false;
        }
    }

    @Test
    void whatDoesNotStayGoes() throws Exception {
        for (int i = 0; i < 4; i++) {
            write();
        }
        PartDirectory.make(parts(0), 0, 5, LocalStorage.INSTANCE); // under way
        assertEquals(List.of(1L, 3L), PartDirectory.keep(parts(0), 0, 4, Set.of(2L, 4L), LocalStorage.INSTANCE));
        assertEquals(Set.of("ckpt-0002", "ckpt-0004", "ckpt-0005"), names(parts(0).ofNode(0)));
        assertEquals(List.of(),
                PartDirectory.keep(new HostParts(temp.resolve("nowhere/job")), 0, 4, Set.of(), LocalStorage.INSTANCE));
        PartDirectory.make(parts(0), 0, 5, LocalStorage.INSTANCE); // what a dead one left is no obstacle
    }

    /** A disk that is not mounted must not be made up for by a directory on the root's. */
    @Test
    void whatThePartsAreInHasToBeThere() throws Exception {
        try (CheckpointWriter writer = CheckpointWriter.create(lead, options)) {
            PartOrder order = writer.order(1, new HostParts(temp.resolve("disk/heat/job")));
            String message = assertThrows(ImageError.Missing.class, () -> PartWriter.open(order,
                    new HostParts(temp.resolve("disk/heat/job")), 0, "host0", options, null)).getMessage();
            assertTrue(message.contains("host0") && message.contains(temp.resolve("disk/heat").toString()), message);
            assertFalse(Files.exists(temp.resolve("disk")));
            Files.createDirectory(temp.resolve("disk"));
            PartWriter part =
                    PartWriter.open(order, new HostParts(temp.resolve("disk/heat/job")), 0, "host0", options, null);
            part.close();
            part.remove();
            assertEquals(Set.of(), names(temp.resolve("disk/heat/job/node-0000")));
        }
        assertEquals(Set.of("sequence", "lock"), names(lead));
    }

    @Test
    void aCopyCanBeGivenUp() throws Exception {
        Path checkpoint = write();
        for (int asks : new int[]{1, 3, 5}) {
            int[] left = {asks};
            CheckpointCopy copy =
                    new CheckpointCopy(checkpoint, slow, Images.KEY, RateLimit.NONE, () -> left[0]-- <= 0);
            assertThrows(CancellationException.class, () -> copy.run((_, _) -> {}, hosts(LocalStorage.INSTANCE)));
            assertEquals(List.of(), new Catalogue(slow, Images.KEY).list());
        }
    }

    /** Every call of the lead and of the hosts fails once, tears once, and is once the last before a crash. */
    @Tag("slow")
    @Test
    void everyCallMayFail() throws Exception {
        Path checkpoint = write();
        FaultyStorage clean = new FaultyStorage(null, FaultyStorage.Fault.FAIL, 0);
        copy(checkpoint, clean);
        Set<String> calls = new HashSet<>();
        long seed = Images.seed("HostPartsTest.faults");
        for (FaultyStorage.Fault fault : FaultyStorage.Fault.values()) {
            for (FaultyStorage.Site site : clean.sites()) {
                if (fault == FaultyStorage.Fault.TEAR && !site.canTear()) {
                    continue;
                }
                slow = temp.resolve(fault + "-" + calls.size() + "-" + Math.abs(site.hashCode()));
                FaultyStorage io = new FaultyStorage(site, fault, seed);
                boolean failed = fails(checkpoint, io);
                calls.add(site.call());
                List<Catalogue.Entry> found =
                        Files.isDirectory(slow) ? new Catalogue(slow, Images.KEY).list() : List.of();
                assertFalse(found.stream().anyMatch(entry -> entry.state() == Catalogue.State.CORRUPT),
                        fault + " at " + site + ": " + found);
                if (found.stream().anyMatch(entry -> entry.state() == Catalogue.State.COMPLETE)) {
                    assertWhole(slow.resolve("ckpt-0001"));
                } else {
                    assertTrue(failed, fault + " at " + site + " was not told");
                }
                removeTree(slow);
            }
        }
        assertTrue(calls.stream().anyMatch(call -> call.startsWith("append to node-0002.stripe-00")), calls.toString());
        slow = temp.resolve("slow after all");
        copy(checkpoint, LocalStorage.INSTANCE);
        assertWhole(slow.resolve("ckpt-0001"));
    }

    private boolean fails(Path checkpoint, StorageIo io) {
        try {
            copy(checkpoint, io);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    private static void removeTree(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            try (var files = Files.walk(directory)) {
                for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                    Files.delete(path);
                }
            }
        }
    }
}
