package org.udckpt.ud;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.udckpt.address.AddressMap;
import org.udckpt.address.CountersFile;
import org.udckpt.address.DatagramKey;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.address.TranslationTable;

/** What an agent has for one incarnation of a job: runtime directory, map, table, counters, server. */
final class Node implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(20);

    final Path directory;
    final AddressMap map;
    final TranslationTable table;
    final CountersFile counters;
    final ControlServer server;

    Node(Path directory, AddressMap map, int ranks) throws IOException {
        this(directory, map, ranks, RankHosts.FROM_ENVIRONMENT);
    }

    Node(Path directory, AddressMap map, int ranks, RankHosts hosts) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.map = map;
        table = TranslationTable.create(directory.resolve("table"), 4096, map.generation(), DatagramKey.random(), true);
        RankSpan span = RankSpan.all(Math.max(1, ranks));
        counters = CountersFile.create(directory.resolve("counters"), span);
        for (int rank = 0; rank < ranks; rank++) {
            counters.begin(rank);
        }
        server = ControlServer.start(directory, map.generation(), map, table, hosts,
                new RankNumbers(span, ranks, pid -> false, taken -> {}), PortKeeper.NONE, left -> {});
    }

    /** A rank's environment on this simulated host, with the library preloaded. */
    Map<String, String> environment(HostAddress host) {
        return new TreeMap<>(Map.of("LD_PRELOAD", System.getProperty("udckpt.native") + "/libudckpt.so",
                "UDCKPT_RUNTIME_DIR", directory.toString(), "UDCKPT_SOFT_LID", Integer.toString(host.lid()),
                "UDCKPT_SOFT_QPNS", host.qpns()));
    }

    /** The order to a rank that comes to this incarnation on {@code host}. */
    Message.Rebuild rebuild(HostAddress host) {
        return new Message.Rebuild(0, map.generation(), host.lid(), host.lids(), host.qpnFirst(), host.qpnLast(),
                5_000_000_000L,
                Gid.ZERO, "soft0", directory.toString());
    }

    static void quiesceAndDrain(List<LibraryConnection> ranks) {
        ranks.stream().map(rank -> rank.quiesce(SOON)).toList().forEach(future -> future.join());
        ranks.stream().map(rank -> rank.settle(SOON)).toList().forEach(future -> future.join());
        ranks.stream().map(rank -> rank.drain(SOON)).toList().forEach(future -> future.join());
    }

    static void connectAndResume(List<LibraryConnection> ranks) {
        ranks.stream().map(rank -> rank.connect(SOON)).toList().forEach(future -> future.join());
        resume(ranks);
    }

    static void resume(List<LibraryConnection> ranks) {
        ranks.stream().map(rank -> rank.resume(SOON)).toList().forEach(future -> future.join());
    }

    @Override
    public void close() throws IOException {
        server.close();
        table.close();
        counters.close();
    }
}
