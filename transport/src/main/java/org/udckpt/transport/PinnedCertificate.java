package org.udckpt.transport;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Trusts one certificate, the job's, whichever end shows it. Neither names nor dates are looked at: nodes have many
 * names and clocks that differ, and only holders of the job's key can show this certificate.
 */
final class PinnedCertificate extends X509ExtendedTrustManager {
    private final X509Certificate own;

    PinnedCertificate(X509Certificate own) {
        this.own = own;
    }

    private void check(X509Certificate[] chain) throws CertificateException {
        if (chain == null || chain.length == 0 || !chain[0].equals(own)) {
            throw new CertificateException("the peer does not have this job's certificate");
        }
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm, Socket socket)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm, Socket socket)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm, SSLEngine engine)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm, SSLEngine engine)
            throws CertificateException {
        check(chain);
    }

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String algorithm) throws CertificateException {
        check(chain);
    }

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String algorithm) throws CertificateException {
        check(chain);
    }

    /** A client's one choice of what to show. */
    @Override
    public X509Certificate[] getAcceptedIssuers() {
        return new X509Certificate[]{own};
    }
}
