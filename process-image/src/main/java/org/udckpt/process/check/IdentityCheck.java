package org.udckpt.process.check;

import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import org.udckpt.linux.Sha256;
import org.udckpt.process.model.BrokenTable;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.RowCheck;

/** What files are known by: each once, by a digest that can be one, and not without a reason where there is none. */
final class IdentityCheck {
    private static final int MODES = 07777;

    private static final Pattern BOOT = Pattern.compile("[0-9a-f-]{36}"), BUILD_ID = Pattern.compile("[0-9a-f]*"),
            WRITER = Pattern.compile("(user|group):\\d{1,10}");

    private IdentityCheck() {}

    static void check(JobImage image) throws BrokenTable {
        RowCheck row = new RowCheck("mapped-files");
        Set<String> seen = new HashSet<>();
        for (FileIdentity file : image.identities()) {
            row.next();
            FileCheck.path(row, "path", file.path());
            row.require(seen.add(file.path()), "duplicate path (length %d)", file.path().length());
            row.notNull("use", file.use());
            row.notNegative("size", file.size());
            row.between(0, MODES, "mode", file.mode());
            row.notNegative("changedNs", file.changedNs());
            row.notNegative("bornNs", file.bornNs());
            row.notNegative("device", file.device());
            row.between(1, Long.MAX_VALUE, "inode", file.inode());
            form(row, "boot", file.boot(), BOOT);
            writers(row, "writers", file.writers());
            writers(row, "ownWriters", file.ownWriters());
            form(row, "buildId", file.buildId(), BUILD_ID);
            row.text("undigested", file.undigested());
            if (file.digest() != null) {
                row.bytes("digest", file.digest(), Sha256.BYTES, Sha256.BYTES, 1);
            }
            boolean reason = !file.undigested().isEmpty();
            row.require(file.digest() == null || !reason,
                    "digest is set, but undigested says why it is missing (length %d)", file.undigested().length());
            if (file.digest() == null && !reason) {
                throw row.broken("digest is null, but undigested does not say why");
            }
        }
    }

    /** A word each. */
    private static void writers(RowCheck row, String column, String value) throws BrokenTable {
        row.text(column, value);
        boolean first = true;
        for (String word : value.isEmpty() ? new String[0] : value.split(" ", -1)) {
            boolean right = first && word.equals("everybody") || WRITER.matcher(word).matches();
            if (!right) {
                throw malformed(row, column, value);
            }
            first = false;
        }
    }

    private static void form(RowCheck row, String column, String value, Pattern form) throws BrokenTable {
        row.text(column, value);
        if (!form.matcher(value).matches()) {
            throw malformed(row, column, value);
        }
    }

    private static BrokenTable malformed(RowCheck row, String column, String value) {
        return row.broken(column + " is malformed (length " + value.length() + ")");
    }
}
