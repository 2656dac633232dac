package org.udckpt.transport;

import io.grpc.CallOptions;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.netty.handler.ssl.SslContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A bare gRPC client of an endpoint, which sends any bytes to any method, with whatever it has of a job's credential.
 */
final class Stranger implements AutoCloseable {
    static final String SERVICE = "arrow.flight.protocol.FlightService/";

    /** Bytes as they are. */
    static final MethodDescriptor.Marshaller<byte[]> BYTES = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private final ManagedChannel channel;

    /** @param tls null: plain text. @param token null: none */
    Stranger(InetSocketAddress endpoint, SslContext tls, JobCredential token) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(endpoint).overrideAuthority("udckpt")
                .disableRetry().proxyDetector(target -> null);
        builder = tls == null ? builder.usePlaintext() : builder.sslContext(tls);
        channel = builder
                .intercept(token == null ? new ClientInterceptor[0] : new ClientInterceptor[]{JobToken.attach(token)})
                .build();
    }

    static MethodDescriptor<byte[], byte[]> method(String name) {
        return MethodDescriptor.newBuilder(BYTES, BYTES).setType(MethodDescriptor.MethodType.BIDI_STREAMING)
                .setFullMethodName(name).build();
    }

    /** Sends all and waits for the end. @return how the call ended: null when well */
    StatusRuntimeException call(String method, List<byte[]> messages, Duration longest) throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(1);
        AtomicReference<StatusRuntimeException> how = new AtomicReference<>();
        var call = channel.newCall(method(SERVICE + method),
                CallOptions.DEFAULT.withDeadlineAfter(longest.toNanos(), TimeUnit.NANOSECONDS));
        var request = ClientCalls.asyncBidiStreamingCall(call, new io.grpc.stub.StreamObserver<byte[]>() {
            @Override
            public void onNext(byte[] answer) {
                // what it says matters to nobody
            }

            @Override
            public void onError(Throwable failure) {
                how.set((StatusRuntimeException) failure);
                ended.countDown();
            }

            @Override
            public void onCompleted() {
                ended.countDown();
            }
        });
        Iterator<byte[]> next = messages.iterator();
        while (next.hasNext() && ended.getCount() > 0) {
            request.onNext(next.next());
        }
        if (ended.getCount() > 0) {
            try {
                request.onCompleted();
            } catch (IllegalStateException e) {
                // it has ended meanwhile
            }
        }
        ended.await();
        return how.get();
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
