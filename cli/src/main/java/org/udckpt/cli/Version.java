package org.udckpt.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** {@code udckpt 0.1.0 (commit 0123abcd4567)}: what the build has written down (scripts/version.sh). */
final class Version implements IVersionProvider {
    private static final String RESOURCE = "/udckpt-version";

    /** In one line. */
    static String text() throws IOException {
        try (InputStream in = Version.class.getResourceAsStream(RESOURCE)) {
            if (in == null) {
                throw new IOException("the build did not write " + RESOURCE + ": build again with Maven");
            }
            return "udckpt " + new String(in.readAllBytes(), StandardCharsets.UTF_8).strip();
        }
    }

    @Override
    public String[] getVersion() throws IOException {
        return new String[]{text()};
    }
}
