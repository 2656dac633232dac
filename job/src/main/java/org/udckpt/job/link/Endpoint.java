package org.udckpt.job.link;

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
import java.security.SecureRandom;
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
import org.udckpt.job.report.Messages;
import org.udckpt.job.tree.Links;

/**
 * A node's end of the ways between a job's nodes (docs/links.md): takes what others send to it and sends to those whose addresses it was
 * told. Bound to one address. Who is lost is not its business: it tries until it is told to {@link #forget} the node.
 */
public final class Endpoint implements Links, AutoCloseable {
    private static final int CALLS_OF_A_CONNECTION = 8, HEADER_BYTES = 8 << 10;
    private static final Set<String> METHODS = Set.of("DoAction", "DoPut");
    private static final Duration END = Duration.ofSeconds(2);

    private final LinkContext context;
    /** Of frames that Flight reads. It does not free all of those that it finds damaged, so that they have bounds of their own. */
    private final BufferAllocator frames;
    private final ConcurrentMap<Integer, InetSocketAddress> addresses = new ConcurrentHashMap<>();
    private final ConcurrentMap<Integer, Outlet> outlets = new ConcurrentHashMap<>();
    private final Refusals refusals = new Refusals(Messages::warn, System::nanoTime);
    private final ConnectionGate gate;
    private final Server server;
    private volatile boolean closed;

    /**
     * @param node  its number in the job's tree
     * @param bind  an address of this machine that the other nodes reach; port 0: any free one
     * @throws IOException when nothing can be bound there
     */
    public Endpoint(int node, InetSocketAddress bind, JobCredential credential, Inbox inbox, Limits limits) throws IOException {
        if (bind.isUnresolved() || bind.getAddress().isAnyLocalAddress()) {
            throw new IllegalArgumentException("an endpoint needs one address of this machine, not " + bind);
        }
        LibraryLogs.quiet();
        EventLoopGroup loops = new NioEventLoopGroup(1, new DefaultThreadFactory("link", true));
        ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
        BufferAllocator allocator = new RootAllocator(4 * limits.tableBytes());
        frames = new RootAllocator(4 * limits.tableBytes());
        context = new LinkContext(node, new SecureRandom().nextLong(), bind.getAddress(), credential, limits, LinkTls.client(credential), loops, calls, allocator);
        gate = new ConnectionGate(limits, refusals);
        server = server(bind, new LinkService(inbox, limits, allocator));
        try {
            server.start();
        } catch (IOException e) {
            close();
            throw new IOException("listening at " + bind.getAddress().getHostAddress() + " port " + bind.getPort() + ": " + e.getMessage(), e);
        }
    }

    private Server server(InetSocketAddress bind, LinkService service) {
        Limits limits = context.limits();
        return NettyServerBuilder.forAddress(bind)
                .channelFactory(this::listeningChannel)
                .bossEventLoopGroup(context.loops()).workerEventLoopGroup(context.loops())
                .executor(context.calls())
                .sslContext(LinkTls.server(context.credential()))
                .handshakeTimeout(limits.handshake().toMillis(), TimeUnit.MILLISECONDS)
                .maxInboundMessageSize(limits.frameBytes()).maxInboundMetadataSize(HEADER_BYTES)
                .maxConcurrentCallsPerConnection(CALLS_OF_A_CONNECTION)
                .addTransportFilter(gate.filter())
                .addStreamTracerFactory(new CallWatch(refusals))
                .intercept(new JobToken(context.credential()))
                .addService(flight(service))
                .build();
    }

    /** The two methods of Flight that are used; the others are not there. Nor is Flight's own way to authenticate: the token comes before it. */
    @SuppressWarnings("deprecation")
    private ServerServiceDefinition flight(LinkService service) {
        ServerServiceDefinition all = FlightGrpcUtils.createFlightService(frames, service, ServerAuthHandler.NO_OP, context.calls()).bindService();
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

    /** Where it listens. */
    public InetSocketAddress address() {
        return (InetSocketAddress) server.getListenSockets().getFirst();
    }

    /** Says where a node is, or is now. */
    public void reach(int node, InetSocketAddress address) {
        addresses.put(node, address);
        Outlet known = outlets.get(node);
        if (known != null) {
            known.reach(address);
        }
    }

    /** Gives a node up: what waits for it is dropped, and tables that it has not taken fail. */
    public void forget(int node) {
        addresses.remove(node);
        Outlet old = outlets.remove(node);
        if (old != null) {
            old.close();
        }
    }

    /** Never waits: messages for a node that is out of reach make room for newer ones, the oldest first. */
    @Override
    public void send(int to, byte[] message) {
        if (message.length > MAX_MESSAGE_BYTES) {
            throw new IllegalArgumentException("a message of " + message.length + " bytes, more than " + MAX_MESSAGE_BYTES);
        }
        outlet(to).send(message);
    }

    /**
     * Sends a table, after all that was sent to the node before. Waits while too much waits for the node already.
     *
     * @param table stays as it is until the answer is complete
     * @return complete when the receiver's inbox has taken all of it; fails with {@link LinkClosedException} when the node was given up,
     *     or with what the receiver said when it refuses the table
     */
    public CompletableFuture<Void> table(int to, byte[] subject, VectorSchemaRoot table) throws InterruptedException {
        return outlet(to).table(subject, table);
    }

    private Outlet outlet(int to) {
        if (to == context.node() || to < 0) {
            throw new IllegalArgumentException("node " + context.node() + " sends to node " + to);
        }
        if (closed) {
            throw new IllegalStateException("the endpoint of node " + context.node() + " is closed");
        }
        return outlets.computeIfAbsent(to, node -> new Outlet(context, node, addresses.get(node)));
    }

    /** Waits until all has been taken that was sent. False: not in that time. */
    public boolean flush(Duration longest) throws InterruptedException {
        long end = System.nanoTime() + longest.toNanos();
        boolean empty = true;
        for (Outlet outlet : outlets.values()) {
            empty &= outlet.awaitEmpty(end - System.nanoTime());
        }
        return empty;
    }

    /** Connections and calls that were refused so far. */
    public long refused() {
        return refusals.total();
    }

    /** Ends at once what is under way; {@link #flush} before, where that matters. Returns after a few seconds at the most. */
    @Override
    public void close() {
        closed = true;
        gate.closing();
        outlets.values().forEach(Outlet::close);
        outlets.clear();
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
            Messages.warn("node " + context.node() + ": " + frames.getAllocatedMemory() + " bytes of tables that were damaged or cut off remain in memory");
        }
    }
}
