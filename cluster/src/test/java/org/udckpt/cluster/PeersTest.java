package org.udckpt.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.KeysFile;
import org.udckpt.address.RankSpan;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;
import org.udckpt.launch.LaunchMode;
import org.udckpt.process.restore.Relocation;

/** After a restart: whom a unit's ranks knew is known to them again when the gates open, in one question. */
@Timeout(60)
class PeersTest {
    private static final int UNITS = 5;

    @TempDir
    Path directory;

    private final MemoryNodes nodes = new MemoryNodes(2, 2, UNITS);
    private final List<NodeAuthority> authorities = new ArrayList<>();
    private LeadAddresses lead;

    private static VerbsAddress virtual(int unit) {
        return new VerbsAddress(100 + unit, Gid.ZERO, 0x50 + unit);
    }

    private static VerbsAddress real(int unit) {
        return new VerbsAddress(200 + unit, Gid.ZERO, 0x60 + unit);
    }

    private void start() throws Exception {
        List<Unit> units =
                IntStream.range(0, UNITS).mapToObj(unit -> new Unit("u" + unit, "u" + unit, unit, 1)).toList();
        NodeJob job = new NodeJob("peers", 1, LaunchMode.RANKS, units, 2, "/", List.of("x"), Map.of(),
                new NodeJob.Image("/nowhere", 1, "mac", Map.of(), Relocation.NONE));
        CompletableFuture<LeadAddresses> made = new CompletableFuture<>();
        nodes.handle(0).thread()
                .execute(now -> made.complete(new LeadAddresses(nodes.handle(0), job, directory.resolve("lead"))));
        lead = made.get();
        for (int unit = 0; unit < UNITS; unit++) {
            NodeHandle handle = nodes.handle(NodeJob.node(unit));
            Path cache = directory.resolve("unit" + unit);
            RankSpan span = new RankSpan(unit, 1, UNITS);
            CompletableFuture<NodeAuthority> authority = new CompletableFuture<>();
            handle.thread().execute(
                    now -> authority.complete(new NodeAuthority(handle, job, span, cache).of(new AddressMap())));
            authorities.add(authority.get());
            authorities.get(unit).register(unit, virtual(unit).qpn(), virtual(unit), real(unit), Transport.UD);
        }
    }

    /** EXCHANGE comes to all. */
    private void exchange() {
        nodes.handle(0).thread().execute(lead::begin);
        for (int unit = 0; unit < UNITS; unit++) {
            nodes.handle(NodeJob.node(unit)).thread().execute(authorities.get(unit)::begin);
        }
    }

    @AfterEach
    void end() {
        nodes.close();
        authorities.forEach(NodeAuthority::close);
        lead.close();
    }

    @Test
    void whoWasKnownIsKnownAgain() throws Exception {
        start();
        List<Endpoint> known = new CopyOnWriteArrayList<>();
        long gone = new VerbsAddress(100, Gid.ZERO, 0x999).key();
        authorities.get(1).expect(List.of(gone, virtual(0).key(), virtual(4).key()), known::add);
        exchange();
        for (long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                known.size() < 2 && System.nanoTime() < end;) {
            Thread.sleep(1);
        }
        assertEquals(List.of(new Endpoint(0, virtual(0), real(0)), new Endpoint(4, virtual(4), real(4))),
                List.copyOf(known), "and not who is gone");
        assertEquals(List.of(virtual(0).key(), virtual(4).key()), authorities.get(1).peers());
        assertEquals(real(3), authorities.get(1).byVirtual(virtual(3).lid(), virtual(3).qpn()).orElseThrow().real());
        assertEquals(List.of(virtual(0).key(), virtual(3).key(), virtual(4).key()), authorities.get(1).peers(),
                "who was met later is one too");
    }

    @Test
    void ownQueuePairsAndUnknownOnesAreNoPeers() throws Exception {
        start();
        exchange();
        assertEquals(real(2), authorities.get(2).byVirtual(virtual(2).lid(), virtual(2).qpn()).orElseThrow().real());
        assertTrue(authorities.get(2).byVirtual(7, 7).isEmpty());
        assertEquals(List.of(), authorities.get(2).peers());
        assertEquals(virtual(3), authorities.get(2).byReal(real(3).lid(), real(3).qpn()).orElseThrow().virtual(),
                "one that has sent something");
        assertEquals(List.of(virtual(3).key()), authorities.get(2).peers());
    }

    private static Gid gid(int last) {
        byte[] bytes = new byte[Gid.BYTES];
        bytes[0] = (byte) 0xfe;
        bytes[Gid.BYTES - 1] = (byte) last;
        return Gid.read(bytes, 0);
    }

    /** RoCE ports have no LIDs: who sends asks which host has a GID, and who receives where it is from. */
    @Test
    void hostsOfGidsAreFoundByOtherNodes() throws Exception {
        start();
        authorities.get(1).host(false, 5, List.of(gid(1), Gid.ZERO, gid(2)));
        authorities.get(1).host(true, 9, List.of(gid(3)));
        authorities.get(1).host(true, 9, List.of(gid(3)));
        assertEquals(OptionalInt.of(5), authorities.get(4).hostOf(false, gid(2)));
        assertEquals(OptionalInt.of(9), authorities.get(0).hostOf(true, gid(3)));
        assertEquals(OptionalInt.of(9), authorities.get(1).hostOf(true, gid(3)));
        assertEquals(OptionalInt.empty(), authorities.get(2).hostOf(true, gid(1)), "it is what the job sees");
        assertEquals(OptionalInt.empty(), authorities.get(2).hostOf(false, gid(7)));
    }

    @Test
    void remoteKeysAreKnownToOtherNodes() throws Exception {
        start();
        Path runtime = Files.createDirectory(directory.resolve("runtime"));
        long[] pairs = LongStream.range(1, 3000).map(i -> KeysFile.pair((int) (i << 8 | 7), (int) (0xff000000L + i)))
                .toArray();
        KeysFile.mirror(KeysFile.of(runtime, 2), pairs).close();
        // of a process below it
        KeysFile.mirror(KeysFile.of(runtime, 2 + UNITS), new long[]{KeysFile.pair(7, 8)}).close();
        authorities.get(2).tellKeys(runtime);
        long[] known = authorities.get(4).keys().of(2).orElseThrow();
        assertArrayEquals(LongStream.of(pairs).sorted().toArray(), LongStream.of(known).sorted().toArray());
        assertArrayEquals(new long[]{KeysFile.pair(7, 8)}, authorities.get(4).keys().of(2 + UNITS).orElseThrow());
        assertEquals(0, authorities.get(4).keys().of(2 + 2 * UNITS).orElseThrow().length,
                "one that had no device then");
        assertEquals(Optional.empty(), authorities.get(2).keys().of(2), "its own everybody there reads in its file");
        authorities.get(3).tellKeys(Files.createDirectory(directory.resolve("empty")));
        assertEquals(0, authorities.get(2).keys().of(3).orElseThrow().length, "of a rank without any");
        assertEquals(Optional.empty(), authorities.get(2).keys().of(-1));
        assertThrows(IllegalStateException.class, () -> authorities.get(2).keys().of(1), "whose node has not told");
        authorities.get(2).keys().tell(2, 0xf0000001, 0x700);
        assertEquals(OptionalInt.of(0x700), authorities.get(0).keys().find(2, 0xf0000001));
        assertEquals(OptionalInt.empty(), authorities.get(0).keys().find(2, 0xf0000002));
        assertEquals(OptionalInt.empty(), authorities.get(0).keys().find(3, 0xf0000001));
    }
}
