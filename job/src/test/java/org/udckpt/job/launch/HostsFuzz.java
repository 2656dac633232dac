package org.udckpt.job.launch;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.job.report.Failure;

/** A job's hosts as an image's table has them, and the bytes of words of a command line. */
@Fuzzes({HostLayout.class, RawText.class})
public final class HostsFuzz {
    private HostsFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = RawText.decode(ByteBuffer.wrap(input));
        if (!Arrays.equals(RawText.encode(text), input)) {
            throw new AssertionError("not the same bytes again");
        }
        RawText.shown(text);
        try {
            HostLayout layout = HostLayout.parse(new String(input, StandardCharsets.UTF_8));
            if (!HostLayout.parse(layout.format()).equals(layout)) {
                throw new AssertionError("not the same layout again: " + layout);
            }
        } catch (Failure e) {
            // as promised
        }
    }
}
