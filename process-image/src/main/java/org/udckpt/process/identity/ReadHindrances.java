package org.udckpt.process.identity;

import org.udckpt.linux.FoundFile;
import org.udckpt.process.files.FileLeases;
import org.udckpt.process.model.InotifyWatch;
import org.udckpt.process.model.JobImage;

/** Why a file of the job's must not be opened: the job would feel it. */
final class ReadHindrances {
    private static final int IN_ACCESS = 1, IN_CLOSE_NOWRITE = 0x10, IN_OPEN = 0x20;

    private final JobImage image;
    private FileLeases leases;

    ReadHindrances(JobImage image) {
        this.image = image;
    }

    /** "": it may be opened. */
    String of(FoundFile file) {
        for (InotifyWatch watch : image.watches()) {
            String directory = file.path().substring(0, Math.max(1, file.path().lastIndexOf('/')));
            if ((watch.mask() & (IN_ACCESS | IN_CLOSE_NOWRITE | IN_OPEN)) != 0
                    && (watch.path().equals(file.path()) || watch.path().equals(directory))) {
                return "the job watches whether it is read (inotify)";
            }
        }
        return leases().contains(file.stat()) ? "another process holds a lease on it (fcntl(2), F_SETLEASE)" : "";
    }

    private FileLeases leases() {
        leases = leases == null ? FileLeases.now() : leases;
        return leases;
    }
}
