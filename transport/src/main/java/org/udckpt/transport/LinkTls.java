package org.udckpt.transport;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import javax.net.ssl.SSLException;

/**
 * TLS 1.3 in which both ends show the job's certificate: a stranger gets no further than the handshake, before the
 * first byte of HTTP/2.
 */
final class LinkTls {
    private static final String PROTOCOL = "TLSv1.3";

    private LinkTls() {}

    static SslContext server(JobCredential credential) {
        return build(
                SslContextBuilder.forServer(credential.key(), credential.certificate()).clientAuth(ClientAuth.REQUIRE),
                credential);
    }

    static SslContext client(JobCredential credential) {
        return build(SslContextBuilder.forClient().keyManager(credential.key(), credential.certificate()), credential);
    }

    private static SslContext build(SslContextBuilder builder, JobCredential credential) {
        try {
            return GrpcSslContexts.configure(builder, SslProvider.JDK).protocols(PROTOCOL)
                    .trustManager(new PinnedCertificate(credential.certificate())).build();
        } catch (SSLException e) {
            throw new IllegalStateException("this Java has no " + PROTOCOL, e);
        }
    }
}
