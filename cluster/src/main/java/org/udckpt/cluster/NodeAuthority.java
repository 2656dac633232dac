package org.udckpt.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.udckpt.address.AddressAuthority;
import org.udckpt.address.AddressBatch;
import org.udckpt.address.AddressMap;
import org.udckpt.address.Endpoint;
import org.udckpt.address.Gid;
import org.udckpt.address.KeyAuthority;
import org.udckpt.address.RankSpan;
import org.udckpt.address.Transport;
import org.udckpt.address.VerbsAddress;
import org.udckpt.coordination.lookup.AddressCache;
import org.udckpt.coordination.lookup.TableResolver;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.support.report.Messages;

/**
 * The addresses of a job of several nodes, as one of them sees them: its own ranks' endpoints are in its map and are
 * told to the others, whose are asked for through the tree. So are the hosts of GIDs, and remote keys.
 */
public final class NodeAuthority implements AddressAuthority, TableResolver.Local, AutoCloseable {
    private static final int ROOM = 1024; // at first; the cache grows
    // the tree needs milliseconds; and longer when a node on the way is lost
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    /** What nobody has may be on its way: a peer can hear of a queue pair, from outside of MPI, before the root has. */
    private static final int TRIES = 4;
    private static final Duration ON_ITS_WAY = Duration.ofMillis(150);
    private static final long PAUSE_MS = 50;

    private final NodeThread thread;
    private final AddressCache cache;
    private final NodeProtocol part;
    private final TableResolver exchange;
    private final NodeFacts facts;
    private final NodeKeys keysOfRanks;
    /** Callers that wait, by question. In the node's thread. */
    private final Map<Integer, CompletableFuture<Optional<Endpoint>>> waiting = new HashMap<>();
    private final Map<Integer, Long> keys = new HashMap<>();
    /** Virtual addresses of others that were found. */
    private final Set<Long> peers = ConcurrentHashMap.newKeySet();
    private volatile AddressMap own;
    private volatile List<Long> expected = List.of();
    private volatile Consumer<Endpoint> known = endpoint -> {};
    /** Number of the question for all expected endpoints. In the node's thread. */
    private OptionalInt first = OptionalInt.empty();

    /**
     * Before the node's first message.
     *
     * @param span    this node's ranks
     * @param file where the cache's table is made, see {@link AddressCache}
     */
    public NodeAuthority(NodeHandle node, NodeJob job, RankSpan span, Path file) {
        this.thread = node.thread();
        this.part = node.part();
        this.cache = new AddressCache(file, ROOM, job.generation());
        this.exchange = part.addresses(cache, this);
        this.facts = new NodeFacts(node);
        this.keysOfRanks = new NodeKeys(facts, job, span);
        if (job.image() == null) {
            thread.execute(exchange::complete); // there is nothing to gather: endpoints are told as they are made
        }
    }

    /** Before anybody asks for anything: what this node's ranks have. */
    public NodeAuthority of(AddressMap map) {
        own = map;
        return this;
    }

    @Override
    public Endpoint register(int rank, int virtualQpn, VerbsAddress virtual, VerbsAddress real, Transport transport) {
        Endpoint endpoint = own.register(rank, virtualQpn, virtual, real, transport);
        byte[] entry = AddressBatch.endpoints(List.of(endpoint));
        thread.execute(now -> exchange.register(entry, now));
        return endpoint;
    }

    @Override
    public Optional<Endpoint> unregister(int rank, int virtualLid, int virtualQpn) {
        return own.unregister(rank, virtualLid, virtualQpn);
    }

    @Override
    public void host(boolean real, int number, List<Gid> gids) {
        List<Gid> known = gids.stream().filter(gid -> own.hostOf(real, gid).isPresent()).toList();
        own.host(real, number, gids);
        Map<String, String> news = new HashMap<>();
        gids.stream().filter(gid -> !gid.equals(Gid.ZERO) && !known.contains(gid))
                .forEach(gid -> news.put(name(real, gid), Integer.toString(number)));
        facts.put(news);
    }

    @Override
    public OptionalInt hostOf(boolean real, Gid gid) {
        OptionalInt here = own.hostOf(real, gid);
        if (here.isPresent()) {
            return here;
        }
        String name = name(real, gid);
        return facts.getOfStrangers(name, real ? Duration.ZERO : ON_ITS_WAY)
                .map(number -> NodeFacts.number(name, number)).map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    /** In messages, too: two hosts may say that they have it. */
    private static String name(boolean real, Gid gid) {
        return (real ? "host of the GID " : "host of the job's GID ") + gid;
    }

    @Override
    public KeyAuthority keys() {
        return keysOfRanks;
    }

    /**
     * Of a restarted job, when this node's ranks have their verbs objects again: tells the others their remote keys.
     *
     * @param runtimeDirectory theirs
     */
    public void tellKeys(Path runtimeDirectory) throws IOException {
        keysOfRanks.tellAll(runtimeDirectory);
    }

    @Override
    public Optional<Endpoint> byVirtual(int lid, int qpn) {
        return own.byVirtual(lid, qpn).or(() -> find(new VerbsAddress(lid, Gid.ZERO, qpn).key()));
    }

    @Override
    public Optional<Endpoint> byReal(int lid, int qpn) {
        return own.byReal(lid, qpn).or(() -> find(AddressCache.real(lid, qpn)));
    }

    private Optional<Endpoint> find(long key) {
        try {
            Optional<Endpoint> found = ask(key);
            for (int tries = 1; tries < TRIES && found.isEmpty(); tries++) {
                Thread.sleep(PAUSE_MS);
                found = ask(key);
            }
            found.ifPresent(endpoint -> peers.add(endpoint.virtual().key()));
            return found;
        } catch (TimeoutException e) {
            Messages.error(("the address of LID 0x%04x, QPN 0x%06x "
                    + "was not received from the other nodes within %d s").formatted(key >>> 24 & VerbsAddress.MAX_LID,
                            key & VerbsAddress.MAX_QPN,
                            TIMEOUT.toSeconds()),
                    e);
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException("looking up an address on the other nodes", e.getCause());
        }
    }

    private Optional<Endpoint> ask(long key) throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<Optional<Endpoint>> answer = new CompletableFuture<>();
        thread.execute(now -> {
            Optional<Endpoint> known = cache.get(key);
            if (known.isPresent()) {
                answer.complete(known);
                return;
            }
            // answered later: what is not on the cache comes from above
            int number = exchange.ask(new long[]{key}, now);
            waiting.put(number, answer);
            keys.put(number, key);
        });
        return answer.get(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public List<Long> peers() {
        return peers.stream().sorted().toList();
    }

    @Override
    public void expect(List<Long> before, Consumer<Endpoint> listener) {
        known = listener;
        expected = List.copyOf(before);
    }

    @Override
    public void answered(int number, long[] absent, long now) {
        if (first.isPresent() && first.getAsInt() == number) {
            first = OptionalInt.empty();
            Set<Integer> connected = new HashSet<>();
            expected.forEach(key -> cache.get(key).ifPresent(endpoint -> {
                peers.add(key);
                known.accept(endpoint);
                if (endpoint.transport().isConnected()) {
                    connected.add(endpoint.rank());
                }
            }));
            // A rank that is missing had ended before the checkpoint. All have told their keys before the exchange.
            facts.fetch(keysOfRanks.names(connected), () -> thread.execute(then -> part.exchanged(null, then)), now);
            return;
        }
        CompletableFuture<Optional<Endpoint>> answer = waiting.remove(number);
        Long key = keys.remove(number);
        if (answer != null) {
            answer.complete(cache.get(key));
        }
    }

    /**
     * All endpoints of a restored node were registered by its START. Whom its ranks knew is asked for now; others when
     * they connect or send.
     */
    @Override
    public void begin(long now) {
        if (!expected.isEmpty()) {
            first = OptionalInt.of(exchange.ask(expected.stream().mapToLong(Long::longValue).toArray(), now));
            exchange.complete(now);
            return;
        }
        exchange.complete(now);
        part.exchanged(null, now);
    }

    @Override
    public void refused(String why, long now) {
        Messages.error("addresses: " + why, null);
    }

    /** When the node's thread has ended. */
    @Override
    public void close() {
        cache.close();
    }
}
