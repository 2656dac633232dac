package org.udckpt.transport;

import io.netty.channel.Channel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Connections that have not yet proved to belong to the job. They have few places, each address fewer. Where there is
 * none, the oldest makes room: a node proves itself in milliseconds, so that whoever holds places without proof keeps
 * no node out. None goes before it had time for a handshake, which bounds the rate too; from one address 32 in 0.1 s.
 * Not thread-safe.
 */
final class UnauthenticatedConnections {
    /** Time for a handshake with a node that has something else to do. */
    static final long SETTLED_NS = Duration.ofMillis(100).toNanos();
    /**
     * Where all places are taken by different addresses, which may be all the job's nodes at its start: for as many
     * handshakes at once.
     */
    static final long SLOW_NS = Duration.ofSeconds(2).toNanos();

    /** @param since in nanoseconds */
    record Stranger(InetSocketAddress peer, Channel channel, long since) {}

    /** @param refusal null: it may. @param loser who has to go for it; null: nobody */
    record Verdict(String refusal, Stranger loser) {}

    private final TransportLimits limits;
    /** The oldest first. */
    private final Map<SocketAddress, Stranger> all = new LinkedHashMap<>();
    private final Map<InetAddress, Integer> ofOne = new HashMap<>();

    UnauthenticatedConnections(TransportLimits limits) {
        this.limits = limits;
    }

    Verdict enter(InetSocketAddress peer, Channel channel, long now) {
        int own = ofOne.getOrDefault(peer.getAddress(), 0);
        Stranger loser = null;
        if (own >= limits.strangersOfOne()) {
            loser = oldest(peer.getAddress(), SETTLED_NS, now);
            if (loser == null) {
                return new Verdict(own + " of its connections are not authenticated yet", null);
            }
        } else if (all.size() >= limits.strangers()) {
            loser = loserOfAll(own, now);
            if (loser == null) {
                return new Verdict(all.size() + " connections are not authenticated yet", null);
            }
        }
        if (loser != null) {
            remove(loser.peer());
        }
        all.put(peer, new Stranger(peer, channel, now));
        ofOne.merge(peer.getAddress(), 1, Integer::sum);
        return new Verdict(null, loser);
    }

    /** The connection to close: of the address that has most, unless the newcomer's address would then have as many. */
    private Stranger loserOfAll(int own, long now) {
        Map.Entry<InetAddress, Integer> most =
                ofOne.entrySet().stream().max(Comparator.comparingInt(Map.Entry::getValue)).orElseThrow();
        Stranger greedy = most.getValue() > own + 1 ? oldest(most.getKey(), SETTLED_NS, now) : null;
        return greedy != null ? greedy : oldest(null, SLOW_NS, now);
    }

    /** @param of null: any address. @return null: it came less than this time ago */
    private Stranger oldest(InetAddress of, long age, long now) {
        for (Stranger one : all.values()) {
            if (of == null || of.equals(one.peer().getAddress())) {
                return now - one.since() >= age ? one : null;
            }
        }
        return null;
    }

    /** Null: it is none, or none any more. */
    Stranger remove(SocketAddress peer) {
        Stranger one = all.remove(peer);
        if (one != null) {
            ofOne.computeIfPresent(one.peer().getAddress(), (_, count) -> count == 1 ? null : count - 1);
        }
        return one;
    }
}
