package org.udckpt.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.address.DatagramKey;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.tree.MalformedMessage;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.report.Messages;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportEndpoint;
import org.udckpt.transport.TransportLimits;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** An agent's process, from its specification to its end: one node of the job's tree, with one unit of ranks. */
public final class NodeAgent {
    /**
     * Before hello is said a second time. Messages arrive, so that it hardly needs to be: the pauses double, for tens
     * of thousands may wait for the last of them.
     */
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LAST_WORDS = Duration.ofSeconds(5);
    /** An exit code's part that says "by a signal", as a shell has it. */
    private static final int KILLED = 128;
    private static final Signal TERM = new Signal("TERM");

    private final NodeSpecification specification;
    private final int node;
    private final InetSocketAddress own;
    private final Map<Integer, InetSocketAddress> roster = new HashMap<>();
    private final CompletableFuture<Void> introduced = new CompletableFuture<>();
    private final CompletableFuture<Integer> end = new CompletableFuture<>();

    private NodeAgent(NodeSpecification specification, int unit) {
        this.specification = specification;
        this.node = NodeJob.node(unit);
        this.own = own(specification.lead().socket());
    }

    /**
     * Is one agent, until its end.
     *
     * @param input    standard input, unbuffered: what follows the specification stays unread
     * @param which    of the units it has
     * @param settings this host's own
     * @return the exit code
     * @throws Failure when the specification is none, or the lead does not answer
     */
    public static int run(InputStream input, UnitChoice which, Settings settings, AgentListener.Maker maker)
            throws InterruptedException {
        SpecificationText text = SpecificationText.read(input);
        NodeSpecification specification = text.specification();
        int unit = which.of(specification);
        NodeAgent agent = new NodeAgent(specification, unit);
        // the starter's way to end it
        SignalHandler before = Signal.handle(TERM, signal -> agent.end.complete(KILLED + signal.getNumber()));
        try {
            return agent.run(text.credential(), unit, specification.over(settings).checked(), maker);
        } finally {
            Signal.handle(TERM, before);
        }
    }

    private int run(JobCredential credential, int unit, Settings settings, AgentListener.Maker maker)
            throws InterruptedException {
        NodeLoop loop = new NodeLoop(node, NodeAgent::refuse);
        try (AgentListener ranks = maker.make(specification, unit, settings,
                DatagramKey.of(credential.token(), specification.job().generation()), end::complete)) {
            TransportEndpoint endpoint = new TransportEndpoint(node, specification.job().nodes(), own, credential, loop,
                    TransportLimits.usual().ofTree(specification.timing().heartbeat()));
            try (endpoint; loop) {
                NodeProtocol part = new NodeProtocol(node, specification.incarnation(), specification.tree(),
                        specification.timing(), Budgets.USUAL, endpoint, ranks, null, System.nanoTime());
                part.whenLost(endpoint::forget);
                ranks.joined(new NodeHandle(part, loop, endpoint::table));
                endpoint.reach(0, specification.lead().socket());
                loop.start(part, (from, message, now) -> received(endpoint, part, from, message, now),
                        failure -> end.complete(ExitCode.INTERNAL.value()));
                introduce(endpoint);
                int code = end.get();
                loop.close(); // no heartbeat any more, to nodes that may have ended
                endpoint.flush(LAST_WORDS);
                return code;
            }
        } catch (IOException | ExecutionException e) {
            throw Failure.of("the agent of unit " + unit, e);
        }
    }

    private static void refuse(int from, byte[] subject, VectorSchemaRoot table) {
        throw new IllegalArgumentException("node " + from + " sends a table to an agent, which has asked for none");
    }

    /** Says hello until the lead has told where the others are, or that there is nothing to do. */
    private void introduce(TransportEndpoint endpoint) throws InterruptedException, ExecutionException {
        byte[] hello = new Introduction.Hello(SpecificationText.VERSION, ProcessHandle.current().pid(),
                endpoint.address(), hostName()).encode();
        CompletableFuture<?> answered = CompletableFuture.anyOf(introduced, end);
        long until = System.nanoTime() + specification.timeout();
        for (long pause = FIRST_PAUSE.toNanos(); System.nanoTime() - until < 0; pause *= 2) {
            endpoint.send(0, hello);
            try {
                answered.get(Math.min(pause, Math.max(1, until - System.nanoTime())), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException e) {
                Messages.debugTrace("the lead has not answered yet", e);
            }
        }
        throw new Failure(ExitCode.TIMEOUT, "the agent on " + hostName() + " (" + own.getAddress().getHostAddress()
                + "), unit " + NodeJob.unit(node)
                + ", got no answer from the lead at " + specification.lead().host() + " port "
                + specification.lead().port() + " within "
                + Duration.ofNanos(specification.timeout()).toSeconds() + " s: check that no firewall between the "
                + "hosts blocks TCP connections, or give --lead-address");
    }

    /** In the node's thread. */
    private void received(TransportEndpoint endpoint, NodeProtocol part, int from, byte[] message, long now)
            throws MalformedMessage {
        if (from != 0) {
            throw new MalformedMessage("node " + from + " speaks as if it was the lead");
        }
        switch (Introduction.decode(message)) {
            case Introduction.Roster(int all, Map<Integer, InetSocketAddress> nodes) -> {
                nodes.forEach((other, address) -> reach(endpoint, other, address));
                if (roster.size() == all) {
                    part.treeNode().allHaveCome(LeadNodes.toldAll(specification.job()), now);
                    introduced.complete(null);
                }
            }
            case Introduction.Farewell(String reason) -> {
                if (!reason.isEmpty()) {
                    Messages.debugTrace("the agent of unit " + NodeJob.unit(node) + " ends",
                            new Failure(ExitCode.DONE, reason));
                }
                endpoint.parting();
                end.complete(ExitCode.DONE.value());
            }
            case Introduction.Hello hello -> throw new MalformedMessage("the lead introduces itself");
        }
    }

    private void reach(TransportEndpoint endpoint, int other, InetSocketAddress address) {
        if (!address.equals(roster.put(other, address))) {
            // said again when our hello was: nobody is reached anew that was lost
            endpoint.reach(other, address);
        }
    }

    /** The address of this host that it speaks to the lead from: by it the others find it too. No packet is sent. */
    private static InetSocketAddress own(InetSocketAddress lead) {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(lead);
            return new InetSocketAddress(socket.getLocalAddress(), 0);
        } catch (IOException | java.io.UncheckedIOException e) {
            throw Failure.of("there is no route from " + hostName() + " to the lead at "
                    + lead.getAddress().getHostAddress(), e);
        }
    }

    static String hostName() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (IOException e) {
            return "a host whose name has no address"; // for messages only
        }
    }
}
