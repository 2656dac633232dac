package org.udckpt.process.restore;

import java.time.Instant;
import java.util.HexFormat;
import org.udckpt.linux.FoundFile;
import org.udckpt.process.identity.ContentDigest;
import org.udckpt.process.model.FileIdentity;

/** What tells a file of now from the one of a checkpoint, for messages: what it is now, then what it was. */
final class FileFacts {
    private static final int DIGITS = 16;
    private static final String THEN = " at the checkpoint";

    private FileFacts() {}

    /** @param now null: it was not read */
    static String compare(FileIdentity then, FoundFile file, ContentDigest now) {
        StringBuilder text = new StringBuilder();
        if (now != null && !(now.buildId() + then.buildId()).isEmpty()) {
            text.append("build id ").append(or(now.buildId())).append(" now, ").append(or(then.buildId()))
                    .append(THEN).append("; ");
        }
        if (now != null && then.digest() != null) {
            text.append("SHA-256 ").append(hex(now.sha256())).append(" now, ").append(hex(then.digest())).append(THEN)
                    .append("; ");
        } else if (!then.buildId().isEmpty()) {
            text.append("build id ").append(then.buildId()).append(THEN).append("; ");
        }
        return text.append("%d bytes of %s now, %d bytes of %s".formatted(file.stat().size(),
                time(file.stat().modified()), then.size(), time(then.modifiedNs()))).append(THEN).toString();
    }

    private static String or(String buildId) {
        return buildId.isEmpty() ? "none" : buildId;
    }

    /** Its beginning, which is enough to see that they differ. */
    private static String hex(byte[] digest) {
        return HexFormat.of().formatHex(digest).substring(0, DIGITS) + "...";
    }

    private static Instant time(long ns) {
        return Instant.ofEpochSecond(0, ns);
    }
}
