package org.udckpt.cluster;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.udckpt.address.RankSpan;
import org.udckpt.launch.pmi.PmiClient;
import org.udckpt.launch.pmi.PmiListener;
import org.udckpt.launch.pmi.PmiServer;
import org.udckpt.launch.pmi.PmiState;

/** {@link MemoryNodes} with the servers of their ranks. */
final class PmiNetwork implements AutoCloseable {
    private static final String NAME = "kvs_test";

    /** An agent: its ranks, and what its server has said of them. */
    final class Agent implements PmiListener {
        final RankSpan span;
        final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        final PmiServer server;
        private final Path socket;

        private Agent(Path socket, RankSpan span, PmiState state) throws IOException {
            this.span = span;
            this.socket = socket;
            this.server = state == null ? PmiServer.start(socket, NAME, span, "(vector,(0,4,2))", this)
                    : PmiServer.restore(socket, span, state, this);
        }

        PmiClient rank(int rank) throws IOException {
            PmiClient client = new PmiClient(socket, rank);
            ranks.add(client);
            return client;
        }

        @Override
        public void aborted(int rank, int exitCode) {
            heard.add("aborted " + rank + " " + exitCode);
        }

        @Override
        public void lost(int rank) {
            heard.add("lost " + rank);
        }

        @Override
        public void contradicted(String why) {
            heard.add("contradicted " + why);
        }

        @Override
        public void refused(int rank, String reason) {
            heard.add("refused " + rank + " " + reason);
        }
    }

    final MemoryNodes nodes;
    final List<Agent> agents = new ArrayList<>();
    private final List<PmiClient> ranks = new ArrayList<>();

    /**
     * @param spans  of the agents, in order
     * @param states of an earlier incarnation, or null
     */
    PmiNetwork(Path directory, int incarnation, int fanOut, List<RankSpan> spans, List<PmiState> states)
            throws IOException {
        this(directory, incarnation, new MemoryNodes(incarnation, fanOut, spans.size()), spans, states);
    }

    PmiNetwork(Path directory, int incarnation, MemoryNodes nodes, List<RankSpan> spans, List<PmiState> states)
            throws IOException {
        this.nodes = nodes;
        for (int unit = 0; unit < spans.size(); unit++) {
            Agent agent = new Agent(directory.resolve("pmi-" + incarnation + "-" + unit), spans.get(unit),
                    states == null ? null : states.get(unit));
            agents.add(agent);
            nodes.pmi(unit).serve(agent.server);
        }
    }

    /** Agents with the same number of ranks each. */
    static List<RankSpan> spans(int agents, int ranksOfOne) {
        List<RankSpan> spans = new ArrayList<>();
        for (int agent = 0; agent < agents; agent++) {
            spans.add(new RankSpan(agent * ranksOfOne, ranksOfOne, agents * ranksOfOne));
        }
        return spans;
    }

    Agent of(int rank) {
        return agents.stream().filter(agent -> agent.span.has(rank)).findFirst().orElseThrow();
    }

    synchronized PmiClient rank(int rank) throws IOException {
        return of(rank).rank(rank);
    }

    List<PmiState> states() {
        return agents.stream().map(agent -> agent.server.state()).toList();
    }

    @Override
    public void close() throws IOException {
        for (PmiClient client : ranks) {
            client.close();
        }
        for (Agent agent : agents) {
            agent.server.close();
        }
        nodes.close();
    }
}
