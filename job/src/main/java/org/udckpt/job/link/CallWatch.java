package org.udckpt.job.link;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerStreamTracer;
import io.grpc.Status;
import java.net.SocketAddress;

/** Notes calls that this end refused: a wrong token, a frame that is too long or makes no sense, an action that there is not. */
final class CallWatch extends ServerStreamTracer.Factory {
    private final Refusals refusals;

    CallWatch(Refusals refusals) {
        this.refusals = refusals;
    }

    @Override
    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
        return new ServerStreamTracer() {
            private volatile SocketAddress peer;

            @Override
            public void serverCallStarted(ServerCallInfo<?, ?> call) {
                peer = call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR);
            }

            @Override
            public void streamClosed(Status status) {
                boolean connectionEnded = status.getCode() == Status.Code.UNKNOWN && "channel closed".equals(status.getDescription()); // NettyServerHandler
                switch (connectionEnded ? Status.Code.UNAVAILABLE : status.getCode()) {
                    case OK, CANCELLED, DEADLINE_EXCEEDED, UNAVAILABLE -> { } // the peer's own end of it, or ours
                    default -> refusals.note(peer, status.getCode() + " in " + method
                            + (status.getDescription() != null ? ": " + status.getDescription() : status.getCause() != null ? ": " + status.getCause() : ""));
                }
            }
        };
    }
}
