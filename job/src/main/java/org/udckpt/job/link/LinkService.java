package org.udckpt.job.link;

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
import org.apache.arrow.vector.VectorSchemaRoot;

/** The receiving end of {@link Delivery}. */
final class LinkService extends NoOpFlightProducer {
    private final Inbox inbox;
    private final Limits limits;
    private final BufferAllocator allocator;
    private final ConcurrentMap<Integer, Inlet> inlets = new ConcurrentHashMap<>();

    LinkService(Inbox inbox, Limits limits, BufferAllocator allocator) {
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
            inlet(envelope).accept(envelope, () -> {
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
                try (VectorSchemaRoot table = ReceivedTable.read(stream, allocator, limits.tableBytes(), () -> answer.onNext(PutResult.empty()))) {
                    inlet(envelope).accept(envelope, () -> inbox.table(envelope.from(), envelope.parts().getFirst(), table));
                }
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

    private Inlet inlet(Envelope envelope) {
        return inlets.computeIfAbsent(envelope.from(), from -> new Inlet());
    }

    private static FlightRuntimeException refusal(Exception e) {
        return switch (e) {
            case FlightRuntimeException own -> own;
            case InterruptedException ended -> CallStatus.UNAVAILABLE.withDescription("this end is being closed").toRuntimeException();
            default -> CallStatus.INVALID_ARGUMENT.withDescription(e.getClass().getSimpleName() + ": " + e.getMessage()).withCause(e).toRuntimeException();
        };
    }
}
