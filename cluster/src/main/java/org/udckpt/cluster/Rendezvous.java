package org.udckpt.cluster;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.transport.TransportEndpoint;

/**
 * The lead's part of how nodes find each other: it waits until all agents have said where they are, and tells each of
 * those that it may ever talk to.
 */
final class Rendezvous implements NodeLoop.Introductions {
    private final NodeJob job;
    private final Tree tree;
    private final TransportEndpoint endpoint;
    private final Map<Integer, Introduction.Hello> known = new TreeMap<>();
    /** That came after all were there, and have been told of. */
    private final Set<Introduction.Hello> refused = new HashSet<>();
    private final CompletableFuture<Void> complete = new CompletableFuture<>();
    private Map<Integer, Map<Integer, InetSocketAddress>> rosters;

    Rendezvous(NodeJob job, TransportEndpoint endpoint) {
        this.job = job;
        this.tree = new Tree(job.nodes(), job.fanOut());
        this.endpoint = endpoint;
    }

    /** Complete when all are there and each has been told of the others; fails when one came that cannot be. */
    CompletableFuture<Void> complete() {
        return complete;
    }

    @Override
    public synchronized void received(int from, byte[] message, long now) throws MalformedMessage {
        if (!(Introduction.decode(message) instanceof Introduction.Hello hello)) {
            throw new MalformedMessage("an agent sent a message that only the lead may send");
        }
        Introduction.Hello before = known.putIfAbsent(from, hello);
        String refusal = refusal(from, hello, before);
        if (refusal != null) {
            if (!complete.completeExceptionally(new Failure(ExitCode.UNSUPPORTED, refusal)) && refused.add(hello)) {
                // it says hello again and again
                Messages.warn(refusal + "; its messages are ignored");
            }
            return;
        }
        endpoint.reach(from, hello.address());
        if (rosters != null) {
            tell(from);
        } else if (known.size() == job.units().size()) {
            rosters = rosters();
            known.keySet().forEach(this::tell);
            complete.complete(null);
        }
    }

    private String refusal(int from, Introduction.Hello hello, Introduction.Hello before) {
        if (hello.version() != SpecificationText.VERSION) {
            return "the agent of " + name(from) + ", process " + hello.pid() + " on " + hello.host()
                    + ", speaks version " + hello.version() + ", but the lead speaks version "
                    + SpecificationText.VERSION + ": install the same udckpt on all hosts";
        }
        return before == null || before.equals(hello) ? null : name(from) + " has connected twice: as process "
                + before.pid() + " on " + before.host() + " and as process "
                + hello.pid() + " on " + hello.host() + "; the starter must start one agent for each unit";
    }

    private String name(int node) {
        return "unit " + NodeJob.unit(node) + " (" + job.units().get(NodeJob.unit(node)).host() + ")";
    }

    /** For each node the nodes below and above, at any distance: a node whose parent is lost turns to one of them. */
    private Map<Integer, Map<Integer, InetSocketAddress>> rosters() {
        Map<Integer, Map<Integer, InetSocketAddress>> all = new HashMap<>();
        known.keySet().forEach(node -> all.put(node, new LinkedHashMap<>()));
        for (int node : known.keySet()) {
            for (int above = tree.parent(node); above > 0; above = tree.parent(above)) {
                all.get(above).put(node, known.get(node).address());
                all.get(node).put(above, known.get(above).address());
            }
        }
        return all;
    }

    private void tell(int node) {
        List<Map.Entry<Integer, InetSocketAddress>> others = new ArrayList<>(rosters.get(node).entrySet());
        int sent = 0;
        do {
            Map<Integer, InetSocketAddress> piece = new LinkedHashMap<>();
            others.subList(sent, Math.min(others.size(), sent + Introduction.MOST_OF_ONE))
                    .forEach(entry -> piece.put(entry.getKey(), entry.getValue()));
            endpoint.send(node, new Introduction.Roster(others.size(), piece).encode());
            sent += Introduction.MOST_OF_ONE;
        } while (sent < others.size());
    }

    /** Tells all that have come so far that it is over. */
    synchronized void farewell(String reason) {
        known.keySet().forEach(node -> endpoint.send(node, new Introduction.Farewell(reason).encode()));
    }

    /** The units whose agents have not come yet. */
    synchronized List<Integer> missing() {
        return IntStream.range(0, job.units().size()).filter(unit -> !known.containsKey(NodeJob.node(unit))).boxed()
                .toList();
    }
}
