package org.udckpt.lifecycle.lead;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.udckpt.cluster.NodeJob;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.support.report.Durations;
import org.udckpt.support.report.Messages;

/**
 * Units of a job on several hosts whose agents are lost: nobody knows whether their ranks still run, until they cannot
 * any more. Thread-safe.
 */
public final class LostUnits {
    /** From an agent's finding to the end of its last rank. */
    private static final long KILL_NS = TimeUnit.SECONDS.toNanos(2);

    private final NodeJob job;
    private final Timing timing;
    private final Set<String> hosts;
    private final Set<Integer> units = ConcurrentHashMap.newKeySet();
    /** Lost units of which only the silence is known: the host may be lost, or only the network to it. */
    private final Set<Integer> silent = ConcurrentHashMap.newKeySet();
    /** When the last one was found to be lost, in {@link System#nanoTime}'s terms. */
    private volatile long lostAt;

    /** @param hosts is told of those that are lost */
    LostUnits(NodeJob job, Timing timing, Set<String> hosts) {
        this.job = job;
        this.timing = timing;
        this.hosts = hosts;
    }

    /** These, together. @param hostsToo their agents did not end by themselves */
    void add(Collection<Integer> lost, boolean hostsToo, long now) {
        units.addAll(lost);
        if (hostsToo && lost.size() == 1) {
            // else one command of a starter was the way to all of them, and says nothing about their hosts
            missing(lost);
        }
        lostAt = now;
    }

    /**
     * Nobody knows why nothing is heard of it: its host may be lost, or only the way to it. False: it was lost before.
     */
    boolean silent(int unit, long now) {
        boolean isNew = units.add(unit);
        if (isNew) {
            silent.add(unit);
            lostAt = now;
        }
        return isNew;
    }

    /**
     * Agents that have ended in good order, as those do that have lost their way to the lead: what silence made of
     * their hosts is not so.
     */
    void endedByItself(Collection<Integer> ended) {
        silent.removeAll(ended);
    }

    /** Notes hosts that have no agents, or none any more. */
    void missing(Collection<Integer> lost) {
        lost.forEach(unit -> hosts.add(job.units().get(unit).host()));
    }

    Set<Integer> units() {
        return Set.copyOf(units);
    }

    /** From the loss of the lead, or of the way to it, to the end of the last rank anywhere, in nanoseconds. */
    public long bound() {
        return new Tree(job.nodes(), job.fanOut()).depth() * (timing.lease() + timing.heartbeat()) + timing.heartbeat()
                + KILL_NS;
    }

    /**
     * Waits until none of them can have ranks that still run, and settles whose hosts are lost: each agent ends its own
     * when it finds that it has no way to the root any more (docs/internals/coordination.md, Leases).
     */
    public void awaitEnd() throws InterruptedException {
        long left = units.isEmpty() ? 0 : lostAt + bound() - System.nanoTime();
        if (left > 0) {
            Messages.info("waiting " + Durations.format(left) + " until the ranks of "
                    + units.stream().map(job.units()::get).map(UnitNames::place).collect(Collectors.joining(", "))
                    + " have certainly ended");
            TimeUnit.NANOSECONDS.sleep(left);
        }
        if (silent.size() == job.units().size()) {
            Messages.warn("all hosts of job " + job.name() + " fell silent: this host was probably cut off or "
                    + "stopped; all hosts are used again");
        } else {
            missing(silent);
        }
    }
}
