package org.udckpt.process.files;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.linux.Syscall;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.MemorySource;

/**
 * Compares the files on disk with those of the checkpoint, and writes those that differ: beside them, so that nothing
 * has changed yet.
 */
final class RegularFiles {
    /** What tells a file on disk from the checkpoint's. */
    enum Difference {
        NONE, ATTRIBUTES, CONTENT
    }

    private final String checkpoint;
    private final Folders folders;
    private final Changes changes;
    private final ExecutorService workers;
    private final Map<Long, MemorySource> contents = new HashMap<>();
    /** Files that differ in their attributes at most. */
    private final Map<JobFile.RegularFile, Folders.Place> same = new HashMap<>();
    private final Map<String, Files.Stat> stats = new HashMap<>();
    private long fresh;

    /** @param changes gets a step for each that differs */
    RegularFiles(String checkpoint, List<MemorySource> memory, Folders folders, Changes changes,
            ExecutorService workers) {
        this.checkpoint = checkpoint;
        this.folders = folders;
        this.changes = changes;
        this.workers = workers;
        memory.stream().filter(source -> !source.process()).forEach(source -> contents.put(source.id(), source));
    }

    /** @throws FilesChanged something else is in its place */
    void prepare(JobFile.RegularFile file) {
        Folders.Place place = folders.place(file.path());
        SavedContent content = new SavedContent(contents.get(file.id()), file.size(), file.path());
        Files.Stat now = place.stat();
        switch (difference(file, place, now, content)) {
            case NONE -> stats.put(file.path(), now);
            case ATTRIBUTES -> {
                same.put(file, place);
                stats.put(file.path(), now);
            }
            case CONTENT -> changes.add(written(file, place, content),
                    RolledBack.from(place.stat(), file.path(), file.size(), file.modifiedNs()));
        }
    }

    /**
     * @param place where it should be.
     * @param now what is there; null: nothing.
     * @throws FilesChanged something else is there
     */
    static Difference difference(JobFile.RegularFile file, Folders.Place place, Files.Stat now, SavedContent content) {
        if (now != null && now.type() != Files.Stat.REGULAR) {
            throw new FilesChanged(file.path() + " was a file at the checkpoint and is now "
                    + (now.type() == Files.Stat.DIRECTORY ? "a directory" : "something else") + "; move it away");
        }
        if (now != null && isThe(file, now)) {
            return Difference.NONE;
        }
        return now != null && now.size() == file.size() && isIn(content, place, now) ? Difference.ATTRIBUTES
                : Difference.CONTENT;
    }

    /** The file that is, or is to be, at each path. */
    Map<String, Files.Stat> stats() {
        return stats;
    }

    /** With the content of the checkpoint already. */
    Map<JobFile.RegularFile, Folders.Place> same() {
        return same;
    }

    /** Whether the file is unchanged: neither written to nor given another mode. */
    private static boolean isThe(JobFile.RegularFile file, Files.Stat now) {
        return file.changedNs() != 0 && now.device() == file.device() && now.inode() == file.inode()
                && now.size() == file.size() && now.modified() == file.modifiedNs()
                && now.changed() == file.changedNs() && file.cut() != JobFile.Cut.APPENDED
                && file.cut() != JobFile.Cut.GROWN;
    }

    private static boolean isIn(SavedContent content, Folders.Place place, Files.Stat now) {
        long opened = place.folder().tryOpenFile(place.name(), Syscall.O_RDONLY);
        if (opened < 0) {
            return false; // it cannot be read: it is put aside, which the directory permits or not
        }
        try {
            return Files.stat((int) opened).isSame(now) && content.isIn((int) opened);
        } finally {
            Files.close((int) opened);
        }
    }

    private Step written(JobFile.RegularFile file, Folders.Place place, SavedContent content) {
        String name = null;
        long fd = place.folder().tryNameless();
        if (fd == -LinuxError.EOPNOTSUPP || fd == -LinuxError.EISDIR || fd == -LinuxError.ENOENT) {
            // no O_TMPFILE there (open(2))
            do {
                name = KeptName.fresh(++fresh);
                fd = place.folder().tryOpenFile(name, Syscall.O_RDWR | Syscall.O_CREAT | Syscall.O_EXCL);
            } while (fd == -LinuxError.EEXIST); // of a restart that was killed
        }
        int opened = (int) LinuxError.check(fd, "make a file beside " + file.path() + ", to put it back");
        Step step = new Step.PutFile(place, checkpoint, opened, name);
        try {
            content.writeTo(opened, workers);
            FileAttributes.set(opened, file.path(), file.uid(), file.gid(), file.mode(), file.modifiedNs());
            stats.put(file.path(), Files.stat(opened));
            return step;
        } catch (RuntimeException e) {
            step.discard();
            throw e;
        }
    }
}
