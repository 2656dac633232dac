package org.udckpt.transport;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.arrow.flight.Action;
import org.apache.arrow.flight.CallStatus;
import org.apache.arrow.flight.FlightRuntimeException;
import org.apache.arrow.flight.FlightStream;
import org.apache.arrow.flight.NoOpFlightProducer;
import org.apache.arrow.flight.PutResult;
import org.apache.arrow.flight.Result;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.OutOfMemoryException;
import org.apache.arrow.vector.VectorSchemaRoot;

/** The receiving end of {@link Delivery}. */
final class LinkService extends NoOpFlightProducer {
    private final int self;
    private final int nodes;
    private final Inbox inbox;
    private final TransportLimits limits;
    private final BufferAllocator allocator;
    private final ConcurrentMap<Integer, InboundChannel> messages = new ConcurrentHashMap<>(),
            tables = new ConcurrentHashMap<>();

    /** @param nodes the job has; the others' numbers are below it and not {@code self} */
    LinkService(int self, int nodes, Inbox inbox, TransportLimits limits, BufferAllocator allocator) {
        this.self = self;
        this.nodes = nodes;
        this.inbox = inbox;
        this.limits = limits;
        this.allocator = allocator;
    }

    @Override
    public void doAction(CallContext context, Action action, StreamListener<Result> answer) {
        try {
            if (!action.getType().equals(Delivery.MESSAGES)) {
                throw CallStatus.UNIMPLEMENTED.withDescription("no action of that name").toRuntimeException();
            }
            Envelope envelope = Envelope.decode(action.getBody());
            inbound(messages, envelope).accept(envelope, () -> {
                for (byte[] message : envelope.parts()) {
                    inbox.message(envelope.from(), message);
                }
            });
            answer.onCompleted();
        } catch (Exception e) {
            answer.onError(refusal(e));
        }
    }

    @Override
    public Runnable acceptPut(CallContext context, FlightStream stream, StreamListener<PutResult> answer) {
        return () -> {
            try {
                Envelope envelope = Envelope.decode(subject(stream));
                inbound(tables, envelope).accept(envelope, () -> {
                    try (VectorSchemaRoot table = ReceivedTable.read(stream, allocator, limits.tableBytes(),
                            () -> answer.onNext(PutResult.empty()))) {
                        inbox.table(envelope.from(), envelope.parts().getFirst(), table);
                    }
                });
                answer.onCompleted();
            } catch (Exception e) {
                answer.onError(refusal(e));
            }
        };
    }

    private static byte[] subject(FlightStream stream) {
        stream.getSchema(); // waits for the first message, which has both
        if (stream.getDescriptor() == null || !stream.getDescriptor().isCommand()) {
            throw new IllegalArgumentException("a table without a subject");
        }
        return stream.getDescriptor().getCommand();
    }

    private InboundChannel inbound(ConcurrentMap<Integer, InboundChannel> inbounds, Envelope envelope) {
        if (envelope.from() == self || envelope.from() >= nodes) {
            throw new IllegalArgumentException(
                    "a shipment of node " + envelope.from() + " to node " + self + " of " + nodes);
        }
        return inbounds.computeIfAbsent(envelope.from(), from -> new InboundChannel());
    }

    private static FlightRuntimeException refusal(Exception e) {
        return switch (e) {
            case FlightRuntimeException own -> own;
            case InterruptedException ended -> CallStatus.UNAVAILABLE.withDescription("this end is being closed")
                    .toRuntimeException();
            case OutOfMemoryException full -> CallStatus.UNAVAILABLE
                    .withDescription("no memory for it now: " + full.getMessage()).toRuntimeException();
            default -> CallStatus.INVALID_ARGUMENT.withDescription(e.getClass().getSimpleName() + ": " + e.getMessage())
                    .withCause(e).toRuntimeException();
        };
    }
}
