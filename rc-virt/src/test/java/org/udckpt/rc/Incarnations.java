package org.udckpt.rc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.AddressMap;
import org.udckpt.address.CountersFile;
import org.udckpt.address.Gid;
import org.udckpt.address.HostAddress;
import org.udckpt.address.RankSpan;
import org.udckpt.address.TranslationTable;
import org.udckpt.ud.ControlServer;
import org.udckpt.ud.LibraryConnection;
import org.udckpt.ud.Message;
import org.udckpt.ud.PortKeeper;
import org.udckpt.ud.RankHosts;
import org.udckpt.ud.RankNumbers;

/**
 * Two connected processes and, incarnation after incarnation, the agent that they talk to. A next incarnation happens
 * in the same processes: their device's descriptors are closed, as a new process would not have them, and everything is
 * rebuilt on two other hosts.
 */
final class Incarnations implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(60);

    /** Starts one end. */
    interface Opener {
        RcClient open(int rank, Map<String, String> environment) throws Exception;
    }

    /** What a node's agent has; of the only one, both processes are. */
    private record Agent(Path directory, TranslationTable table, CountersFile counters, ControlServer server) {}

    private record Incarnation(AddressMap map, List<Agent> agents) {
        Agent of(int rank) {
            return agents.get(rank % agents.size());
        }
    }

    /** The addresses of all, and keys from the other node as its agent tells them. */
    private record Known(AddressMap map, int self, List<Path> directories,
            Map<String, Integer> told) implements JointAddresses {}

    final List<RcClient> clients = new ArrayList<>();
    private final List<String> addresses = new ArrayList<>();
    private final List<Incarnation> incarnations = new ArrayList<>();
    private final Path scratch;
    private final boolean apart;

    /**
     * @param options "srq": receive from a shared queue.
     *
     * @param more environment of both processes.
     * @param apart each process has an agent of its own
     */
    Incarnations(Path scratch, Opener opener, String options, int timeout, Map<String, String> more, boolean apart)
            throws Exception {
        this.scratch = scratch;
        this.apart = apart;
        AddressMap map = new AddressMap();
        begin(map);
        for (int rank = 0; rank < 2; rank++) {
            HostAddress host = map.newHost("host" + rank);
            Map<String, String> environment =
                    new HashMap<>(Map.of("LD_PRELOAD", System.getProperty("udckpt.native") + "/libudckpt.so",
                            "UDCKPT_RUNTIME_DIR", incarnations.getFirst().of(rank).directory.toString(),
                            "UDCKPT_SOFT_LID", Integer.toString(host.lid()),
                            "UDCKPT_SOFT_QPNS", host.qpns()));
            environment.putAll(more);
            clients.add(opener.open(rank, environment));
            addresses.add(clients.get(rank).ask("open " + options));
        }
        for (int rank = 0; rank < 2; rank++) {
            String[] peer = addresses.get(1 - rank).split(" ");
            assertEquals("connected", clients.get(rank)
                    .ask("connect " + String.join(" ", peer[1], peer[2], peer[3], peer[4]) + " " + timeout));
            addresses.set(rank, clients.get(rank).ask("address"));
        }
        for (long end = System.nanoTime() + SOON.toNanos(); ranks().size() < 2;) {
            assertTrue(System.nanoTime() < end, "both processes have connected");
            Thread.sleep(1);
        }
    }

    /** What the job sees of one end: virtual LID, QPN, keys, state and peer. */
    String address(int rank) {
        return addresses.get(rank);
    }

    AddressMap map() {
        return incarnations.getLast().map;
    }

    private List<LibraryConnection> ranks() {
        return incarnations.getFirst().agents.stream().flatMap(agent -> agent.server.connections().stream())
                .sorted(Comparator.comparingInt(LibraryConnection::rank)).toList();
    }

    private void begin(AddressMap map) throws IOException {
        Path incarnation = scratch.resolve("run" + incarnations.size());
        List<RankSpan> spans = apart ? List.of(new RankSpan(0, 1, 2), new RankSpan(1, 1, 2)) : List.of(RankSpan.all(2));
        List<Path> directories =
                IntStream.range(0, spans.size()).mapToObj(node -> incarnation.resolve("node" + node)).toList();
        Map<String, Integer> told = new ConcurrentHashMap<>();
        List<Agent> agents = new ArrayList<>();
        for (int node = 0; node < spans.size(); node++) {
            RankSpan span = spans.get(node);
            Path directory = Files.createDirectories(directories.get(node));
            TranslationTable table = TranslationTable.create(directory.resolve("table"), 4096, map.generation());
            CountersFile counters = CountersFile.create(directory.resolve("counters"), span);
            span.ranks().forEach(counters::begin);
            AddressAuthority authority = apart ? new Known(map, node, directories, told) : map;
            agents.add(new Agent(directory, table, counters,
                    ControlServer.start(directory, map.generation(), authority, table, RankHosts.FROM_ENVIRONMENT,
                            new RankNumbers(span, 2, pid -> false, taken -> {}), PortKeeper.NONE, left -> {})));
        }
        incarnations.add(new Incarnation(map, agents));
    }

    private static <T> List<T> all(List<LibraryConnection> ranks,
            Function<LibraryConnection, java.util.concurrent.CompletableFuture<T>> command) {
        return ranks.stream().map(command).toList().stream().map(future -> future.join()).toList();
    }

    /** Quiesce, settle, drain; what each rank's library owns. */
    private List<Message.Quiesced> stop(List<LibraryConnection> ranks) {
        List<Message.Quiesced> owned = all(ranks, rank -> rank.quiesce(SOON));
        all(ranks, rank -> rank.settle(SOON));
        all(ranks, rank -> rank.drain(SOON));
        return owned;
    }

    /** A checkpoint after which the job goes on. */
    void checkpoint() {
        List<LibraryConnection> ranks = ranks();
        stop(ranks);
        all(ranks, rank -> rank.resume(SOON));
    }

    /** A checkpoint and a restart on other LIDs, with other QPNs. */
    void nextIncarnation() throws Exception {
        nextIncarnation(() -> {});
    }

    /** Happens between two incarnations, while the gates are closed. */
    interface Between {
        void happen() throws Exception;
    }

    void nextIncarnation(Between between) throws Exception {
        List<LibraryConnection> ranks = ranks();
        List<Message.Quiesced> owned = stop(ranks);
        between.happen();
        for (int rank = 0; rank < 2; rank++) {
            int control = ranks.get(rank).descriptor();
            assertEquals("closed", clients.get(rank).ask("close " + owned.get(rank).descriptors().stream().distinct()
                    .filter(fd -> fd != control).map(String::valueOf).collect(Collectors.joining(" "))));
        }
        begin(map().nextIncarnation());
        List<HostAddress> hosts = List.of(map().newHost("x"), map().newHost("y"));
        for (LibraryConnection rank : ranks) {
            HostAddress host = hosts.get(rank.rank());
            rank.rebuild(new Message.Rebuild(0, map().generation(), host.lid(), host.lids(), host.qpnFirst(),
                    host.qpnLast(), 1_000_000_000L, Gid.ZERO,
                    "soft0", incarnations.getLast().of(rank.rank()).directory.toString()), SOON).join();
        }
        all(ranks, rank -> rank.connect(SOON));
        all(ranks, rank -> rank.resume(SOON));
    }

    @Override
    public void close() throws Exception {
        for (RcClient client : clients) {
            client.close();
        }
        for (Incarnation incarnation : incarnations) {
            for (Agent agent : incarnation.agents) {
                agent.server.close();
                agent.table.close();
                agent.counters.close();
            }
        }
    }
}
