package org.udckpt.process.files;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.udckpt.linux.Files;
import org.udckpt.linux.LinuxError;
import org.udckpt.process.model.JobFile;
import org.udckpt.process.model.JobImage;
import org.udckpt.process.model.MemorySource;
import org.udckpt.process.model.OpenFile;
import org.udckpt.process.names.OwnDirectories;

/**
 * Puts a job's files back to what they were at the checkpoint, before its processes open them again. {@link #prepare}
 * writes all new content beside the old and changes no name; {@link #swap} changes names only; {@link #commit} when the
 * job runs. Closing without a commit takes everything back. A file that already is what it was is not touched.
 */
public final class Rollback implements AutoCloseable {
    private static final int WRITERS = 4;

    private final RollbackRequest request;
    private final Folders folders;
    private final Changes changes = new Changes();
    private final AttributeChanges attributes;
    private final List<JobFile.HardLink> hardLinks = new ArrayList<>();
    private final List<JobFile.Directory> directories = new ArrayList<>();
    private RegularFiles regular;
    private boolean committed;

    private Rollback(JobImage image, RollbackRequest request) {
        this.request = request;
        this.folders = new Folders(request.root(), new OwnDirectories(image));
        this.attributes = new AttributeChanges(folders);
    }

    /**
     * Checks all files, and writes those that differ, under names of their own.
     *
     * @throws FilesChanged when something stands in the way
     * @throws LinuxError naming the file; ENOSPC: there is no room for both
     */
    public static Rollback prepare(JobImage image, List<MemorySource> memory, RollbackRequest request) {
        Rollback rollback = new Rollback(image, request);
        ExecutorService workers = Executors.newFixedThreadPool(WRITERS,
                Thread.ofPlatform().daemon().name("udckpt-restore-files-", 0).factory());
        try {
            rollback.regular =
                    new RegularFiles(request.checkpoint(), memory, rollback.folders, rollback.changes, workers);
            FileWriters.refuse(image, request, rollback.folders);
            ImageFiles.visit(image, request, rollback.new Preparing());
            return rollback;
        } catch (RuntimeException | Error e) {
            rollback.close(e);
            throw e;
        } finally {
            workers.shutdown();
        }
    }

    /** The part that is done before any name is changed. */
    private final class Preparing implements ImageFiles.Visitor {
        @Override
        public void directory(JobFile.Directory directory) {
            if (folders.ensure(directory.path())) {
                changes.tell(RolledBack.from(null, directory.path(), 0, directory.modifiedNs()));
            }
            directories.add(directory);
        }

        @Override
        public void regular(JobFile.RegularFile file) {
            regular.prepare(file);
        }

        @Override
        public void symbolicLink(JobFile.SymbolicLink link) {
            Folders.Place place = folders.place(link.path());
            if (!isThere(link, place)) {
                changes.add(new Step.PutSymbolicLink(place, request.checkpoint(), link.target()),
                        RolledBack.from(place.stat(), link.path(), link.target().length(), 0));
            }
        }

        @Override
        public void hardLink(JobFile.HardLink link) {
            hardLinks.add(link);
        }

        @Override
        public void tail(OpenFile file) {
            Folders.Place place = folders.place(file.path());
            Files.Stat now = place.stat();
            if (!isLonger(now, file)) {
                return;
            }
            RolledBack report = new RolledBack(file.path(), RolledBack.What.CUT, now.size(), now.modified(),
                    file.size(), file.modifiedNs(), null);
            if (request.keep()) {
                int copy = (int) LinuxError.check(place.folder().tryNameless(),
                        "make a file beside " + file.path() + ", for what is cut off");
                changes.add(Tail.copy(place, copy, request.checkpoint(), file.size(), now.size()), report);
            } else {
                changes.tell(report);
            }
        }

        @Override
        public void madeSince(String path, Files.Stat stat) {
            changes.add(new Step.PutAside(folders.place(path), request.checkpoint()),
                    new RolledBack(path, RolledBack.What.MADE_SINCE, stat.size(), stat.modified(), 0, 0, null));
        }
    }

    static boolean isThere(JobFile.SymbolicLink link, Folders.Place place) {
        Files.Stat now = place.stat();
        return now != null && now.type() == Files.Stat.LINK
                && place.folder().readLink(place.name()).equals(link.target());
    }

    /** @param now null: it is not there */
    static boolean isLonger(Files.Stat now, OpenFile file) {
        return now != null && now.type() == Files.Stat.REGULAR && now.size() > file.size();
    }

    /** Gives the files their names. When it throws, all names are what they were. */
    public void swap() {
        try {
            changes.swap();
            hardLinks.forEach(this::relink);
            changes.keepTails();
            regular.same().forEach(attributes::set);
            directories.reversed().forEach(attributes::set);
        } catch (RuntimeException e) {
            undo(e);
            throw e;
        }
    }

    private void relink(JobFile.HardLink link) {
        Folders.Place place = folders.place(link.path());
        Folders.Place of = folders.place(link.of());
        Files.Stat now = place.stat();
        Files.Stat wanted = of.stat();
        if (wanted == null) {
            throw new FilesChanged(link.of() + " is missing, which " + link.path() + " was a hard link to");
        }
        if (now == null || now.inode() != wanted.inode() || now.device() != wanted.device()) {
            changes.addDone(new Step.PutHardLink(place, request.checkpoint(), of),
                    RolledBack.from(now, link.path(), wanted.size(), wanted.modified()));
        }
    }

    /**
     * The file at the path of each regular file after {@link #swap}. A later open compares with it, to see whether the
     * file was exchanged.
     */
    public Map<String, Files.Stat> stats() {
        Map<String, Files.Stat> stats = new HashMap<>(regular.stats());
        hardLinks.forEach(link -> stats.put(link.path(), stats.get(link.of())));
        return stats;
    }

    /**
     * The job runs, and nothing that goes wrong here is its end: see {@link #leftovers}. What was put aside and is not
     * to be kept is removed.
     */
    public void commit() {
        committed = true;
        changes.commit(request.keep());
        changes.attemptToo(folders::narrow, "a directory that was made again");
        if (!request.keep()) {
            directories.reversed()
                    .forEach(directory -> changes.attemptToo(() -> attributes.set(directory), directory.path()));
        }
    }

    /** What could not be cleaned up by {@link #commit}, and why. */
    public List<String> leftovers() {
        return changes.leftovers();
    }

    /** What was done, after {@link #commit}: nothing about files that were what they had been. */
    public List<RolledBack> report() {
        return changes.done();
    }

    private void undo(Throwable cause) {
        // first of all: a directory that the checkpoint has without the right to write takes no names back
        attributes.undo(cause);
        changes.undo(cause);
        attributes.undo(cause); // names that came and went have changed the times
        attributes.forget();
    }

    private void close(Throwable cause) {
        if (!committed) {
            undo(cause);
        }
        changes.discard(cause);
        if (!committed) {
            Changes.attempt(folders::undo, cause);
        }
        folders.close();
    }

    @Override
    public void close() {
        IllegalStateException trouble = new IllegalStateException("files could not be put as they were");
        close(trouble);
        if (trouble.getSuppressed().length > 0) {
            throw new FilesChanged("after the failed restart, not all files could be renamed back: "
                    + trouble.getSuppressed()[0].getMessage());
        }
    }
}
