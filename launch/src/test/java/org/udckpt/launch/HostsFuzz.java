package org.udckpt.launch;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.udckpt.fuzz.Fuzzes;
import org.udckpt.linux.RawText;
import org.udckpt.support.report.Failure;

/** A job's hosts as an image's table has them, and the bytes of words of a command line. */
@Fuzzes({HostLayout.class, RawText.class})
public final class HostsFuzz {
    private HostsFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String text = RawText.decode(input);
        if (!Arrays.equals(RawText.encode(text), input)) {
            throw new AssertionError("not the same bytes again");
        }
        RawText.shown(text);
        if (!RawText.ofPortable(RawText.portable(text)).equals(text)) {
            throw new AssertionError("not the same text again");
        }
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
