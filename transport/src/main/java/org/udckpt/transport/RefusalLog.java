package org.udckpt.transport;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Says who was refused and why: each peer once, and then at most once a minute, with how often it was meanwhile. So a
 * port scan or a node of another job that keeps trying costs a line, whatever it does.
 */
final class RefusalLog {
    private static final long QUIET_NS = Duration.ofMinutes(1).toNanos();
    /** From a node's end to when the last one has heard of it, on busy machines too. */
    private static final long SOON_NS = Duration.ofSeconds(2).toNanos();
    /** Peers that are told apart; all further ones count as one. */
    private static final int PEERS = 1024;
    private static final String OTHERS = "other addresses";

    private static final class Peer {
        long said;
        long unsaid;
        long times;
    }

    private final Map<String, Peer> peers = new HashMap<>();
    private final Consumer<String> log;
    private final LongSupplier clock;
    private final AtomicInteger waiting = new AtomicInteger();
    private long total;
    private boolean quiet;

    /** @param clock in nanoseconds */
    RefusalLog(Consumer<String> log, LongSupplier clock) {
        this.log = log;
        this.clock = clock;
    }

    void note(SocketAddress from, String why) {
        count();
        say(from, why);
    }

    private synchronized void count() {
        total++;
    }

    /**
     * Counts it, and says it after a moment, unless it is {@link #quiet} by then: for what a stranger does, and also a
     * node of the job whose end this one has not heard of yet.
     */
    void noteSoon(SocketAddress from, String why, ScheduledExecutorService clock) {
        count();
        if (waiting.incrementAndGet() > PEERS) { // a flood takes no more memory than this
            waiting.decrementAndGet();
            say(from, why);
            return;
        }
        clock.schedule(() -> {
            waiting.decrementAndGet();
            say(from, why);
        }, SOON_NS, TimeUnit.NANOSECONDS);
    }

    private void say(SocketAddress from, String why) {
        String line;
        synchronized (this) {
            if (quiet) {
                return;
            }
            long now = clock.getAsLong();
            String name = name(from);
            Peer known = peers.get(name);
            if (known == null) {
                name = peers.size() < PEERS ? name : OTHERS;
                known = peers.computeIfAbsent(name, n -> {
                    Peer fresh = new Peer();
                    fresh.said = now - QUIET_NS;
                    return fresh;
                });
            }
            known.times++;
            if (now - known.said < QUIET_NS) {
                known.unsaid++;
                return;
            }
            line = "refused " + name + ": " + why
                    + (known.unsaid == 0 ? "" : ", and " + known.unsaid + " times before in the last minutes");
            known.said = now;
            known.unsaid = 0;
        }
        log.accept(line);
    }

    /** Says nothing more, and goes on counting. */
    synchronized void quiet() {
        quiet = true;
    }

    /** All there were. */
    synchronized long total() {
        return total;
    }

    private static String name(SocketAddress from) {
        if (from instanceof InetSocketAddress ip) {
            InetAddress address = ip.getAddress();
            return address == null ? ip.getHostString() : address.getHostAddress();
        }
        return from == null ? "an unknown address" : from.toString();
    }
}
