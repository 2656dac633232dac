package org.udckpt.transport;

import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * What makes a node one of a job: a key with its certificate, by which both ends of a connection prove themselves, and
 * a token, which each call carries. Made once when the job starts; {@link CredentialFile} keeps it and hands it on.
 *
 * @param key of P-256
 * @param certificate signed by the key itself; compared as a whole, so that the names and dates in it say nothing
 * @param token 256 random bits
 */
public record JobCredential(PrivateKey key, X509Certificate certificate, byte[] token) {
    static final int TOKEN_BYTES = 32;
    private static final Duration VALID = Duration.ofDays(3650);

    public JobCredential {
        if (token.length != TOKEN_BYTES) {
            throw new IllegalArgumentException("a token of " + token.length + " bytes");
        }
        token = token.clone();
    }

    public static JobCredential generate() {
        SecureRandom random = new SecureRandom();
        byte[] token = new byte[TOKEN_BYTES];
        random.nextBytes(token);
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
            generator.initialize(new ECGenParameterSpec("secp256r1"), random);
            KeyPair pair = generator.generateKeyPair();
            X500Name name = new X500Name("CN=udckpt job");
            Instant now = Instant.now();
            var builder = new JcaX509v3CertificateBuilder(name, new BigInteger(128, random),
                    Date.from(now.minus(Duration.ofDays(1))),
                    Date.from(now.plus(VALID)), name, pair.getPublic());
            var holder = builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(pair.getPrivate()));
            return new JobCredential(pair.getPrivate(), new JcaX509CertificateConverter().getCertificate(holder),
                    token);
        } catch (GeneralSecurityException | OperatorCreationException e) {
            throw new IllegalStateException("this Java makes no certificates of P-256 keys", e);
        }
    }

    @Override
    public byte[] token() {
        return token.clone();
    }

    /** Names nothing that is secret: records end up in messages. */
    @Override
    public String toString() {
        return "JobCredential of certificate " + certificate.getSerialNumber().toString(16);
    }
}
