package org.udckpt.cluster;

import java.io.ByteArrayInputStream;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;

/**
 * An agent's standard input: a line, JSON, and a credential, of which {@link org.udckpt.transport.CredentialFuzz} has
 * more.
 */
@Fuzzes({SpecificationText.class, NodeSpecification.class, NodeJob.class})
public final class SpecificationFuzz {
    private SpecificationFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        try {
            SpecificationText.read(new ByteArrayInputStream(input));
        } catch (Failure e) {
            if (e.code() == ExitCode.INTERNAL) {
                throw e;
            }
        }
    }
}
