package org.udckpt.lifecycle.checkpoint;

import java.util.List;
import org.udckpt.process.capture.Capture;
import org.udckpt.process.identity.KnownFiles;
import org.udckpt.process.model.FileIdentity;
import org.udckpt.store.ImageTables;

/**
 * What a job's programs and libraries are known by, from one checkpoint to the next: as a rule nothing of it changes,
 * and the table is encoded once.
 */
final class KnownPrograms {
    private final KnownFiles files = new KnownFiles();
    private List<FileIdentity> rows;
    private byte[] encoded;

    /**
     * The table of what was captured. Digests of files that were not read again are the same arrays, by which rows are
     * equal.
     */
    byte[] of(Capture capture) {
        List<FileIdentity> now = capture.identities(files);
        if (!now.equals(rows)) {
            rows = now;
            encoded = ImageTables.encode(now);
        }
        return encoded;
    }
}
