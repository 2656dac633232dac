package org.udckpt.ud;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.udckpt.address.VerbsAddress;

/**
 * The ports of rdma_cm that the job's processes hold, and where their connections are asked for. Nothing of it is in an
 * image: a restarted process tells the new agent what it holds. Thread-safe.
 */
final class CmDirectory {
    /** The ports that are given to who asks for any: the dynamic ones of RFC 6335. */
    private static final int FIRST_FREE = 49152;
    private static final int LAST_FREE = 65535;

    /** @param process that holds it, an identity */
    private record Holder(CmPort port, Object process, VerbsAddress service, boolean reuse, boolean listening) {}

    /**
     * How long a program may take to replace a listener, also by one of another port space. perftest's server (-R, with
     * -c UD from RDMA_PS_TCP to RDMA_PS_UDP) does, while its client is already on the way to the new one: a real fabric
     * needs milliseconds to resolve an address and a path, here it takes none.
     */
    static final Duration REPLACING = Duration.ofSeconds(2);

    private final Map<Long, Holder> holders = new LinkedHashMap<>();
    /** When they were left, by port of any space. */
    private final Map<CmPort, Long> left = new LinkedHashMap<>();
    private final LongSupplier clock;
    private int next = FIRST_FREE;

    CmDirectory() {
        this(System::nanoTime);
    }

    /** @param clock nanoseconds */
    CmDirectory(LongSupplier clock) {
        this.clock = clock;
    }

    /**
     * Gives a port to an owner, or what it has another service or the state of listening; empty when somebody else has
     * it.
     */
    synchronized Optional<CmPort> bind(Message.CmBind wish, Object process) {
        CmPort port = wish.port().number() == 0 ? free(wish.port()) : wish.port();
        if (port == null) {
            return Optional.empty();
        }
        for (Map.Entry<Long, Holder> entry : holders.entrySet()) {
            Holder other = entry.getValue();
            boolean shared = wish.reuse() && other.reuse() && !(wish.listening() && other.listening());
            if (entry.getKey() != wish.owner() && port.collides(other.port()) && !shared) {
                return Optional.empty();
            }
        }
        holders.put(wish.owner(), new Holder(port, process, wish.service(), wish.reuse(), wish.listening()));
        return Optional.of(port);
    }

    private CmPort free(CmPort wish) {
        for (int tries = FIRST_FREE; tries <= LAST_FREE; tries++) {
            CmPort port = wish.withNumber(next);
            next = next == LAST_FREE ? FIRST_FREE : next + 1;
            if (holders.values().stream().noneMatch(holder -> holder.port().collides(port))) {
                return port;
            }
        }
        return null;
    }

    /** Whether the owner held anything. */
    synchronized boolean unbind(long owner) {
        Holder gone = holders.remove(owner);
        if (gone != null && gone.listening()) {
            left.put(gone.port().withAnySpace(), clock.getAsLong());
        }
        return gone != null;
    }

    /**
     * Whether nobody listens there, but a process that goes on has only just stopped to: it may be about to listen
     * again.
     */
    synchronized boolean mayListenSoon(CmPort wanted) {
        long now = clock.getAsLong();
        left.values().removeIf(since -> now - since > REPLACING.toNanos());
        CmPort place = wanted.withAnySpace();
        return left.keySet().stream().anyMatch(port -> port.isAt(place) || port.includes(place));
    }

    /** All that an ended process held. */
    synchronized void forget(Object process) {
        holders.values().removeIf(holder -> holder.process() == process);
    }

    /** The service queue pair of who listens at an address: at exactly that one before at any. */
    synchronized Optional<VerbsAddress> find(CmPort wanted) {
        return listener(port -> port.isAt(wanted)).or(() -> listener(port -> port.includes(wanted)))
                .map(Holder::service);
    }

    private Optional<Holder> listener(Predicate<CmPort> where) {
        return holders.values().stream().filter(holder -> holder.listening() && where.test(holder.port())).findFirst();
    }
}
