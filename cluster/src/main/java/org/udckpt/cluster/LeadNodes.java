package org.udckpt.cluster;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.udckpt.coordination.protocol.Budgets;
import org.udckpt.coordination.protocol.NodeProtocol;
import org.udckpt.coordination.tree.Timing;
import org.udckpt.coordination.tree.Tree;
import org.udckpt.support.config.Option;
import org.udckpt.support.config.Settings;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.transport.JobCredential;
import org.udckpt.transport.TransportEndpoint;
import org.udckpt.transport.TransportLimits;

/**
 * The lead's side of a job on several hosts: its agents, and its own node, which is the tree's root and has no ranks.
 */
public final class LeadNodes implements AutoCloseable {
    /** Each node is told, most by a connection that has to be made again. */
    private static final Duration LAST_WORDS = Duration.ofSeconds(5), A_HANDSHAKE = Duration.ofMillis(5);
    private static final int CANNOT_EXECUTE = 126, NO_SUCH_COMMAND = 127, NO_CONNECTION = 255;

    private final NodeJob job;
    private final LeadListener part;
    private final NodeLoop loop;
    private final TransportEndpoint endpoint;
    private final NodeHandle node;
    private final Rendezvous rendezvous;
    private final AgentProcesses processes = new AgentProcesses(StandardInput.OWN);
    private volatile boolean ending;
    private boolean closed;

    private LeadNodes(NodeJob job, int incarnation, Timing timing, InetSocketAddress bind, JobCredential credential,
            LeadListener part) throws IOException {
        this.job = job;
        this.part = part;
        loop = new NodeLoop(0, part::table);
        endpoint = new TransportEndpoint(0, job.nodes(), bind, credential, loop,
                TransportLimits.usual().ofTree(timing.heartbeat()));
        rendezvous = new Rendezvous(job, endpoint);
        NoRanks ranks = new NoRanks(loop, part::counts);
        NodeProtocol root = new NodeProtocol(0, incarnation, new Tree(job.nodes(), job.fanOut()), timing, Budgets.USUAL,
                endpoint, ranks, part, System.nanoTime());
        ranks.of(root);
        root.whenLost(endpoint::forget);
        node = new NodeHandle(root, loop, endpoint::table);
    }

    /**
     * Starts the agents, and returns when all have come and know of each other. The part may begin things then.
     *
     * @param settings checked; agents get those that were given
     * @param timing of the tree; how long it waits for a node's first word is added to what starting may take
     * @param credential of this incarnation, which the agents get
     * @throws Failure naming host and command, when an agent cannot be started or does not come in time; nothing is
     *     left then
     */
    public static LeadNodes start(Settings settings, Starter starter, NodeJob job, Timing timing,
            JobCredential credential, LeadListener part) throws InterruptedException {
        Duration timeout = settings.duration(Option.START_TIMEOUT);
        if (timeout.isZero()) {
            throw settings.bad(Option.START_TIMEOUT, "a longer time");
        }
        List<StartCommand> commands = commands(settings, starter, job);
        Timing waiting = new Timing(timing.heartbeat(), timing.lease(), timing.start() + timeout.toNanos());
        int incarnation = new SecureRandom().nextInt();
        LeadNodes nodes;
        try {
            nodes = new LeadNodes(job, incarnation, waiting,
                    new InetSocketAddress(LeadAddress.of(settings, starter, job.units()), 0), credential, part);
        } catch (IOException e) {
            throw Failure.of("listening for the job's agents", e);
        }
        try {
            part.joined(nodes.node);
            nodes.loop.start(nodes.node.part(), nodes.rendezvous, nodes::failed);
            NodeSpecification specification = new NodeSpecification(job, incarnation,
                    NodeSpecification.Address.of(nodes.endpoint.address()), waiting, timeout.toNanos(),
                    NodeSpecification.given(settings));
            nodes.processes.start(commands, new SpecificationText(specification, credential).encode(), nodes::ended);
            nodes.await(timeout);
            return nodes;
        } catch (RuntimeException | Error | InterruptedException e) {
            nodes.close("the job was not started");
            throw e;
        }
    }

    /**
     * That agents could be started, as far as this host knows.
     *
     * @return where the lead would listen
     * @throws Failure as {@link #start} would, before it starts anything
     */
    public static InetAddress check(Settings settings, Starter starter, NodeJob job) {
        commands(settings, starter, job);
        return LeadAddress.of(settings, starter, job.units());
    }

    private static List<StartCommand> commands(Settings settings, Starter starter, NodeJob job) {
        List<StartCommand> commands = starter.commands(job, AgentWords.words(settings));
        AgentWords.requireProgram(commands.getFirst().words().getFirst());
        return commands;
    }

    /** How long it may take until the lead has told each node a word, in nanoseconds: by a new connection to each. */
    static long toldAll(NodeJob job) {
        return A_HANDSHAKE.multipliedBy(job.nodes()).toNanos();
    }

    private void await(Duration timeout) throws InterruptedException {
        try {
            rendezvous.complete().get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            loop.execute(now -> node.part().treeNode().allHaveCome(toldAll(job), now));
        } catch (ExecutionException e) {
            throw Failure.of("starting the job's agents", e);
        } catch (TimeoutException e) {
            List<Integer> missing = rendezvous.missing();
            part.missing(missing);
            throw new Failure(ExitCode.TIMEOUT,
                    StartCommand.agents(missing) + " (host " + job.units().get(missing.getFirst()).host()
                            + (missing.size() > 1 ? ", ..." : "")
                            + ") did not connect within --start-timeout " + timeout.toSeconds()
                            + " s: read the starter's output above, and check that the host can connect to "
                            + endpoint.address().getAddress().getHostAddress() + " (--lead-address)",
                    e);
        }
    }

    /** A starter's process has ended. */
    private void ended(StartCommand command, int code) {
        if (ending) {
            return;
        }
        String reason =
                command.agents() + " ended with exit code " + code + ": " + command.shown() + hint(command, code);
        boolean startFailed = rendezvous.complete().completeExceptionally(new Failure(ExitCode.IO, reason));
        if (startFailed) {
            if (command.isOfOne()) { // else it was the way to all of them, and says nothing about their hosts
                part.missing(command.units());
            }
        } else {
            loop.execute(now -> part.agentsEnded(command.units(), isOfAgent(code), reason, now));
        }
    }

    /** Not a signal's, nor one by which shells and ssh say that there is no agent or no way to it. */
    private static boolean isOfAgent(int code) {
        return code < CANNOT_EXECUTE;
    }

    private static String hint(StartCommand command, int code) {
        return switch (code) {
            case NO_SUCH_COMMAND -> "; the command does not exist on that host: install udckpt there at the same "
                    + "path, or set UDCKPT_REMOTE to its path";
            case NO_CONNECTION -> "; the host may be unreachable or refuse the login: try '"
                    + command.words().getFirst() + "' by hand";
            default -> "";
        };
    }

    private void failed(Throwable cause) {
        if (!rendezvous.complete().completeExceptionally(cause)) {
            part.failed(cause);
        }
    }

    /** The lead's own. */
    public NodeHandle node() {
        return node;
    }

    /**
     * Tells all agents that it is over ({@code coordinator().end} before, for a job whose ranks should end in order),
     * waits for their processes, kills what does not end, and closes the lead's node. What they had printed has been
     * printed then.
     */
    @Override
    public void close() {
        close("");
    }

    private void close(String reason) {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        ending = true;
        loop.close(); // no heartbeat any more, to nodes that are ending
        endpoint.parting();
        boolean told = rendezvous.missing().isEmpty();
        rendezvous.farewell(reason);
        try {
            endpoint.flush(LAST_WORDS.plusNanos(toldAll(job)));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (told) {
            processes.close();
        } else {
            processes.end();
        }
        endpoint.close();
    }
}
