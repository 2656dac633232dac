package org.udckpt.transport;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import org.bouncycastle.util.encoders.DecoderException;
import org.bouncycastle.util.io.pem.PemObject;
import org.bouncycastle.util.io.pem.PemReader;
import org.bouncycastle.util.io.pem.PemWriter;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.NewFile;
import org.udckpt.linux.SecretFile;
import org.udckpt.linux.Trust;
import org.udckpt.linux.UntrustedPath;
import org.udckpt.support.report.Failure;

/**
 * A {@link JobCredential} as text, three PEM blocks with the token last: in a file of mode 0600 in the job's runtime
 * directory, and on the standard input of an agent that a starter starts on another node. Never on a command line or in
 * an environment, which others can read.
 */
public final class CredentialFile {
    public static final String NAME = "credential.pem";
    private static final String KEY = "PRIVATE KEY", CERTIFICATE = "CERTIFICATE", TOKEN = "UDCKPT TOKEN";
    private static final String LAST_LINE = "-----END " + TOKEN + "-----";
    private static final int LONGEST = 16 << 10;

    private CredentialFile() {}

    /** Makes the file, which must not exist: nobody else ever had it open. */
    public static void create(Path file, JobCredential credential) {
        Path path = file.toAbsolutePath();
        try (Folder folder = Folder.reach(path.getParent().toString(), Trust.OWN);
                NewFile next = NewFile.beside(folder, NAME)) {
            try (OutputStream out =
                    Channels.newOutputStream(Files.channel(next.descriptor(), StandardOpenOption.WRITE))) {
                write(out, credential);
            }
            if (!next.becomes(path.getFileName().toString())) {
                throw new FileAlreadyExistsException(file.toString());
            }
        } catch (IOException | LinuxError | UntrustedPath e) {
            throw Failure.of("writing the job's credential to " + file, e);
        }
    }

    /** Refuses a file that is somebody else's, or that others may read or write. */
    public static JobCredential read(Path file) {
        try {
            return read(new ByteArrayInputStream(SecretFile.read("the job's credential", file.toString(), LONGEST)));
        } catch (IOException | LinuxError | UntrustedPath e) {
            throw Failure.of("reading the job's credential in " + file, e);
        }
    }

    public static void write(OutputStream out, JobCredential credential) throws IOException {
        StringWriter text = new StringWriter();
        try (PemWriter pem = new PemWriter(text)) {
            pem.writeObject(new PemObject(KEY, credential.key().getEncoded()));
            pem.writeObject(new PemObject(CERTIFICATE, credential.certificate().getEncoded()));
            pem.writeObject(new PemObject(TOKEN, credential.token()));
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
        out.flush();
    }

    /** Takes the credential's lines and no byte behind them: an agent's standard input may go on. */
    public static JobCredential read(InputStream in) throws IOException {
        try (PemReader pem = new PemReader(new StringReader(text(in)))) {
            byte[] key = block(pem, KEY);
            byte[] certificate = block(pem, CERTIFICATE);
            byte[] token = block(pem, TOKEN);
            PrivateKey privateKey = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key));
            X509Certificate own = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(new ByteArrayInputStream(certificate));
            return new JobCredential(privateKey, own, token);
        } catch (GeneralSecurityException | IllegalArgumentException | DecoderException e) {
            throw new IOException("not a job's credential: " + e.getMessage(), e);
        }
    }

    private static String text(InputStream in) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        int lineStart = 0;
        for (int next = in.read();; next = in.read()) {
            if (next < 0 || text.size() == LONGEST) {
                throw new IOException("not a job's credential: " + (next < 0 ? "it is truncated"
                        : "there is more data") + " after " + text.size() + " bytes");
            }
            text.write(next);
            if (next == '\n') {
                String soFar = text.toString(StandardCharsets.US_ASCII);
                if (soFar.substring(lineStart).strip().equals(LAST_LINE)) {
                    return soFar;
                }
                lineStart = soFar.length();
            }
        }
    }

    private static byte[] block(PemReader pem, String type) throws IOException {
        PemObject block = pem.readPemObject();
        if (block == null || !block.getType().equals(type)) {
            throw new IOException("not a job's credential: no " + type + " where one is expected");
        }
        return block.getContent();
    }
}
