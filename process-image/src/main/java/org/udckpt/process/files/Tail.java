package org.udckpt.process.files;

import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;

/** What a file has beyond the length that it is about to be cut back to: kept beside it. */
final class Tail {
    private final Folders.Place place;
    private int copy;
    private final String checkpoint;
    private final long whole;
    private String kept;

    /** @param whole length of the file with it */
    private Tail(Folders.Place place, int copy, String checkpoint, long whole) {
        this.whole = whole;
        this.place = place;
        this.copy = copy;
        this.checkpoint = checkpoint;
    }

    /** @param nameless a new file of the same directory, taken over */
    static Tail copy(Folders.Place place, int nameless, String checkpoint, long from, long to) {
        int file = (int) place.folder().tryOpenFile(place.name(), Syscall.O_RDONLY);
        if (file < 0) {
            Files.close(nameless);
            throw new FilesChanged(place.path() + " has grown since the checkpoint, and its new end cannot be read "
                    + "to be kept: " + LinuxError.name(-file)
                    + "; permit reading, move the file away, or discard the new end with --replaced-files discard");
        }
        try {
            LinuxError.check(Syscall.call(Syscall.LSEEK, file, from, 0), "lseek in " + place.path());
            for (long left = to - from; left > 0;) {
                long n = LinuxError.check(Syscall.call(Syscall.SENDFILE, nameless, file, 0, left),
                        "copy of what was appended to " + place.path());
                if (n == 0) {
                    break;
                }
                left -= n;
            }
            Files.Stat stat = Files.stat(file);
            FileAttributes.set(nameless, place.path(), stat.uid(), stat.gid(), stat.mode(), stat.modified());
        } finally {
            Files.close(file);
        }
        return new Tail(place, nameless, checkpoint, to);
    }

    void keep() {
        for (int n = 1; kept == null; n++) {
            String name = KeptName.of(place.name(), checkpoint, n);
            if (place.folder().stat(name) == null) {
                place.folder().link(copy, name);
                kept = name;
            }
        }
        close(); // the job may watch the directory
    }

    String path() {
        return kept == null ? null : place.folder().below(kept);
    }

    /** Where the file has been cut back already, this is all that there is of its end: then it stays. */
    void undo() {
        if (kept == null) {
            return;
        }
        Files.Stat now = place.stat();
        if (now == null || now.size() < whole) {
            throw new FilesChanged(place.path() + " was truncated to its length at the checkpoint; its former end is "
                    + "in " + path());
        }
        place.folder().unlink(kept);
        kept = null;
    }

    void close() {
        if (copy >= 0) {
            Files.close(copy);
            copy = -1;
        }
    }
}
