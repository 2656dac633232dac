package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.List;
import org.udckpt.linux.Files;
import org.udckpt.linux.Folder;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;

/** Modes, owners and times of what is there already, if they differ and are ours to set; and what they were. */
final class AttributeChanges {
    private final Folders folders;
    private final List<Runnable> old = new ArrayList<>();

    AttributeChanges(Folders folders) {
        this.folders = folders;
    }

    /** A file with the content of the checkpoint. */
    void set(JobFile.RegularFile file, Folders.Place place) {
        Files.Stat now = place.stat();
        boolean same =
                file.modifiedNs() == 0 || now.modified() == file.modifiedNs() && (now.mode() & 07777) == file.mode();
        if (!same && isOurs(now)) {
            old.add(() -> set(place, now.uid(), now.gid(), now.mode(), now.modified()));
            set(place, file.uid(), file.gid(), file.mode(), file.modifiedNs());
        }
    }

    private static void set(Folders.Place place, int uid, int gid, int mode, long modifiedNs) {
        int opened = place.folder().openFile(place.name(), Syscall.O_RDONLY);
        try {
            FileAttributes.set(opened, place.path(), uid, gid, mode, modifiedNs);
        } finally {
            Files.close(opened);
        }
    }

    void set(JobFile.Directory directory) {
        Folder folder = folders.of(directory.path());
        Files.Stat now = folder.stat();
        boolean same = now.modified() == directory.modifiedNs() && (now.mode() & 07777) == directory.mode();
        if (!same && isOurs(now)) {
            old.add(() -> FileAttributes.set(folder, now.uid(), now.gid(), now.mode(), now.modified()));
            FileAttributes.set(folder, directory.uid(), directory.gid(), directory.mode(), directory.modifiedNs());
        }
    }

    private static boolean isOurs(Files.Stat now) {
        long user = Syscall.call(Syscall.GETEUID);
        return user == 0 || now.uid() == user;
    }

    /** Failures are added to {@code cause}. */
    void undo(Throwable cause) {
        old.reversed().forEach(attributes -> Changes.attempt(attributes, cause));
    }

    /** They have been undone for good. */
    void forget() {
        old.clear();
    }
}
