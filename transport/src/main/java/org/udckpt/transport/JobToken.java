package org.udckpt.transport;

import io.grpc.ClientInterceptor;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Base64;

/**
 * The token in each call's headers. Looked at before anything else of the call: a call without it is answered and
 * nothing of its body is read. It ties a call to the job should TLS ever end before this process, and costs a
 * comparison.
 */
final class JobToken implements ServerInterceptor {
    private static final Metadata.Key<String> HEADER =
            Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);

    private final byte[] expected;

    JobToken(JobCredential credential) {
        expected = text(credential).getBytes(StandardCharsets.US_ASCII);
    }

    static ClientInterceptor attach(JobCredential credential) {
        Metadata headers = new Metadata();
        headers.put(HEADER, text(credential));
        return MetadataUtils.newAttachHeadersInterceptor(headers);
    }

    private static String text(JobCredential credential) {
        return "Bearer " + Base64.getEncoder().withoutPadding().encodeToString(credential.token());
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers,
            ServerCallHandler<Q, A> next) {
        String given = headers.get(HEADER);
        // isEqual takes the same time wherever the two differ.
        if (given != null && MessageDigest.isEqual(expected, given.getBytes(StandardCharsets.US_ASCII))) {
            return next.startCall(call, headers);
        }
        call.close(Status.UNAUTHENTICATED.withDescription(given == null ? "the call has no token"
                : "the call has a wrong token"), new Metadata());
        return new ServerCall.Listener<>() {};
    }
}
