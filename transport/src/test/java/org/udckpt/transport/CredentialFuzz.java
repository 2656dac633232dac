package org.udckpt.transport;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.udckpt.fuzz.Fuzzes;

/** A job's credential as text. */
@Fuzzes({CredentialFile.class, JobCredential.class})
public final class CredentialFuzz {
    private CredentialFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            CredentialFile.read(new ByteArrayInputStream(input));
        } catch (IOException e) {
            // as promised
        }
    }
}
