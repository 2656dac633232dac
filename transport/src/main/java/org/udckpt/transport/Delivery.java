package org.udckpt.transport;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.CallOptions;
import org.apache.arrow.flight.FlightClient;
import org.apache.arrow.flight.FlightDescriptor;
import org.apache.arrow.flight.FlightGrpcUtils;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.Result;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * One connection to a node, and the calls over it. Each returns when the receiver has taken what it carries; one at a
 * time.
 */
final class Delivery implements AutoCloseable {
    /** The action that carries messages. */
    static final String MESSAGES = "messages";

    private final TransportLimits limits;
    private final ManagedChannel channel;
    private final FlightClient client;

    Delivery(LinkContext context, InetSocketAddress peer) {
        limits = context.limits();
        channel = NettyChannelBuilder.forAddress(peer)
                .eventLoopGroup(context.loops()).channelType(NioSocketChannel.class, InetSocketAddress.class)
                .executor(context.calls()).offloadExecutor(context.calls())
                // no host's name: the certificate is pinned
                .sslContext(context.clientTls()).overrideAuthority("udckpt")
                .localSocketPicker(new NettyChannelBuilder.LocalSocketPicker() {
                    @Override
                    public InetSocketAddress createSocketAddress(java.net.SocketAddress remote,
                            io.grpc.Attributes attributes) {
                        return new InetSocketAddress(context.own(), 0); // so that the peer's messages name the node
                    }
                })
                .proxyDetector(target -> null)
                .disableRetry()
                .maxInboundMessageSize(limits.frameBytes())
                .intercept(JobToken.attach(context.credential()))
                .build();
        client = FlightGrpcUtils.createFlightClient(context.allocator(), channel);
    }

    /** @param envelope of messages, encoded */
    void messages(byte[] envelope) {
        Iterator<Result> answers = client.doAction(new Action(MESSAGES, envelope),
                CallOptions.timeout(limits.messageCall().toNanos(), TimeUnit.NANOSECONDS));
        while (answers.hasNext()) {
            answers.next(); // none is expected; the end is the receipt
        }
    }

    /** @param envelope with the table's subject, encoded */
    void table(byte[] envelope, VectorSchemaRoot table) throws InterruptedException {
        TableReceipt receipt = new TableReceipt();
        try (TableBatches batches = new TableBatches(table, limits.frameBytes() / 4)) {
            FlightClient.ClientStreamListener stream =
                    client.startPut(FlightDescriptor.command(envelope), batches.root(), receipt,
                            CallOptions.timeout(limits.tableCall().toNanos(), TimeUnit.NANOSECONDS));
            for (long sent = 0; receipt.awaitRoom(sent) && batches.next(); sent++) {
                stream.putNext();
            }
            stream.completed();
            receipt.awaitAnswer();
        }
    }

    /** Whether the receiver would refuse the same shipment again. */
    static boolean isFinal(FlightRuntimeException failure) {
        return switch (failure.status().code()) {
            case INVALID_ARGUMENT, UNIMPLEMENTED, RESOURCE_EXHAUSTED -> true;
            default -> false;
        };
    }

    /** Whether nobody listens at the receiver's address: its process has ended, or has not begun. */
    static boolean isRefusedThere(FlightRuntimeException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ConnectException refused && String.valueOf(refused.getMessage()).contains("refused")) {
                // and not "timed out", which says nothing about a process
                return true;
            }
        }
        return false;
    }

    /** Ends calls that are under way and begins no more; returns at once. */
    void end() {
        channel.shutdownNow();
    }

    @Override
    public void close() {
        end();
        boolean interrupted = false;
        for (boolean open = true; open;) {
            try {
                client.close();
                open = false;
            } catch (InterruptedException e) {
                interrupted = true; // its memory must be given back all the same, and the connection has ended
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
