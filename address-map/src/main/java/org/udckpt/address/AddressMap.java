package org.udckpt.address;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * The authority of a job's addresses: every queue pair, what the job calls it and where it is now. One per job;
 * thread-safe. An incarnation is a generation: {@link #nextIncarnation()} keeps the virtual half and forgets the real
 * one.
 */
public final class AddressMap implements AddressAuthority {
    /** The last unicast LID. */
    public static final int LAST_LID = HostAllocator.LAST_LID;
    /** Virtual QPNs that differ from the real one start beyond every UDP port, so they are never mistaken for one. */
    private static final int FIRST_FREE_QPN = 0x10000;

    private final int generation;
    private final HostAllocator allocator;
    private final List<HostAddress> hosts = new ArrayList<>();
    private final Map<Long, Endpoint> virtual = new HashMap<>();
    private final Map<Long, Endpoint> real = new HashMap<>();
    /** How many virtual addresses have this QPN. */
    private final Map<Integer, Integer> numbers = new HashMap<>();
    /** Not part of an image: the ranks tell them anew in each incarnation. */
    private final HostGids virtualGids = new HostGids();
    private final HostGids realGids = new HostGids();
    private int nextQpn = FIRST_FREE_QPN;
    private int lidsOfAHost;

    /** An empty map, for a job's first incarnation. */
    public AddressMap() {
        this(0, List.of(), List.of(), 1);
    }

    AddressMap(int generation, List<Endpoint> endpoints, List<HostAddress> earlier, int cursor) {
        this.generation = generation;
        this.allocator = new HostAllocator(generation, HostAllocator.lids(endpoints, earlier), cursor);
        this.lidsOfAHost = earlier.stream().mapToInt(HostAddress::lids).max().orElse(1);
        endpoints.forEach(this::put);
    }

    /** 0 in the first incarnation, +1 at each restart. */
    public int generation() {
        return generation;
    }

    /** A LID and QPN range for a host of this incarnation that has one port. */
    public HostAddress newHost(String name) {
        return newHost(name, 1);
    }

    /** The same for one with several ports, whose LIDs follow each other. */
    public synchronized HostAddress newHost(String name, int lids) {
        HostAddress host = allocator.allocate(name, lids);
        hosts.add(host);
        lidsOfAHost = Math.max(lidsOfAHost, lids);
        return host;
    }

    /** A host of this incarnation whose address somebody else has chosen. */
    public synchronized void addHost(HostAddress host) {
        hosts.add(host);
        lidsOfAHost = Math.max(lidsOfAHost, host.lids());
    }

    /** The next {@link #newHost} looks from this LID on. */
    public synchronized void searchFrom(int lid) {
        allocator.searchFrom(lid);
    }

    /** The most LIDs that a host had, in this incarnation or an earlier one. */
    public synchronized int lidsOfAHost() {
        return lidsOfAHost;
    }

    /** The hosts of this incarnation in the order of {@link #newHost}. */
    public synchronized List<HostAddress> hosts() {
        return List.copyOf(hosts);
    }

    /** All endpoints, by rank and virtual address. */
    public synchronized List<Endpoint> endpoints() {
        return virtual.values().stream().sorted((one, other) -> {
            int ranks = Integer.compare(one.rank(), other.rank());
            return ranks != 0 ? ranks : Long.compare(one.virtual().key(), other.virtual().key());
        }).toList();
    }

    /** All endpoints, in no order; {@code each} must not change the map. */
    public synchronized void forEach(Consumer<Endpoint> each) {
        virtual.values().forEach(each);
    }

    /** The endpoints of one rank, by virtual address. */
    public List<Endpoint> endpoints(int rank) {
        return endpoints().stream().filter(e -> e.rank() == rank).toList();
    }

    /** The map of the next incarnation: same virtual addresses, no real ones, other LIDs and QPNs to hand out. */
    public synchronized AddressMap nextIncarnation() {
        AddressMap next = new AddressMap(generation + 1, endpoints(), hosts, allocator.cursor());
        next.forgetReal();
        next.nextQpn = nextQpn;
        next.lidsOfAHost = lidsOfAHost;
        return next;
    }

    /** This incarnation's map as it is now, which later changes do not reach. */
    public synchronized AddressMap copy() {
        AddressMap copy = new AddressMap(generation, List.copyOf(virtual.values()), hosts, allocator.cursor());
        copy.restore(hosts, nextQpn);
        return copy;
    }

    @Override
    public synchronized Endpoint register(int rank, int virtualQpn, VerbsAddress address, VerbsAddress realAddress,
            Transport transport) {
        int qpn = virtualQpn != 0 ? virtualQpn : freeQpn(address.lid(), realAddress.qpn());
        VerbsAddress wanted = new VerbsAddress(address.lid(), address.gid(), qpn);
        Endpoint before = virtual.get(wanted.key());
        if (before != null && before.rank() != rank) {
            throw new IllegalStateException(
                    "rank %d: virtual address %s belongs to rank %d".formatted(rank, wanted, before.rank()));
        }
        Endpoint squatter = real.get(realAddress.key());
        if (squatter != null && squatter.virtual().key() != wanted.key()) {
            // A device hands a number out twice only when its first owner is gone (a rank died without UNREGISTER).
            virtual.put(squatter.virtual().key(), squatter.withoutReal());
        }
        Endpoint endpoint = new Endpoint(rank, wanted, realAddress, transport);
        if (before != null) {
            drop(before);
        }
        put(endpoint);
        return endpoint;
    }

    @Override
    public synchronized Optional<Endpoint> unregister(int rank, int virtualLid, int virtualQpn) {
        Endpoint endpoint = virtual.get((long) virtualLid << 24 | virtualQpn);
        if (endpoint == null || endpoint.rank() != rank) {
            return Optional.empty();
        }
        drop(endpoint);
        return Optional.of(endpoint);
    }

    /**
     * The process that had this number has ended, perhaps without a word: forgets its queue pairs.
     *
     * @return what they were
     */
    public synchronized List<Endpoint> forget(int rank) {
        List<Endpoint> gone = endpoints(rank);
        gone.forEach(this::drop);
        return gone;
    }

    @Override
    public synchronized void host(boolean isReal, int number, List<Gid> gids) {
        (isReal ? realGids : virtualGids).put(number, gids);
    }

    @Override
    public synchronized OptionalInt hostOf(boolean isReal, Gid gid) {
        return (isReal ? realGids : virtualGids).find(gid);
    }

    @Override
    public synchronized Optional<Endpoint> byVirtual(int lid, int qpn) {
        return Optional.ofNullable(virtual.get((long) lid << 24 | qpn)).filter(e -> e.real() != null);
    }

    @Override
    public synchronized Optional<Endpoint> byReal(int lid, int qpn) {
        return Optional.ofNullable(real.get((long) lid << 24 | qpn));
    }

    synchronized int nextQpn() {
        return nextQpn;
    }

    synchronized int cursor() {
        return allocator.cursor();
    }

    /** For {@link AddressMapFile}: the state that is not endpoints. */
    synchronized void restore(List<HostAddress> savedHosts, int savedNextQpn) {
        hosts.addAll(savedHosts);
        nextQpn = savedNextQpn;
    }

    /**
     * In the first incarnation numbers are the devices', so none is at two ports of a device. Later the number must be
     * free at all ports of the job's device, since the queue pair's own is known only after it has the number: so in
     * the whole job.
     */
    private boolean isFree(int lid, int qpn) {
        return generation == 0 ? !virtual.containsKey((long) lid << 24 | qpn) : !numbers.containsKey(qpn);
    }

    private int freeQpn(int lid, int wish) {
        if (isFree(lid, wish)) {
            return wish;
        }
        for (int tries = FIRST_FREE_QPN; tries < VerbsAddress.MAX_QPN; tries++) {
            int qpn = nextQpn;
            // 0xffffff names multicast (InfiniBand specification volume 1, 3.5.3) and is never handed out.
            nextQpn = nextQpn + 1 >= VerbsAddress.MAX_QPN ? FIRST_FREE_QPN : nextQpn + 1;
            if (isFree(lid, qpn)) {
                return qpn;
            }
        }
        throw new IllegalStateException("no virtual QPN is left at LID 0x%04x".formatted(lid));
    }

    private void put(Endpoint endpoint) {
        if (virtual.put(endpoint.virtual().key(), endpoint) == null) {
            numbers.merge(endpoint.virtual().qpn(), 1, Integer::sum);
        }
        if (endpoint.real() != null) {
            real.put(endpoint.real().key(), endpoint);
        }
    }

    private void drop(Endpoint endpoint) {
        if (virtual.remove(endpoint.virtual().key()) != null) {
            numbers.computeIfPresent(endpoint.virtual().qpn(), (qpn, count) -> count == 1 ? null : count - 1);
        }
        if (endpoint.real() != null) {
            real.remove(endpoint.real().key(), endpoint);
        }
    }

    private void forgetReal() {
        real.clear();
        virtual.replaceAll((key, endpoint) -> endpoint.withoutReal());
    }
}
