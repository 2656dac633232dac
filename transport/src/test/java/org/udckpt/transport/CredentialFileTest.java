package org.udckpt.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

class CredentialFileTest {
    @TempDir
    Path directory;

    private static byte[] text(JobCredential credential) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CredentialFile.write(out, credential);
        return out.toByteArray();
    }

    @Test
    void theFileIsTheOwnersAloneAndComesBackAsItWas() throws IOException {
        Path file = directory.resolve(CredentialFile.NAME);
        JobCredential credential = JobCredential.generate();
        CredentialFile.create(file, credential);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertArrayEquals(text(credential), text(CredentialFile.read(file)));
        assertThrows(Failure.class, () -> CredentialFile.create(file, JobCredential.generate()));
        assertArrayEquals(text(credential), text(CredentialFile.read(file)));
    }

    @Test
    void aFileThatOthersMayReadIsRefused() throws IOException {
        Path file = directory.resolve(CredentialFile.NAME);
        CredentialFile.create(file, JobCredential.generate());
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        assertEquals(ExitCode.PERMISSION, assertThrows(Failure.class, () -> CredentialFile.read(file)).code());
    }

    @Test
    void standardInputGoesOnBehindTheCredential() throws IOException {
        JobCredential credential = JobCredential.generate();
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        input.write(text(credential));
        input.write("and more\n".getBytes(StandardCharsets.US_ASCII));
        ByteArrayInputStream in = new ByteArrayInputStream(input.toByteArray());
        assertArrayEquals(credential.token(), CredentialFile.read(in).token());
        assertEquals("and more\n", new String(in.readAllBytes(), StandardCharsets.US_ASCII));
    }

    @Test
    void whatIsCutOrDamagedIsNoCredential() throws IOException {
        byte[] whole = text(JobCredential.generate());
        for (int length = 0; length < whole.length - 1; length += 13) {
            byte[] cut = Arrays.copyOf(whole, length);
            assertThrows(IOException.class, () -> CredentialFile.read(new ByteArrayInputStream(cut)));
        }
        byte[] endless = new byte[1 << 20];
        assertTrue(assertThrows(IOException.class, () -> CredentialFile.read(new ByteArrayInputStream(endless)))
                .getMessage().contains("there is more data"));
        byte[] mixed = new String(whole, StandardCharsets.US_ASCII).replaceFirst("CERTIFICATE", "CERTIFICATES")
                .replaceFirst("END CERTIFICATE", "END CERTIFICATES")
                .getBytes(StandardCharsets.US_ASCII);
        assertThrows(IOException.class, () -> CredentialFile.read(new ByteArrayInputStream(mixed)));
    }

    @Test
    void everyJobHasItsOwnAndNoMessageNamesTheToken() {
        JobCredential one = JobCredential.generate(), other = JobCredential.generate();
        assertFalse(Arrays.equals(one.token(), other.token()));
        assertFalse(one.certificate().equals(other.certificate()));
        assertFalse(one.toString().contains(Base64.getEncoder().withoutPadding().encodeToString(one.token())));
    }
}
