package org.udckpt.transport;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.net.SocketAddress;

/**
 * Tells the gate which connections are used, and notes calls that this end refused: a wrong token, a frame that is too
 * long or makes no sense, an action that there is not.
 */
final class CallWatch extends ServerStreamTracer.Factory {
    private final RefusalLog refusals;
    private final ConnectionGate gate;

    CallWatch(RefusalLog refusals, ConnectionGate gate) {
        this.refusals = refusals;
        this.gate = gate;
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new ServerStreamTracer() {
            private volatile SocketAddress peer;
            private boolean counted, ended;

            @Override
            public synchronized void serverCallStarted(ServerCallInfo<?, ?> call) {
                peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
                if (!ended) { // by a thread of its own: the connection may have ended before
                    gate.call(peer, 1);
                    counted = true;
                }
            }

            private synchronized void end() {
                ended = true;
                if (counted) {
                    gate.call(peer, -1);
                }
            }

            @Override
            public void streamClosed(Status status) {
                end();
                boolean connectionEnded =
                        // NettyServerHandler
                        status.getCode() == Status.Code.UNKNOWN && "channel closed".equals(status.getDescription());
                switch (connectionEnded ? Status.Code.UNAVAILABLE : status.getCode()) {
                    case OK, CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE -> {
                    } // the peer's own end of it, or ours
                    default -> refusals.note(peer, status.getCode() + " in " + method
                            + (status.getDescription() != null ? ": " + status.getDescription()
                                    : status.getCause() != null ? ": " + status.getCause() : ""));
                }
            }
        };
    }
}
