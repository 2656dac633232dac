package org.udckpt.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.udckpt.linux.RawText;
import org.udckpt.support.report.ExitCode;
import org.udckpt.support.report.Failure;
import org.udckpt.support.runtime.OwnFile;

/**
 * What the shepherd needs to start one rank, and its file of NUL-terminated strings
 * (docs/reference/control-protocol.md, SPECFILE).
 *
 * @param pmiSocket its process manager's, or empty: it has none
 */
public record Specification(Path directory, String pmiSocket, boolean readsStandardInput, List<String> command,
        Map<String, String> environment) {

    /** Writes the file that {@code spawn} names. */
    public void write(Path file) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        string(bytes, directory.toString());
        string(bytes, pmiSocket);
        string(bytes, readsStandardInput ? "stdin" : "null");
        string(bytes, Integer.toString(command.size()));
        command.forEach(word -> string(bytes, word));
        environment.forEach((name, value) -> string(bytes, name + "=" + value));
        try {
            OwnFile.write(file, bytes.toByteArray());
        } catch (IOException e) {
            throw Failure.of("writing " + file, e);
        }
    }

    private static void string(ByteArrayOutputStream bytes, String text) {
        if (text.indexOf('\0') >= 0) {
            throw new Failure(ExitCode.USAGE, "an argument or environment variable contains a NUL byte");
        }
        bytes.writeBytes(RawText.encode(text));
        bytes.write(0);
    }
}
