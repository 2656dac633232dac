package org.udckpt.process.files;

import java.nio.charset.StandardCharsets;
import org.udckpt.fuzz.Fuzzes;

/** A pattern and a path that it is held against, with a NUL between them. */
@Fuzzes(PathPattern.class)
public final class PathPatternFuzz {
    private PathPatternFuzz() {}

    public static void fuzzerTestOneInput(byte[] input) {
        String[] texts = new String(input, StandardCharsets.UTF_8).split("\0", 2);
        PathPattern pattern;
        try {
            pattern = PathPattern.of(texts[0]);
        } catch (IllegalArgumentException e) {
            return; // as promised
        }
        String path = "/" + (texts.length == 1 ? "" : texts[1]);
        pattern.matches(path);
        pattern.leadsFrom(path);
        pattern.withRoot("/elsewhere");
        boolean plain = !path.contains("/.") && !path.contains("//") && !path.endsWith("/");
        if (plain && !PathPattern.of(PathPattern.quoted(path)).matches(path)) {
            throw new AssertionError("the pattern of '" + path + "' alone does not match it");
        }
    }
}
