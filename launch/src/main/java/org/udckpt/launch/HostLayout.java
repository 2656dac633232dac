package org.udckpt.launch;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.udckpt.address.RankSpan;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/** Which (simulated) host each rank is on: consecutive ranks fill the hosts in order. */
public record HostLayout(List<Host> hosts) {
    public record Host(String name, int ranks) {}

    /** Most ranks of one agent, and so of one host. */
    private static final int MAX_RANKS = 1024; // SHEPHERD_MAX_ROOTS of native/src/main/c/shepherd/shepherd.h

    /**
     * The hosts of a job of one agent.
     *
     * @param text {@code a:2,b:2}, a host without a number has one rank; null: one host for all
     * @param ranks the number given by -n, or null
     */
    public static HostLayout parse(String text, Integer ranks) {
        if (ranks != null && (ranks < 1 || ranks > MAX_RANKS)) {
            throw new Failure(ExitCode.USAGE, "-n " + ranks + ": give 1 to " + MAX_RANKS + " ranks");
        }
        if (text == null) {
            return new HostLayout(List.of(new Host("localhost", ranks == null ? 1 : ranks)));
        }
        HostLayout layout = parse(text);
        if (layout.ranks() > MAX_RANKS) {
            throw new Failure(ExitCode.USAGE, "--hosts " + text + ": give at most " + MAX_RANKS + " ranks");
        }
        if (ranks != null && layout.ranks() != ranks) {
            throw new Failure(ExitCode.USAGE, "--hosts " + text + " has places for " + layout.ranks()
                    + " ranks, but -n is " + ranks);
        }
        return layout;
    }

    /** The hosts of a job of any number of agents. @param text as {@link #format} writes it */
    public static HostLayout parse(String text) {
        List<Host> hosts = new ArrayList<>();
        for (String word : text.split(",", -1)) {
            hosts.add(host(word, text));
        }
        HostLayout layout = new HostLayout(List.copyOf(hosts));
        if (layout.hosts.stream().map(Host::name).distinct().count() != hosts.size()) {
            throw new Failure(ExitCode.USAGE, "--hosts " + text + ": a host appears twice");
        }
        return layout;
    }

    private static Host host(String word, String text) {
        String[] parts = word.split(":", -1);
        boolean named = parts[0].matches("[A-Za-z0-9][A-Za-z0-9._-]*");
        boolean counted = parts.length == 1 || parts.length == 2 && parts[1].matches("[1-9]\\d{0,3}");
        if (!named || !counted) {
            throw new Failure(ExitCode.USAGE, "--hosts " + text + ": '" + word + "' is not NAME or NAME:RANKS");
        }
        return new Host(parts[0], parts.length == 1 ? 1 : Integer.parseInt(parts[1]));
    }

    /** The hosts of a job that has an agent on each. @param ranks the number given by -n, or null */
    public static HostLayout ofAgents(String text, Integer ranks) {
        HostLayout layout = parse(text);
        layout.hosts.stream().filter(host -> host.ranks() > MAX_RANKS).findFirst().ifPresent(host -> {
            throw new Failure(ExitCode.USAGE,
                    "--hosts " + text + ": give host " + host.name() + " at most " + MAX_RANKS + " ranks");
        });
        if (ranks != null && layout.ranks() != ranks) {
            throw new Failure(ExitCode.USAGE, "--hosts " + text + " has places for " + layout.ranks()
                    + " ranks, but -n is " + ranks);
        }
        return layout;
    }

    /** In the form that {@link #parse} reads. */
    public String format() {
        return hosts.stream().map(host -> host.name() + ":" + host.ranks()).collect(Collectors.joining(","));
    }

    public int ranks() {
        return hosts.stream().mapToInt(Host::ranks).sum();
    }

    public List<Integer> ranksPerHost() {
        return hosts.stream().map(Host::ranks).toList();
    }

    /**
     * The hosts of one agent's ranks.
     *
     * @throws IllegalArgumentException if the job has another number of ranks, or a host is not wholly the agent's
     */
    public List<Host> hosts(RankSpan span) {
        if (span.total() != ranks() || localRank(span.first()) != 0
                || span.end() < span.total() && localRank(span.end()) != 0) {
            throw new IllegalArgumentException("an agent with " + span + " has not whole hosts of " + format());
        }
        if (span.count() > MAX_RANKS) {
            throw new Failure(ExitCode.USAGE, "an agent with " + span + " has " + span.count() + " ranks; at most "
                    + MAX_RANKS + " are possible: give its hosts fewer");
        }
        return hosts.subList(hostOf(span.first()), hostOf(span.end() - 1) + 1);
    }

    /** Index into hosts(). */
    public int hostOf(int rank) {
        int first = 0;
        for (int host = 0; host < hosts.size(); host++) {
            if (rank < first + hosts.get(host).ranks()) {
                return host;
            }
            first += hosts.get(host).ranks();
        }
        throw new IndexOutOfBoundsException("rank " + rank + " of " + ranks());
    }

    /** The rank's number among those of its host. */
    public int localRank(int rank) {
        int first = 0;
        int own = hostOf(rank);
        for (int host = 0; host < own; host++) {
            first += hosts.get(host).ranks();
        }
        return rank - first;
    }

    public String hostName(int rank) {
        return hosts.get(hostOf(rank)).name();
    }
}
