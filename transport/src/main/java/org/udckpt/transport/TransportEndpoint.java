package org.udckpt.transport;

import io.grpc.Server;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.auth.ServerAuthHandler;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.udckpt.coordination.tree.TreeTransport;
import org.udckpt.support.report.Messages;

/**
 * A node's end of the ways between a job's nodes (docs/reference/transport.md): takes what others send to it and sends
 * to those whose addresses it was told. Bound to one address. Who is lost is not its business: it tries until it is
 * told to {@link #forget} the node.
 */
public final class TransportEndpoint implements TreeTransport, AutoCloseable {
    private static final int CALLS_OF_A_CONNECTION = 8, HEADER_BYTES = 8 << 10;
    private static final Set<String> METHODS = Set.of("DoAction", "DoPut");
    private static final Duration END = Duration.ofSeconds(2);

    private final LinkContext context;
    /**
     * Of frames that Flight reads. It does not free all of those that it finds damaged, so that they have bounds of
     * their own.
     */
    private final BufferAllocator frames;
    private final ConcurrentMap<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Peer> peers = new ConcurrentHashMap<>();
    private final Set<Integer> forgotten = ConcurrentHashMap.newKeySet();
    /** Peers that were given up and whose threads may still run. */
    private final Set<Peer> ending = ConcurrentHashMap.newKeySet();
    private final int nodes;
    private final RefusalLog refusals = new RefusalLog(Messages::warn, System::nanoTime);
    private final ConnectionGate gate;
    private final Server server;
    private volatile boolean closed;

    /**
     * @param node  its number in the job's tree
     * @param nodes how many the job has: who says that it is another one is refused
     * @param bind  an address of this machine that the other nodes reach; port 0: any free one
     * @throws IOException when nothing can be bound there
     */
    public TransportEndpoint(int node, int nodes, InetSocketAddress bind, JobCredential credential, Inbox inbox,
            TransportLimits limits) throws IOException {
        if (node < 0 || node >= nodes) {
            throw new IllegalArgumentException("node " + node + " of " + nodes);
        }
        if (bind.isUnresolved() || bind.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException("an endpoint needs one address of this machine, not " + bind);
        }
        this.nodes = nodes;
        LibraryLogs.quiet();
        EventLoopGroup loops = new NioEventLoopGroup(1, new DefaultThreadFactory("link", true));
        ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
        BufferAllocator allocator = new RootAllocator(4 * limits.tableBytes());
        frames = new RootAllocator(4 * limits.tableBytes());
        context = new LinkContext(node, bind.getAddress(), credential, limits, LinkTls.client(credential), loops, calls,
                allocator, new ConnectionPool(limits.connections()));
        gate = new ConnectionGate(limits, refusals);
        server = server(bind, new LinkService(node, nodes, inbox, limits, allocator));
        try {
            server.start();
        } catch (IOException e) {
            close();
            throw new IOException("listening at " + bind.getAddress().getHostAddress() + " port " + bind.getPort()
                    + ": " + e.getMessage(), e);
        }
    }

    private Server server(InetSocketAddress bind, LinkService service) {
        TransportLimits limits = context.limits();
        return NettyServerBuilder.forAddress(bind)
                .channelFactory(this::listeningChannel)
                .bossEventLoopGroup(context.loops()).workerEventLoopGroup(context.loops())
                .executor(context.calls())
                .sslContext(LinkTls.server(context.credential()))
                .handshakeTimeout(limits.handshake().toMillis(), TimeUnit.MILLISECONDS)
                .maxInboundMessageSize(limits.frameBytes()).maxInboundMetadataSize(HEADER_BYTES)
                .maxConcurrentCallsPerConnection(CALLS_OF_A_CONNECTION)
                .addTransportFilter(gate.filter())
                .addStreamTracerFactory(new CallWatch(refusals, gate))
                .intercept(new JobToken(context.credential()))
                .addService(flight(service))
                .build();
    }

    /**
     * The two methods of Flight that are used; the others are not there. Nor is Flight's own way to authenticate: the
     * token comes before it.
     */
    @SuppressWarnings("deprecation")
    private ServerServiceDefinition flight(LinkService service) {
        ServerServiceDefinition all = FlightGrpcUtils
                .createFlightService(frames, service, ServerAuthHandler.NO_OP, context.calls()).bindService();
        ServerServiceDefinition.Builder used = ServerServiceDefinition.builder(all.getServiceDescriptor().getName());
        for (ServerMethodDefinition<?, ?> method : all.getMethods()) {
            if (METHODS.contains(method.getMethodDescriptor().getBareMethodName())) {
                used.addMethod(method);
            }
        }
        return used.build();
    }

    /** The gate stands before gRPC, which knows of a connection only when it has set it up. */
    private NioServerSocketChannel listeningChannel() {
        NioServerSocketChannel channel = new NioServerSocketChannel();
        channel.pipeline().addLast(gate);
        return channel;
    }

    /** How many connections others have to it. */
    int connections() {
        return gate.open();
    }

    /** How many of these have proved to be of the job. */
    int members() {
        return gate.members();
    }

    /** How many it has to others. */
    int ownConnections() {
        return context.places().taken();
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /** Says where a node is, or is now. */
    public void reach(int node, InetSocketAddress address) {
        forgotten.remove(node);
        addresses.put(node, address);
        Peer known = peers.get(node);
        if (known != null) {
            known.reach(address);
        }
    }

    /**
     * Gives a node up, until it is reached again: what waits for it is dropped, and tables that it has not taken fail.
     * Returns at once. Who was given up may live: a message that is sent to it later, which says so, is tried for as
     * long as one call may take.
     */
    public void forget(int node) {
        forgotten.add(node);
        Peer old = peers.get(node);
        if (old != null) {
            drop(node, old);
        }
    }

    private void drop(int node, Peer peer) {
        ending.removeIf(Peer::hasEnded);
        ending.add(peer);
        peers.remove(node, peer);
        peer.end();
    }

    /** Never waits: messages for a node that is out of reach make room for newer ones, the oldest first. */
    @Override
    public void send(int to, byte[] message) {
        if (message.length > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException(
                    "a message of " + message.length + " bytes, more than " + MAX_MESSAGE_BYTES);
        }
        Peer peer = peer(to);
        peer.messages().send(message);
        if (forgotten.contains(to)) {
            Thread.ofVirtual().name("last word to node " + to).start(() -> dropSoon(to, peer));
        }
    }

    private void dropSoon(int node, Peer peer) {
        try {
            peer.awaitEmpty(context.limits().messageCall().toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (forgotten.contains(node) && !closed) {
            drop(node, peer);
        }
    }

    /**
     * Sends a table, after the tables that were sent to the node before; messages and tables overtake each other. Waits
     * while too many tables wait for the node already.
     *
     * @param table stays as it is until the answer is complete
     * @return complete when the receiver's inbox has taken all of it; fails with {@link LinkClosedException} when the
     *     node was given up, or with what the receiver said when it refuses the table
     */
    public CompletableFuture<Void> table(int to, byte[] subject, VectorSchemaRoot table) throws InterruptedException {
        if (forgotten.contains(to)) {
            return CompletableFuture.failedFuture(new LinkClosedException(to));
        }
        return peer(to).tables().table(subject, table);
    }

    private Peer peer(int to) {
        if (to == context.node() || to < 0 || to >= nodes) {
            throw new IllegalArgumentException("node " + context.node() + " sends to node " + to);
        }
        Peer peer = peers.computeIfAbsent(to, node -> new Peer(context, node, addresses.get(node)));
        if (closed) { // looked at now, so that close() has either seen the new one or is seen here
            peer.end();
            throw new IllegalStateException("the endpoint of node " + context.node() + " is closed");
        }
        return peer;
    }

    /** Nodes to which there are queues and threads. */
    int peers() {
        return peers.size();
    }

    /**
     * Waits until all has been taken that was sent. False: not in that time, or a node is not there any more to take
     * it.
     */
    public boolean flush(Duration longest) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        boolean empty = true;
        for (Peer peer : peers.values()) {
            empty &= peer.awaitEmpty(end - System.nanoTime());
        }
        return empty;
    }

    /**
     * The job is ending: its nodes go in any order, so that connections and calls which break in the middle are no news
     * from now on.
     */
    public void parting() {
        refusals.quiet();
    }

    /** Connections and calls that were refused so far. */
    public long refused() {
        return refusals.total();
    }

    /**
     * Ends at once what is under way; {@link #flush} before, where that matters. Returns after a few seconds at the
     * most.
     */
    @Override
    public void close() {
        closed = true;
        gate.closing();
        ending.addAll(peers.values());
        peers.clear();
        ending.forEach(Peer::end);
        try {
            for (Peer peer : ending) {
                peer.join();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.shutdownNow();
        context.calls().shutdownNow();
        try {
            server.awaitTermination(END.toMillis(), TimeUnit.MILLISECONDS);
            context.calls().awaitTermination(END.toMillis(), TimeUnit.MILLISECONDS);
            context.loops().shutdownGracefully(0, END.toMillis(), TimeUnit.MILLISECONDS).await(END.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        context.allocator().close();
        if (frames.getAllocatedMemory() == 0) {
            frames.close();
        } else {
            Messages.warn("node " + context.node() + ": " + frames.getAllocatedMemory()
                    + " bytes of damaged or truncated tables remain in memory");
        }
    }
}
